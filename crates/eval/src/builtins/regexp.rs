//! `RegExp`, and what texts do with one.

use std::rc::Rc;

use super::{Method, argument, method_row};
use crate::machine::{Key, Machine, Run};
use crate::regex::Groups;
use crate::text::Text;
use crate::value::{Content, Fields, ObjectId, RegexObject, Value};

pub(super) static METHODS: &[Method] =
    &[method_row("exec", 1, exec), method_row("test", 1, test), method_row("toString", 0, to_string)];

/// The letters of the flags, as fields.
const FLAGS: &[(&str, char)] = &[
    ("dotAll", 's'),
    ("global", 'g'),
    ("ignoreCase", 'i'),
    ("multiline", 'm'),
    ("sticky", 'y'),
    ("unicode", 'u'),
];

impl RegexObject {
    /// Whether a flag is set, by its long name.
    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        FLAGS.iter().find(|(flag, _)| *flag == name).map(|(_, letter)| self.flags.contains(*letter))
    }

    pub(super) fn is_global(&self) -> bool {
        self.flags.contains('g')
    }

    fn keeps_its_place(&self) -> bool {
        self.flags.contains(['g', 'y'])
    }
}

pub(super) fn make(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let (pattern, flags) = (argument(arguments, 0), argument(arguments, 1));
    let (source, old_flags) = match as_regex(machine, pattern) {
        Some(regex) => (regex.source, regex.flags),
        None if matches!(pattern, Value::Undefined) => ("(?:)".into(), "".into()),
        None => (machine.text_of(pattern)?.shared(), "".into()),
    };
    let flags: Rc<str> =
        if matches!(flags, Value::Undefined) { old_flags } else { machine.text_of(flags)?.shared() };
    let source = written(&source);
    let regex = machine.compile(&source, &flags)?;
    machine.new_regex(source, flags, regex)
}

/// A source as it stands between slashes.
fn written(source: &Rc<str>) -> Rc<str> {
    if source.is_empty() {
        return "(?:)".into();
    }
    if !source.contains('/') {
        return Rc::clone(source);
    }
    let (mut out, mut is_escaped) = (String::with_capacity(source.len() + 4), false);
    for c in source.chars() {
        if c == '/' && !is_escaped {
            out.push('\\');
        }
        is_escaped = c == '\\' && !is_escaped;
        out.push(c);
    }
    out.into()
}

/// The regular expression that a value is.
pub(super) fn as_regex(machine: &Machine<'_>, value: &Value) -> Option<RegexObject> {
    let Value::Object(id) = value else { return None };
    match machine.content(*id) {
        Some(Content::Regex(regex)) => Some(regex.clone()),
        _ => None,
    }
}

fn this_regex(machine: &mut Machine<'_>, this: &Value) -> Run<(ObjectId, RegexObject)> {
    match (this, as_regex(machine, this)) {
        (Value::Object(id), Some(regex)) => Ok((*id, regex)),
        _ => Err(machine.type_error("this is no regular expression")),
    }
}

/// The first match at or after a byte. It costs as much as the expression is large and the text is long.
pub(super) fn find(
    machine: &mut Machine<'_>,
    regex: &RegexObject,
    text: &Text,
    start: usize,
) -> Run<Option<Groups>> {
    let length = text.as_str().len().saturating_sub(start) + 16;
    // How much of a long text is read shows only afterwards, but the worst must be within the limit.
    machine.affords(length.saturating_mul(regex.regex.weight()) / 16)?;
    let found = regex.regex.find(text.as_str(), start);
    let read = match &found {
        Some(groups) => {
            groups.first().copied().flatten().map_or(0, |(_, end)| end.saturating_sub(start)) + 16
        }
        None => length,
    };
    machine.steps(read.saturating_mul(regex.regex.weight()) / 16)?;
    machine.bytes(found.as_ref().map_or(0, |groups| groups.len() * 32))?;
    Ok(found)
}

/// As `exec` does: from where the expression stands, if it keeps its place.
fn advance(machine: &mut Machine<'_>, id: ObjectId, regex: &RegexObject, text: &Text) -> Run<Option<Groups>> {
    let start = machine.integer_of(&regex.last_index)?.max(0.0);
    let start = if regex.keeps_its_place() { start as usize } else { 0 };
    let found = if start > text.units() { None } else { find(machine, regex, text, text.byte_at(start))? };
    if regex.keeps_its_place() {
        let end = found.as_ref().and_then(|groups| groups.first().copied().flatten());
        let next = end.map_or(0, |(_, end)| text.units_before(end));
        machine.steps(text.as_str().len() / 64)?;
        if let Some(Content::Regex(regex)) = machine.content_mut(id) {
            regex.last_index = next.into();
        }
    }
    Ok(found)
}

fn test(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let (id, regex) = this_regex(machine, this)?;
    let text = machine.text_of(argument(arguments, 0))?;
    Ok(advance(machine, id, &regex, &text)?.is_some().into())
}

fn exec(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let (id, regex) = this_regex(machine, this)?;
    let text = machine.text_of(argument(arguments, 0))?;
    match advance(machine, id, &regex, &text)? {
        Some(groups) => match_object(machine, &regex, &text, &groups),
        None => Ok(Value::Null),
    }
}

/// The texts of the groups.
pub(super) fn texts(machine: &mut Machine<'_>, text: &Text, groups: &Groups) -> Run<Vec<Value>> {
    let mut texts = Vec::with_capacity(groups.len());
    for group in groups {
        let part = group.and_then(|(start, end)| text.as_str().get(start..end));
        machine.bytes(part.map_or(0, str::len))?;
        texts.push(part.map_or(Value::Undefined, Value::text));
    }
    Ok(texts)
}

/// The named groups, or `undefined` if there are none.
pub(super) fn named(machine: &mut Machine<'_>, regex: &RegexObject, texts: &[Value]) -> Run {
    let names: Vec<(Rc<str>, usize)> =
        regex.regex.names().enumerate().filter_map(|(at, name)| Some((name?.into(), at))).collect();
    if names.is_empty() {
        return Ok(Value::Undefined);
    }
    let groups = machine.plain(Fields::new())?;
    for (name, at) in names {
        machine.set(&groups, &Key::Name(name), texts.get(at).cloned().unwrap_or(Value::Undefined))?;
    }
    Ok(groups)
}

/// What `exec` and `match` return: the groups by number, and `index`, `input` and `groups` beside them.
pub(super) fn match_object(
    machine: &mut Machine<'_>,
    regex: &RegexObject,
    text: &Text,
    groups: &Groups,
) -> Run {
    let texts = texts(machine, text, groups)?;
    let named = named(machine, regex, &texts)?;
    let start = groups.first().copied().flatten().map_or(0, |(start, _)| text.units_before(start));
    let list = machine.array(texts)?;
    machine.describe_match(&list, start, text, named)?;
    Ok(list)
}

fn to_string(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    let (_, regex) = this_regex(machine, this)?;
    machine.new_text(format!("/{}/{}", regex.source, regex.flags))
}
