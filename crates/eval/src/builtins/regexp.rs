//! `RegExp`, and the functions of strings that use it.

use std::rc::Rc;

use super::{Method, argument, method_row};
use crate::machine::{Key, Machine, Run, Stop};
use crate::regex::{Found, Groups, SearchLimits};
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

/// `RegExp(…)`: an existing expression without new flags is returned as is.
pub(super) fn call(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    match (argument(arguments, 0), argument(arguments, 1)) {
        (regex, Value::Undefined) if as_regex(machine, regex).is_some() => Ok(regex.clone()),
        _ => make(machine, this, arguments),
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
    let regex = machine.compile(&source, &flags)?;
    // Flags are listed in alphabetical order, whatever their order was.
    let flags: String = "gimsuy".chars().filter(|flag| flags.contains(*flag)).collect();
    machine.new_regex(written(&source), flags.into(), regex)
}

/// Returns a source as written between slashes.
fn written(source: &Rc<str>) -> Rc<str> {
    if source.is_empty() {
        return "(?:)".into();
    }
    if !source.contains(['/', '\n', '\r', '\u{2028}', '\u{2029}']) {
        return Rc::clone(source);
    }
    let (mut out, mut is_escaped, mut in_class) = (String::with_capacity(source.len() + 4), false, false);
    for c in source.chars() {
        let line_end = match c {
            '\n' => "n",
            '\r' => "r",
            '\u{2028}' => "u2028",
            '\u{2029}' => "u2029",
            _ => "",
        };
        if !is_escaped && (!line_end.is_empty() || (c == '/' && !in_class)) {
            out.push('\\');
        }
        match c {
            '[' if !is_escaped => in_class = true,
            ']' if !is_escaped => in_class = false,
            _ => {}
        }
        is_escaped = c == '\\' && !is_escaped;
        if line_end.is_empty() {
            out.push(c);
        } else {
            out.push_str(line_end);
        }
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

/// The text as an expression sees it.
pub(super) fn view(machine: &mut Machine<'_>, regex: &RegexObject, text: &Text) -> Run<Text> {
    if regex.regex.sees_halves() { in_halves(machine, text) } else { Ok(text.clone()) }
}

/// The text with each character of two halves as two.
pub(super) fn in_halves(machine: &mut Machine<'_>, text: &Text) -> Run<Text> {
    machine.steps(text.as_str().len() / 64)?;
    machine.bytes(text.bytes_in_halves().unwrap_or(0))?;
    Ok(text.in_halves())
}

/// The first match at or after a byte. It costs as much as the expression is large and the text is long.
pub(super) fn find(
    machine: &mut Machine<'_>,
    regex: &RegexObject,
    text: &Text,
    start: usize,
) -> Run<Option<Groups>> {
    let length = text.as_str().len().saturating_sub(start) + 16;
    let counts_itself = regex.regex.counts_itself();
    if !counts_itself {
        // How much of a long text is read shows only afterwards, but the worst must be within the limit.
        machine.affords(length.saturating_mul(regex.regex.weight()) / 16)?;
    }
    let left = SearchLimits {
        max_steps: machine.steps_left(),
        max_bytes: machine.bytes_left(),
        deadline: machine.deadline(),
    };
    let found = regex.regex.find(text.as_str(), start, left);
    let Found { groups: found, steps } = found.map_err(|error| Stop::from(error.at(machine.here())))?;
    let read = match &found {
        _ if counts_itself => 0,
        Some(groups) => {
            groups.first().copied().flatten().map_or(0, |(_, end)| end.saturating_sub(start)) + 16
        }
        None => length,
    };
    machine.steps(steps + read.saturating_mul(regex.regex.weight()) / 16)?;
    machine.bytes(found.as_ref().map_or(0, |groups| size_of_val(groups.as_slice())))?;
    Ok(found)
}

/// Returns the first match for `match` and `replace`: a sticky expression continues at its last index.
pub(super) fn once(
    machine: &mut Machine<'_>,
    value: &Value,
    regex: &RegexObject,
    text: &Text,
) -> Run<Option<Groups>> {
    match value {
        Value::Object(id) if regex.keeps_its_place() => advance(machine, *id, regex, text),
        _ => find(machine, regex, text, 0),
    }
}

/// Resets the last index, as a search for all matches does.
pub(super) fn rewind(machine: &mut Machine<'_>, value: &Value) {
    if let Value::Object(id) = value
        && let Some(Content::Regex(regex)) = machine.content_mut(*id)
    {
        regex.last_index = Value::Number(0.0);
    }
}

/// Advances as `exec` does: from the last index, if the expression keeps one.
fn advance(machine: &mut Machine<'_>, id: ObjectId, regex: &RegexObject, text: &Text) -> Run<Option<Groups>> {
    let start = machine.integer_of(&regex.last_index)?.max(0.0);
    let start = if regex.keeps_its_place() { start as usize } else { 0 };
    let found = if start > text.units() { None } else { find(machine, regex, text, text.byte_at(start))? };
    // Without the flags `g` and `y` the last index is unchanged.
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
    let text = view(machine, &regex, &text)?;
    Ok(advance(machine, id, &regex, &text)?.is_some().into())
}

fn exec(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let (id, regex) = this_regex(machine, this)?;
    let text = machine.text_of(argument(arguments, 0))?;
    let seen = view(machine, &regex, &text)?;
    match advance(machine, id, &regex, &seen)? {
        Some(groups) => match_object(machine, &regex, (&text, &seen), &groups),
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

/// Returns the named groups, or `undefined` for an expression without any.
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

/// Returns the result of `exec` and `match`: the groups by number, with `index`, `input` and `groups`. The text is
/// passed both as given and as the expression sees it; all matches share the given one.
pub(super) fn match_object(
    machine: &mut Machine<'_>,
    regex: &RegexObject,
    (input, text): (&Text, &Text),
    groups: &Groups,
) -> Run {
    let texts = texts(machine, text, groups)?;
    let named = named(machine, regex, &texts)?;
    let start = groups.first().copied().flatten().map_or(0, |(start, _)| text.units_before(start));
    let list = machine.array(texts)?;
    machine.describe_match(&list, start, input, named)?;
    Ok(list)
}

fn to_string(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    let (_, regex) = this_regex(machine, this)?;
    machine.new_text(format!("/{}/{}", regex.source, regex.flags))
}
