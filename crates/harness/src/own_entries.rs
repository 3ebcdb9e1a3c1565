//! Recognition of hooks that this program wrote, with any copy of it. A hook that does anything else belongs to the user, even
//! if it calls this program.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::json_edit;
use super::line::{MARK, line, older, plugin, script};
use super::rewrite::unquoted;
use super::table::TIMEOUT;
use super::{Event, Harness, Moment, OwnFile, OwnForm, SettingsFile};

/// Origin of an entry in a list of hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    /// Written by this version, for the copy of the program at this path.
    Ours(String),
    /// Written by an earlier version.
    Older,
    /// Something else: this member differs from what would be written.
    Other(String),
}

/// Stockade's entries in a list of hooks.
pub(super) fn element(settings: &SettingsFile, line: &str, moment: Moment) -> Value {
    let mut hook = Map::new();
    for (name, value) in settings.more {
        // A hook at the start of a session must not stop it.
        if *name != "onFailure" || moment != Moment::Start {
            hook.insert((*name).to_owned(), json!(value));
        }
    }
    hook.insert("command".to_owned(), json!(line));
    if let Some(unit) = settings.timeout {
        hook.insert("timeout".to_owned(), json!(TIMEOUT * unit));
    }
    for flag in settings.flags {
        hook.insert((*flag).to_owned(), json!(true));
    }
    match (settings.groups, moment) {
        (true, Moment::Start) => json!({"hooks": [hook]}),
        (true, _) => json!({"matcher": settings.matcher, "hooks": [hook]}),
        (false, _) => Value::Object(hook),
    }
}

/// Returns the entries of a list that call this program, each separately.
pub(super) fn entries(list: Option<&Value>) -> Vec<Value> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    items
        .flat_map(|item| match item.get("hooks").and_then(Value::as_array) {
            Some(hooks) => hooks.iter().map(|hook| alone(item, hook)).collect(),
            None => vec![item.clone()],
        })
        .filter(|entry| names_stockade(&entry.to_string()))
        .collect()
}

/// Returns a hook as an entry: in its group, if it has one, without others.
pub(super) fn alone(item: &Value, hook: &Value) -> Value {
    let mut entry = item.clone();
    if let Some(hooks) = entry.get_mut("hooks") {
        *hooks = json!([hook]);
    }
    entry
}

/// Returns the hook of an entry, which may be a group of one.
pub(super) fn hook_of(entry: &Value) -> &Value {
    entry.get("hooks").and_then(|hooks| hooks.get(0)).unwrap_or(entry)
}

/// Returns the origin of a separate entry.
pub(super) fn entry(harness: &Harness, settings: &SettingsFile, moment: Moment, known: &Value) -> Entry {
    let command = hook_of(known).get("command").and_then(Value::as_str).unwrap_or_default();
    let program = program_of(command).unwrap_or_default();
    let line = line(harness, moment, &program);
    let wanted = element(settings, &line, moment);
    match difference(known, &wanted) {
        None => Entry::Ours(program),
        Some(_) if *known == element(settings, &older(&line), moment) => Entry::Older,
        Some(member) => Entry::Other(member),
    }
}

/// Returns the first member that differs.
fn difference(known: &Value, wanted: &Value) -> Option<String> {
    let inner = match (known, wanted) {
        _ if known == wanted => return None,
        (Value::Object(known), Value::Object(wanted)) => {
            let name =
                known.keys().chain(wanted.keys()).find(|name| known.get(*name) != wanted.get(*name))?;
            let deeper = known.get(name).zip(wanted.get(name));
            let deeper = deeper.and_then(|(known, wanted)| difference(known, wanted)).unwrap_or_default();
            format!("{name}.{deeper}")
        }
        (Value::Array(known), Value::Array(wanted)) if known.len() == wanted.len() => {
            known.iter().zip(wanted).find_map(|(known, wanted)| difference(known, wanted))?
        }
        _ => String::new(),
    };
    Some(inner.trim_end_matches('.').to_owned())
}

/// Whether a hook only does what this program writes, whatever members were added: its line is a current or earlier one for any
/// moment.
pub(super) fn is_ours(harness: &Harness, hook: &Value) -> bool {
    let command = ["command", "bash"].iter().find_map(|name| hook.get(name)?.as_str());
    command.is_some_and(|command| is_line(harness, command))
}

fn is_line(harness: &Harness, text: &str) -> bool {
    let Some(program) = program_of(text) else { return false };
    let lines = [Moment::Start, Moment::Before, Moment::After].map(|moment| line(harness, moment, &program));
    lines.iter().any(|line| text == line || text == older(line)) || is_call(text)
}

/// Whether a line only calls Stockade's hook.
fn is_call(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " _-".contains(c);
    program_of(text).is_some_and(|program| names_stockade(&program))
        && !text.starts_with(OPENING)
        && text.split_once(CALL).is_some_and(|(_, rest)| rest.chars().all(is_plain))
}

/// Start of a line that checks this program's output.
const OPENING: &str = "o=$(";
/// What follows the program in each of Stockade's lines.
const CALL: &str = " hook --harness ";

