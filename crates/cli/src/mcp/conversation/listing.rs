//! The list of tools: what is in it may be called, and what must not be called is not in it.

use stockade_text::{Node, Value};

use super::{Asked, Conversation, Judge, Looked, MAX_TOOLS, Offer, Pinned, tool_name, undecided};
use crate::mcp::edit::{get_mut, put, readable, set, text_of};
use crate::mcp::written::written;

/// What a list may have beside its tools.
const MEMBERS: &[&str] = &["_meta", "cacheScope", "nextCursor", "resultType", "tools", "ttlMs"];

/// What leads out of a schema.
const REFERENCES: &[&str] = &["$ref", "$dynamicRef", "$recursiveRef", "$schema"];

impl<J: Judge> Conversation<J> {
    pub(super) fn listing(&mut self, asked: &Asked, result: &mut Value) -> Result<(), String> {
        let Some(Value::List(tools)) = get_mut(result, "tools") else {
            return Err("stockade: the answer has no list of tools".to_owned());
        };
        let tools = std::mem::take(tools);
        // A list begins: what became of tools in an earlier one is over.
        if asked.is_first_page {
            self.tools.clear();
        }
        let is_new = |tool: &&Node| tool_name(&tool.value).is_none_or(|name| !self.tools.contains_key(name));
        if tools.len() > MAX_TOOLS
            || tools.iter().filter(is_new).count().saturating_add(self.tools.len()) > MAX_TOOLS
        {
            return Err(format!("stockade: the server has more than {MAX_TOOLS} tools"));
        }
        let mut kept: Vec<Node> = Vec::new();
        let (mut unlisted, mut withheld) = (Vec::new(), Vec::new());
        for mut tool in tools {
            let Some(name) = tool_name(&tool.value).map(str::to_owned) else {
                self.tell(
                    "a tool was left out: it has no name of 1 to 128 letters, digits, `_`, `-` and `.`",
                );
                continue;
            };
            let is_twice = kept.iter().any(|one| text_of(&one.value, "name") == Some(&name));
            match self.offer(&name, &mut tool.value, is_twice) {
                Offer::Offered => {
                    self.note_offer(&name, Offer::Offered);
                    if self.tools.get(&name) == Some(&Offer::Offered) {
                        kept.push(tool);
                    }
                }
                offer @ Offer::Withheld(rule, _) => {
                    if rule == NOT_GRANTED { &mut unlisted } else { &mut withheld }.push(name.clone());
                    kept.retain(|one| text_of(&one.value, "name") != Some(&name));
                    if let Offer::Withheld(_, why) = &offer
                        && rule != NOT_GRANTED
                    {
                        let said = self.turn_away(&name, rule, why);
                        self.tell(said);
                    }
                    self.note_offer(&name, offer);
                }
            }
        }
        if !unlisted.is_empty() {
            self.tell(format!(
                "{} tool(s) are left out, since the agent does not have them: {}; `toolPolicy.allow` of its configuration adds them",
                unlisted.len(),
                unlisted.join(", ")
            ));
        }
        set(result, "tools", Value::List(kept));
        if let Value::Table(members) = result {
            members.retain(|member| MEMBERS.contains(&member.key.as_str()));
        }
        self.private(result);
        // Each tool was looked at by itself.
        let mut rest = result.clone();
        set(&mut rest, "tools", Value::Nothing);
        self.plain("tools/list", &mut rest)
    }

    /// What becomes of one tool.
    fn offer(&mut self, name: &str, tool: &mut Value, is_twice: bool) -> Offer {
        if is_twice {
            return Offer::Withheld("twice", "its server lists two tools of this name".to_owned());
        }
        match self.judge.offers(name) {
            Ok(true) => {}
            Ok(false) => return Offer::Withheld(NOT_GRANTED, "the agent does not have it".to_owned()),
            Err(why) => return Offer::Withheld(UNDECIDED, undecided(&why)),
        }
        if leads_out(tool) {
            let why = "its schema refers to another document, which whoever follows it would have to load";
            return Offer::Withheld("reference", why.to_owned());
        }
        // As it came: what a cleaned one was made of may change without it.
        let definition = written(&sorted(tool));
        match self.judge.text(name, &readable(tool)) {
            Ok(Looked::Fine) => {}
            Ok(Looked::Cleaned { is_hostile: false, cleaned, .. }) => put(tool, &cleaned),
            Ok(Looked::Cleaned { found: why, .. } | Looked::Withheld(why)) => {
                return Offer::Withheld("poisoned", format!("its definition could instruct a model: {why}"));
            }
            Err(why) => return Offer::Withheld(UNDECIDED, undecided(&why)),
        }
        match self.judge.pin(name, &definition) {
            Ok(Pinned::Same) => Offer::Offered,
            Ok(Pinned::Changed(why)) => Offer::Withheld("changed", why),
            Err(why) => Offer::Withheld(UNDECIDED, undecided(&why)),
        }
    }
}

/// The rule by which the configuration leaves a tool out.
pub(super) const NOT_GRANTED: &str = "not-granted";

/// The rule where nothing could be decided.
pub(super) const UNDECIDED: &str = "undecided";

/// Whether a schema refers to something outside of it. Those who name a dialect of schemas mean nothing else by it.
fn leads_out(value: &Value) -> bool {
    match value {
        Value::List(items) => items.iter().any(|item| leads_out(&item.value)),
        Value::Table(members) => members.iter().any(|member| match &member.node.value {
            Value::Text(to) if REFERENCES.contains(&member.key.as_str()) => {
                let is_dialect = member.key == "$schema" && DIALECTS.contains(&to.trim_end_matches('#'));
                !to.starts_with('#') && !is_dialect
            }
            inner => leads_out(inner),
        }),
        _ => false,
    }
}

const DIALECTS: &[&str] = &[
    "http://json-schema.org/draft-04/schema",
    "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
];

/// The same with its members in one order, since theirs means nothing.
fn sorted(value: &Value) -> Value {
    match value {
        Value::List(items) => Value::List(
            items.iter().map(|item| Node { value: sorted(&item.value), ..item.clone() }).collect(),
        ),
        Value::Table(members) => {
            let mut members = members.clone();
            members.sort_by(|one, other| one.key.cmp(&other.key));
            for member in &mut members {
                member.node.value = sorted(&member.node.value);
            }
            Value::Table(members)
        }
        plain => plain.clone(),
    }
}
