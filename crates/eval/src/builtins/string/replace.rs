//! `replace`, `split` and other functions that iterate over matches.

use super::super::argument;
use super::super::regexp::{as_regex, find, named, once, rewind, texts, view};
use super::this_text;
use crate::machine::{Machine, Run};
use crate::regex::Groups;
use crate::text::Text;
use crate::value::{RegexObject, Value};

/// How many matches are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    First,
    All,
}

/// The regular expression that an argument is, or that its text writes.
pub(super) fn pattern(machine: &mut Machine<'_>, value: &Value, flags: &str) -> Run<RegexObject> {
    if let Some(regex) = as_regex(machine, value) {
        return Ok(regex);
    }
    let source =
        if matches!(value, Value::Undefined) { "(?:)".into() } else { machine.text_of(value)?.shared() };
    let regex = machine.compile(&source, flags)?;
    Ok(RegexObject { source, flags: flags.into(), regex, last_index: Value::Number(0.0) })
}

/// All matches, one after the other; one that is empty does not stop them.
pub(super) fn all(machine: &mut Machine<'_>, regex: &RegexObject, text: &Text) -> Run<Vec<Groups>> {
    all_after(machine, regex, text, 0)
}

fn all_after(machine: &mut Machine<'_>, regex: &RegexObject, text: &Text, start: usize) -> Run<Vec<Groups>> {
    let mut found = Vec::new();
    let mut at = start;
    while let Some(groups) = find(machine, regex, text, at)? {
        let Some((start, end)) = groups.first().copied().flatten() else { break };
        at = if start == end { after_next(text, end) } else { end };
        machine.bytes(size_of::<Groups>())?;
        found.push(groups);
    }
    Ok(found)
}

/// Returns all matches from the last index on.
pub(super) fn all_from(machine: &mut Machine<'_>, regex: &RegexObject, text: &Text) -> Run<Vec<Groups>> {
    let start = machine.integer_of(&regex.last_index)?.max(0.0) as usize;
    if start > text.units() { Ok(Vec::new()) } else { all_after(machine, regex, text, text.byte_at(start)) }
}

/// Returns the offset after the character that begins at an offset.
fn after_next(text: &Text, byte: usize) -> usize {
    let next = text.as_str().get(byte..).and_then(|rest| rest.chars().next());
    byte + next.map_or(1, char::len_utf8)
}

pub(super) fn replace(machine: &mut Machine<'_>, this: &Value, arguments: &[Value], which: Which) -> Run {
    let input = this_text(machine, this)?;
    let (wanted, with) = (argument(arguments, 0), argument(arguments, 1));
    let regex = as_regex(machine, wanted);
    let text = match &regex {
        Some(regex) => view(machine, regex, &input)?,
        None => input.clone(),
    };
    // The pattern is converted to text first, then the replacement, and only then the search begins.
    let plain = match &regex {
        Some(_) => None,
        None => Some(machine.text_of(wanted)?),
    };
    let with = if machine.is_callable(with) {
        With::Function(with.clone())
    } else {
        With::Text(machine.text_of(with)?)
    };
    let found = match &regex {
        Some(regex) if regex.is_global() => {
            rewind(machine, wanted);
            all(machine, regex, &text)?
        }
        Some(_) if which == Which::All => {
            return Err(
                machine.type_error_fix("replaceAll must be called with a global RegExp", "add the flag g")
            );
        }
        Some(regex) => once(machine, wanted, regex, &text)?.into_iter().collect(),
        None => places_of(machine, &text, plain.as_ref().map_or("", Text::as_str), which)?,
    };
    let mut out = String::new();
    let mut done = 0;
    for groups in &found {
        let Some((start, end)) = groups.first().copied().flatten() else { continue };
        let new = replacement(machine, (&input, &text), groups, regex.as_ref(), &with)?;
        machine.bytes(new.len() + start.saturating_sub(done))?;
        out.push_str(text.as_str().get(done..start).unwrap_or_default());
        out.push_str(&new);
        done = end;
    }
    out.push_str(text.as_str().get(done..).unwrap_or_default());
    machine.new_text(out)
}

fn places_of(machine: &mut Machine<'_>, text: &Text, wanted: &str, which: Which) -> Run<Vec<Groups>> {
    let most = if which == Which::First { 1 } else { usize::MAX };
    machine.steps(text.as_str().len() / 16)?;
    let mut places: Vec<Groups> = Vec::new();
    for (start, part) in text.as_str().match_indices(wanted).take(most) {
        machine.steps(1)?;
        machine.bytes(2 * size_of::<Groups>())?;
        places.push(vec![Some((start, start + part.len()))]);
    }
    Ok(places)
}

