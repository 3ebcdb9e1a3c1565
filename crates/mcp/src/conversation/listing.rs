//! Tool lists: listed tools may be called, and tools that may not be called are not listed.

use std::collections::HashMap;

use stockade_text::{Node, Value};

use super::{Asked, Conversation, Definition, Judge, Looked, MAX_TOOLS, Offer, Pinned, tool_name, undecided};
use crate::edit::{Bytes, get_mut, set};
use crate::written::written;

/// Members that a list may have beside its tools.
const MEMBERS: &[&str] = &["_meta", "cacheScope", "nextCursor", "resultType", "tools", "ttlMs"];

/// Schema keywords that refer to another document.
const REFERENCES: &[&str] = &["$ref", "$dynamicRef", "$recursiveRef", "$schema"];

impl<J: Judge> Conversation<J> {
    pub(super) fn listing(&mut self, asked: &Asked, result: &mut Value) -> Result<(), String> {
        let Some(Value::List(tools)) = get_mut(result, "tools") else {
            return Err("stockade: the response has no list of tools".to_owned());
        };
        let tools = std::mem::take(tools);
        // The first page: results for an earlier list are obsolete.
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
        let mut unlisted = Vec::new();
        for (name, tool, offer) in self.decided(tools)? {
            if let Offer::Withheld(rule, why) = &offer {
                if *rule == NOT_GRANTED {
                    unlisted.push(name.clone());
                } else {
                    let said = self.turn_away(&name, rule, why);
                    self.tell(said);
                }
            }
            self.note_offer(&name, offer);
            if self.tools.get(&name) == Some(&Offer::Offered) {
                kept.push(tool);
            }
        }
        if !unlisted.is_empty() {
            self.tell(format!(
                "{} tool(s) removed because the agent does not have them: {}; to allow them, add them to \
                 `toolPolicy.allow`",
                unlisted.len(),
                unlisted.join(", ")
            ));
        }
        set(result, "tools", Value::List(kept));
        if let Value::Table(members) = result {
            members.retain(|member| MEMBERS.contains(&member.key.as_str()));
        }
        self.private(result);
        // Each tool was scanned separately.
        let mut rest = result.clone();
        set(&mut rest, "tools", Value::Nothing);
        self.plain("tools/list", &mut rest)
    }

    /// Checks each tool. All are compared with their pins at once, since each change of the pins writes a file.
    fn decided(&mut self, tools: Vec<Node>) -> Result<Vec<(String, Node, Offer)>, String> {
        let mut count: HashMap<String, usize> = HashMap::new();
        let mut named = Vec::new();
        for tool in tools {
            let Some(name) = tool_name(&tool.value).map(str::to_owned) else {
                self.tell("a tool was removed: its name is not 1 to 128 letters, digits, `_`, `-` and `.`");
                continue;
            };
            let times = count.entry(name.clone()).or_default();
            *times += 1;
            if *times == 1 {
                named.push((name, tool));
            }
        }
        let mut definitions = Vec::new();
        let mut decided = Vec::new();
        for (name, mut tool) in named {
            let is_twice = count.get(&name).is_some_and(|count| *count > 1);
            let offer = match self.look_at(&name, &mut tool.value, is_twice) {
                Ok(definition) => {
                    definitions.push(definition);
                    Offer::Offered
                }
                Err(withheld) => withheld,
            };
            decided.push((name, tool, offer));
        }
        let pinned = self.judge.pin(&definitions).map_err(|why| undecided(&why))?;
        if pinned.len() != definitions.len() {
            return Err(undecided("some definitions were not compared with their first version"));
        }
        let offered = decided.iter_mut().filter(|(_, _, offer)| *offer == Offer::Offered);
        for ((_, _, offer), pinned) in offered.zip(pinned) {
            if let Pinned::Changed(why) = pinned {
                *offer = Offer::Withheld("changed", why);
            }
        }
        Ok(decided)
    }

    /// Checks one tool, and returns its definition or why it is omitted.
    fn look_at(&mut self, name: &str, tool: &mut Value, is_twice: bool) -> Result<Definition, Offer> {
        match self.judge.offers(name) {
            Ok(true) => {}
            Ok(false) => {
                return Err(Offer::Withheld(NOT_GRANTED, "the agent does not have it".to_owned()));
            }
            Err(why) => return Err(Offer::Withheld(UNDECIDED, undecided(&why))),
        }
        if is_twice {
            return Err(Offer::Withheld("twice", "its server lists two tools of this name".to_owned()));
        }
        if leads_out(tool) {
            let why = "its schema refers to another document, which a client would have to load";
            return Err(Offer::Withheld("reference", why.to_owned()));
        }
        // The definition as received, since the cleaned text may stay the same when the original changes.
        let definition = Definition { tool: name.to_owned(), written: written(&sorted(tool)) };
        match self.judge.text(name, &tool.to_json()) {
            Ok(Looked::Fine) => Ok(definition),
            Ok(Looked::Cleaned { is_hostile: false, cleaned, .. }) => {
                Bytes::Text.put(tool, &cleaned);
                Ok(definition)
            }
            Ok(Looked::Cleaned { found: why, .. } | Looked::Withheld(why)) => {
                let why = format!("its definition could instruct a model: {why}");
                Err(Offer::Withheld("poisoned", why))
            }
            Err(why) => Err(Offer::Withheld(UNDECIDED, undecided(&why))),
        }
    }
}

/// Rule id of tools that the configuration does not allow.
pub(super) const NOT_GRANTED: &str = "not-granted";

/// Rule id if no decision was possible.
pub(super) const UNDECIDED: &str = "undecided";

/// Whether a schema refers to another document. Dialect identifiers are excepted.
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

/// Sorts members, since their order has no meaning.
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