/// Returns the program that one of Stockade's lines calls: the word before its call.
fn program_of(text: &str) -> Option<String> {
    let (head, _) = text.split_once(CALL)?;
    let quoted = head.strip_prefix(OPENING).unwrap_or(head);
    let program = unquoted(quoted)?;
    (stockade_guard::command::shell::quote(&program) == quoted).then_some(program)
}

/// Returns the content of a hooks file.
pub(super) fn own_text(harness: &Harness, own: OwnFile, program: &str) -> String {
    match own.form {
        OwnForm::Script => script(harness, program),
        OwnForm::Plugin(text) => plugin(harness, text, program),
        OwnForm::Triggers => {
            let hook = |event: &Event| trigger(event, &line(harness, event.moment, program));
            let hooks: Vec<Value> = harness.events.iter().map(hook).collect();
            json_edit::new_text(&json!({"version": "v1", "hooks": hooks}))
        }
        form => {
            let hooks = harness.events.iter().map(|event| {
                (event.name.to_owned(), json!([own_hook(form, event, &line(harness, event.moment, program))]))
            });
            let mut file = Map::new();
            if form == OwnForm::Json {
                file.insert("version".to_owned(), json!(1));
            }
            file.insert("hooks".to_owned(), Value::Object(hooks.collect()));
            json_edit::new_text(&Value::Object(file))
        }
    }
}

/// Returns a hook of a JSON file with a list for each event.
fn own_hook(form: OwnForm, event: &Event, line: &str) -> Value {
    match (form, event.moment) {
        (OwnForm::Json, _) => json!({"type": "command", "bash": line, "timeoutSec": TIMEOUT}),
        (OwnForm::Groups, Moment::Before) => json!({"matcher": ".*", "hooks": [
            {"type": "command", "command": line, "timeout": TIMEOUT, "on_failure": "block"}
        ]}),
        (OwnForm::Groups, _) => json!({"hooks": [{"type": "command", "command": line, "timeout": TIMEOUT}]}),
        _ => json!({"type": "command", "command": line, "timeout": TIMEOUT}),
    }
}

/// Returns a hook of a JSON file with one list.
fn trigger(event: &Event, line: &str) -> Value {
    json!({
        "name": "stockade", "trigger": event.name, "matcher": ".*",
        "action": {"type": "command", "command": line}, "timeout": TIMEOUT, "enabled": true
    })
}

/// Whether this program wrote a file, so that it may replace or remove it: by its header, or, in formats without comments, by
/// its whole content.
pub(super) fn is_own_file(harness: &Harness, own: OwnFile, text: &str) -> bool {
    let is_mark = |line: &str| line.trim_start_matches(['#', '/', ' ']).starts_with(MARK);
    if own.form.is_json() {
        return json_entry(harness, own, text).is_some();
    }
    text.lines().take(2).any(is_mark)
}

/// Returns the origin of a hooks file; `None` if no version writes it.
pub(super) fn own_file(harness: &Harness, own: OwnFile, text: &str) -> Option<Entry> {
    let program = match own.form {
        OwnForm::Script => text.lines().find_map(program_of)?,
        OwnForm::Plugin(_) => {
            let written = text.lines().find_map(|line| line.strip_prefix("const PROGRAM = "))?;
            serde_json::from_str(written).ok()?
        }
        _ => return json_entry(harness, own, text),
    };
    let wanted = own_text(harness, own, &program);
    match text {
        _ if text == wanted => Some(Entry::Ours(program)),
        _ if text == older(&wanted) => Some(Entry::Older),
        _ => None,
    }
}

/// The same for a JSON file in any formatting.
fn json_entry(harness: &Harness, own: OwnFile, text: &str) -> Option<Entry> {
    let known = json_edit::read(text).ok()?;
    let program = lines(&known).find_map(program_of)?;
    let wanted = own_text(harness, own, &program);
    let is_it = |wanted: &str| json_edit::read(wanted).is_ok_and(|wanted| wanted == known);
    if is_it(&wanted) {
        return Some(Entry::Ours(program));
    }
    is_it(&older(&wanted)).then_some(Entry::Older)
}

/// Returns the lines in a JSON document, by the names that they have in hooks files.
fn lines(known: &Value) -> Box<dyn Iterator<Item = &str> + '_> {
    match known {
        Value::Object(members) => Box::new(members.iter().flat_map(|(name, value)| {
            let line = value.as_str().filter(|_| ["bash", "command"].contains(&name.as_str()));
            line.into_iter().chain(lines(value))
        })),
        Value::Array(items) => Box::new(items.iter().flat_map(lines)),
        _ => Box::new(std::iter::empty()),
    }
}

/// Whether a word of a text is the program, at any path.
pub(super) fn names_stockade(text: &str) -> bool {
    let is_end = |c: char| c.is_whitespace() || "\"'`;|&()\\".contains(c);
    text.split(is_end).any(|word| Path::new(word).file_name().is_some_and(|name| name == "stockade"))
}