/// The replacement of a match.
enum With {
    Function(Value),
    Text(Text),
}

fn replacement(
    machine: &mut Machine<'_>,
    (input, text): (&Text, &Text),
    groups: &Groups,
    regex: Option<&RegexObject>,
    with: &With,
) -> Run<String> {
    machine.steps(1)?;
    let parts = texts(machine, text, groups)?;
    let names = match regex {
        Some(regex) => named(machine, regex, &parts)?,
        None => Value::Undefined,
    };
    match with {
        With::Text(pattern) => expand(machine, pattern.as_str(), text, groups, &parts, &names),
        With::Function(function) => {
            let start = groups.first().copied().flatten().map_or(0, |(start, _)| text.units_before(start));
            let mut arguments = parts;
            arguments.extend([start.into(), Value::Text(input.clone())]);
            if !matches!(names, Value::Undefined) {
                arguments.push(names);
            }
            let new = machine.call(function, &Value::Undefined, &arguments)?;
            Ok(machine.text_of(&new)?.as_str().to_owned())
        }
    }
}

/// `$1`, `$&` and so on.
fn expand(
    machine: &mut Machine<'_>,
    pattern: &str,
    text: &Text,
    groups: &Groups,
    parts: &[Value],
    names: &Value,
) -> Run<String> {
    let mut out = String::new();
    let mut rest = pattern;
    let (start, end) = groups.first().copied().flatten().unwrap_or_default();
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let (new, used) = match after.chars().next() {
            Some('$') => (Some("$".to_owned()), 1),
            Some('&') => (text.as_str().get(start..end).map(str::to_owned), 1),
            Some('`') => (text.as_str().get(..start).map(str::to_owned), 1),
            Some('\'') => (text.as_str().get(end..).map(str::to_owned), 1),
            Some('0'..='9') => numbered(machine, after, parts)?,
            Some('<') if !matches!(names, Value::Undefined) => by_name(machine, after, names)?,
            _ => (None, 0),
        };
        if let Some(new) = new {
            machine.bytes(new.len())?;
            out.push_str(&new);
        } else {
            out.push('$');
        }
        rest = after.get(used..).unwrap_or_default();
    }
    out.push_str(rest);
    Ok(out)
}

/// A group by its number, of two digits if there are so many groups.
fn numbered(machine: &mut Machine<'_>, after: &str, parts: &[Value]) -> Run<(Option<String>, usize)> {
    for digits in [2, 1] {
        let number = after.get(..digits).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let number = number.and_then(|text| text.parse::<usize>().ok()).filter(|number| *number > 0);
        if let Some(part) = number.and_then(|number| parts.get(number)) {
            let text =
                if part.is_nothing() { String::new() } else { machine.text_of(part)?.as_str().to_owned() };
            return Ok((Some(text), digits));
        }
    }
    Ok((None, 0))
}

fn by_name(machine: &mut Machine<'_>, after: &str, names: &Value) -> Run<(Option<String>, usize)> {
    let Some((name, _)) = after.get(1..).unwrap_or_default().split_once('>') else { return Ok((None, 0)) };
    let part = machine.get(names, &crate::machine::Key::Name(name.into()))?;
    let text = if part.is_nothing() { String::new() } else { machine.text_of(&part)?.as_str().to_owned() };
    Ok((Some(text), name.len() + 2))
}

/// The parts of a text between matches, and the groups of the matches.
pub(super) fn split_by(machine: &mut Machine<'_>, text: &Text, regex: &RegexObject) -> Run<Vec<Value>> {
    let text = &view(machine, regex, text)?;
    let whole = text.as_str();
    if whole.is_empty() {
        let matches_nothing = find(machine, regex, text, 0)?.is_some();
        return Ok(if matches_nothing { Vec::new() } else { vec![Value::Text(text.clone())] });
    }
    let mut parts = Vec::new();
    let mut done = 0;
    for groups in all(machine, regex, text)? {
        let Some((start, end)) = groups.first().copied().flatten() else { continue };
        if start >= whole.len() || (start == end && start == done) {
            continue;
        }
        let part = whole.get(done..start).unwrap_or_default();
        machine.bytes(part.len() + size_of::<Value>())?;
        parts.push(Value::text(part));
        parts.extend(texts(machine, text, &groups)?.into_iter().skip(1));
        done = end;
    }
    let rest = whole.get(done..).unwrap_or_default();
    machine.bytes(rest.len())?;
    parts.push(Value::text(rest));
    Ok(parts)
}
