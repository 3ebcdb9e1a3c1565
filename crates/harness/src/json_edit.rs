//! Editor for JSON settings with comments that preserves everything else: comments, whitespace, order and unknown keys.
//!
//! Comments and trailing commas are replaced by spaces of the same length, so that the result is JSON with the positions of the
//! original text.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value;
use serde_json::value::RawValue;
use stockade_text::{Format, parse};

/// Maximum size of a settings file in bytes.
pub(crate) const MAX_SETTINGS: usize = 4 << 20;

/// An inserted text and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Insertion {
    pub(crate) at: usize,
    pub(crate) text: String,
}

/// Settings text, with the inserted texts.
#[derive(Debug, Clone)]
pub(crate) struct Edited {
    pub(crate) text: String,
    /// In order and without overlaps.
    pub(crate) insertions: Vec<Insertion>,
}

/// Parses settings as JSON with comments.
pub(crate) fn read(text: &str) -> Result<Value, String> {
    let plain = blanked(text);
    let strict =
        parse(&plain, Format::Json, MAX_SETTINGS).map_err(|error| format!("invalid JSON: {error}"))?;
    match strict.value.to_json() {
        Value::Object(members) => Ok(Value::Object(members)),
        _ => Err("it is not a JSON object".to_owned()),
    }
}

impl Edited {
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), insertions: Vec::new() }
    }

    /// Appends a value to the list at a path, which is created if missing.
    pub(crate) fn push(&mut self, path: &[&str], value: &Value) -> Result<(), String> {
        self.add(path, Some(value))
    }

    /// Sets a member at a path, if it does not exist.
    pub(crate) fn set(&mut self, path: &[&str], value: &Value) -> Result<(), String> {
        let settings = read(&self.text)?;
        match path.iter().try_fold(&settings, |found, name| found.get(name)) {
            Some(_) => Ok(()),
            None => {
                let (last, parents) = path.split_last().ok_or("missing path")?;
                let value = serde_json::json!({ *last: value });
                let members = value.as_object().cloned().unwrap_or_default();
                members.iter().try_for_each(|(name, value)| self.member(parents, name, value))
            }
        }
    }

    fn member(&mut self, parents: &[&str], name: &str, value: &Value) -> Result<(), String> {
        let plain = blanked(&self.text);
        let (span, missing) = find(&plain, parents)?;
        if !missing.is_empty() {
            return Err(format!("`{}` is missing", parents.join(".")));
        }
        self.insert(&plain, span, Some(name), value)
    }

    fn add(&mut self, path: &[&str], value: Option<&Value>) -> Result<(), String> {
        read(&self.text)?;
        let plain = blanked(&self.text);
        let (span, missing) = find(&plain, path)?;
        let value = value.cloned().unwrap_or_default();
        match missing.split_first() {
            Some((name, rest)) => {
                if !plain.get(span.clone()).unwrap_or_default().starts_with('{') {
                    return Err(format!("the parent of `{}` is not an object", missing.join(".")));
                }
                let list = Value::Array(vec![value]);
                let nested = rest.iter().rev().fold(list, |value, name| serde_json::json!({ *name: value }));
                self.insert(&plain, span, Some(name), &nested)
            }
            None if plain.get(span.clone()).unwrap_or_default().starts_with('[') => {
                self.insert(&plain, span, None, &value)
            }
            None => Err(format!("`{}` is not a list", path.join("."))),
        }
    }

    /// Appends a value to a list or object.
    fn insert(
        &mut self,
        plain: &str,
        span: Range<usize>,
        name: Option<&str>,
        value: &Value,
    ) -> Result<(), String> {
        let broken = || "it cannot be changed".to_owned();
        let close = span.end.checked_sub(1).ok_or_else(broken)?;
        let inside = plain.get(span.start + 1..close).ok_or_else(broken)?;
        let last = inside.trim_end();
        let end = span.start + 1 + last.len();
        let is_long = self.text.get(span.clone()).ok_or_else(broken)?.contains('\n') || last.is_empty();
        let unit = unit(&self.text);
        let outer = indent_of(&self.text, close);
        let mut rendered = render(value, if is_long { &unit } else { "" });
        if is_long {
            rendered = rendered.replace('\n', &format!("\n{outer}{unit}"));
        }
        let rendered = match name {
            Some(name) => format!("{}: {rendered}", Value::from(name)),
            None => rendered,
        };
        // An existing trailing comma, which was replaced by a space, serves as the separator.
        let has_comma = self.text.get(end..close).is_some_and(|rest| comma(rest, plain.get(end..close)));
        // After comments beside the last value.
        let rest = self.text.get(..close).ok_or_else(broken)?;
        let place = if last.is_empty() { close } else { rest.trim_end().len().max(end) };
        let tail = if last.is_empty() && is_long { format!("\n{outer}") } else { String::new() };
        let rendered = match is_long {
            true => format!("\n{outer}{unit}{rendered}{tail}"),
            false => format!(" {rendered}"),
        };
        // Whitespace in an empty list stays before the new value.
        self.put(place, rendered);
        if !last.is_empty() && !has_comma {
            self.put(end, ",".to_owned());
        }
        read(&self.text).map(drop)
    }

    /// Inserts a text, and shifts the positions of earlier insertions.
    fn put(&mut self, at: usize, text: String) {
        let length = text.len();
        self.text.insert_str(at, &text);
        for known in &mut self.insertions {
            if known.at >= at {
                known.at += length;
            } else if at < known.at + known.text.len() {
                known.text.insert_str(at - known.at, &text);
                return;
            }
        }
        self.insertions.push(Insertion { at, text });
        self.insertions.sort_by_key(|one| one.at);
    }
}

/// Removes an inserted text if it is unchanged; `None` if it is not, or if the rest would not be JSON.
pub(crate) fn taken_out(text: &str, insertions: &[Insertion]) -> Option<String> {
    let mut left = text.to_owned();
    for one in insertions.iter().rev() {
        let range = one.at..one.at.checked_add(one.text.len())?;
        if left.get(range.clone())? != one.text {
            return None;
        }
        left.replace_range(range, "");
    }
    (left.trim().is_empty() || read(&left).is_ok()).then_some(left)
}

/// Removes the list items for which `is_out` is true. An item with a list `inner` is a group: it is removed if all of its items
/// are, and otherwise only the items are.
pub(crate) fn without(
    text: &str,
    path: &[&str],
    inner: &str,
    is_out: &dyn Fn(&Value) -> bool,
) -> Result<String, String> {
    let mut text = text.to_owned();
    loop {
        let plain = blanked(&text);
        let (span, missing) = find(&plain, path)?;
        if !missing.is_empty() {
            return Ok(text);
        }
        let Some((items, index)) = first_out(&plain, items(&plain, span)?, inner, is_out)? else {
            return Ok(text);
        };
        let own = items.get(index).cloned().unwrap_or_default();
        let range = match (items.get(index + 1), index.checked_sub(1).and_then(|before| items.get(before))) {
            (Some(next), _) => own.start..next.start,
            (None, Some(before)) => before.end..own.end,
            (None, None) => own,
        };
        if text.get(range.clone()).is_none() {
            return Err("it cannot be changed".to_owned());
        }
        text.replace_range(range, "");
        read(&text)?;
    }
}

/// Returns the ranges of list items.
type Spans = Vec<Range<usize>>;

/// Returns the list and index of the first item to remove.
fn first_out(
    plain: &str,
    groups: Spans,
    inner: &str,
    is_out: &dyn Fn(&Value) -> bool,
) -> Result<Option<(Spans, usize)>, String> {
    for (index, span) in groups.iter().enumerate() {
        let Some(item) = plain.get(span.clone()) else { continue };
        let Ok(value) = serde_json::from_str::<Value>(item) else { continue };
        let outs = value.get(inner).and_then(Value::as_array);
        let outs: Option<Vec<bool>> = outs.map(|list| list.iter().map(is_out).collect());
        let Some(outs) = outs.filter(|outs| !outs.is_empty()) else {
            if is_out(&value) {
                return Ok(Some((groups, index)));
            }
            continue;
        };
        let Some(first) = outs.iter().position(|is_out| *is_out) else { continue };
        if outs.iter().all(|is_out| *is_out) {
            return Ok(Some((groups, index)));
        }
        let (list, _) = find(item, &[inner])?;
        return Ok(Some((items(plain, span.start + list.start..span.start + list.end)?, first)));
    }
    Ok(None)
}

/// Returns the range of the value at a path, and the missing names of the path.
pub(super) fn find<'p>(plain: &str, path: &[&'p str]) -> Result<(Range<usize>, Vec<&'p str>), String> {
    let mut span = place(plain, plain.trim());
    for (index, name) in path.iter().enumerate() {
        let text = plain.get(span.clone()).unwrap_or_default();
        let members: BTreeMap<String, &RawValue> =
            serde_json::from_str(text).map_err(|_| format!("the parent of `{name}` is not an object"))?;
        match members.get(*name) {
            Some(member) => span = place(plain, member.get()),
            None => return Ok((span, path.get(index..).unwrap_or_default().to_vec())),
        }
    }
    Ok((span, Vec::new()))
}

pub(super) fn items(plain: &str, span: Range<usize>) -> Result<Spans, String> {
    let items: Vec<&RawValue> = serde_json::from_str(plain.get(span).unwrap_or_default())
        .map_err(|_| "hooks are in no list".to_owned())?;
    Ok(items.into_iter().map(|item| place(plain, item.get())).collect())
}

/// Returns the range of a part of a text.
fn place(text: &str, part: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + part.len()
}

fn render(value: &Value, unit: &str) -> String {
    use serde::Serialize as _;
    if unit.is_empty() {
        return value.to_string();
    }
    let mut out = Vec::new();
    let format = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, format);
    match value.serialize(&mut serializer) {
        Ok(()) => String::from_utf8(out).unwrap_or_else(|_| value.to_string()),
        Err(_) => value.to_string(),
    }
}

/// A new settings file.
pub(crate) fn new_text(value: &Value) -> String {
    format!("{}\n", render(value, "  "))
}

/// Indentation of lines.
fn unit(text: &str) -> String {
    let indented = text.lines().filter(|line| !line.trim().is_empty());
    let mut spaces =
        indented.map(|line| line.chars().take_while(|c| *c == ' ' || *c == '\t').collect::<String>());
    spaces
        .find(|spaces| !spaces.is_empty())
        .filter(|spaces| spaces.len() <= 8)
        .unwrap_or_else(|| "  ".to_owned())
}

/// Returns the indentation of the line at a position.
fn indent_of(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rfind('\n').map_or(before, |end| before.get(end + 1..).unwrap_or_default());
    line.chars().take_while(|c| *c == ' ' || *c == '\t').collect()
}

/// Whether the replaced text contains a comma outside of comments.
fn comma(written: &str, blanked: Option<&str>) -> bool {
    debug_assert!(blanked.is_some_and(|blanked| blanked.trim().is_empty()));
    without_comments(written).contains(',')
}

/// Replaces comments and trailing commas by spaces, byte for byte.
pub(super) fn blanked(text: &str) -> String {
    let text = without_comments(text);
    let mut out = text.clone().into_bytes();
    let mut comma = None;
    let mut quoted = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if quoted {
            (quoted, escaped) = (escaped || byte != b'"', !escaped && byte == b'\\');
            continue;
        }
        match byte {
            b'"' => (quoted, comma) = (true, None),
            b',' => comma = Some(at),
            b']' | b'}' => {
                if let Some(blank) = comma.take().and_then(|at: usize| out.get_mut(at)) {
                    *blank = b' ';
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
    }
    String::from_utf8(out).unwrap_or(text)
}

/// Replaces comments by spaces.
fn without_comments(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        out.push(byte);
        match (byte, bytes.peek()) {
            (b'"', _) => {
                while let Some(byte) = bytes.next() {
                    out.push(byte);
                    match byte {
                        b'\\' => out.extend(bytes.next()),
                        b'"' => break,
                        _ => {}
                    }
                }
            }
            (b'/', Some(b'/')) => {
                out.pop();
                out.push(b' ');
                while bytes.peek().is_some_and(|byte| *byte != b'\n') {
                    bytes.next();
                    out.push(b' ');
                }
            }
            (b'/', Some(b'*')) => {
                out.pop();
                out.extend([b' ', b' ']);
                bytes.next();
                let mut last = b' ';
                for byte in bytes.by_ref() {
                    // Line ends are kept, so that positions in messages are right.
                    out.push(if byte == b'\n' { b'\n' } else { b' ' });
                    if last == b'*' && byte == b'/' {
                        break;
                    }
                    last = byte;
                }
            }
            _ => {}
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const TEXTS: &[&str] = &[
        "{}",
        "{ }\n",
        "{\n}\n",
        "{\"a\":1}",
        "{\"a\": 1, \"hooks\": {}}",
        "{\n  // mine\n  \"a\": [1, 2,], // last\n}\n",
        "{\n\t\"hooks\": {\n\t\t\"E\": [\n\t\t\t{\"x\": \"// no } comment\"} /* here, */\n\t\t]\n\t}\n}",
        "{\n    \"hooks\": {\"E\": []},\n    \"z\": \"\\\"/*\"\n}\n",
        "{\n  \"hooks\": {\n    \"E\": [\n      1, // one\n      2 // two\n      // none\n    ]\n  }\n}\n",
        "\n\n{\"hooks\":{\"E\":[{\"a\":1},]}}",
    ];

    #[test]
    fn what_is_put_in_stands_there_and_comes_out_again_without_a_trace() {
        for text in TEXTS {
            let mut edited = Edited::new(text);
            edited.push(&["hooks", "E"], &json!({"ours": true})).unwrap();
            edited.push(&["hooks", "F"], &json!({"ours": [1]})).unwrap();
            edited.set(&["version"], &json!(1)).unwrap();
            let (before, after) = (read(text).unwrap(), read(&edited.text).unwrap());
            let list = after["hooks"]["E"].as_array().unwrap();
            let had = before["hooks"]["E"].as_array().map_or(0, Vec::len);
            assert_eq!(
                (list.len(), &list[had], &after["version"]),
                (had + 1, &json!({"ours": true}), &json!(1))
            );
            assert_eq!(after["hooks"]["F"], json!([{"ours": [1]}]), "{}", edited.text);
            assert_eq!(before.get("a"), after.get("a"));
            assert_eq!(
                taken_out(&edited.text, &edited.insertions).as_deref(),
                Some(*text),
                "{}",
                edited.text
            );
            let is_ours = |value: &Value| value.get("ours").is_some();
            let left = without(&edited.text, &["hooks", "E"], "hooks", &is_ours).unwrap();
            assert_eq!(read(&left).unwrap()["hooks"]["E"].as_array().unwrap().len(), had, "{left}");
        }
    }

    #[test]
    fn what_has_changed_since_is_not_taken_for_what_was_put_in() {
        let mut edited = Edited::new("{\"a\": 1}");
        edited.push(&["hooks", "E"], &json!(1)).unwrap();
        assert_eq!(taken_out(&edited.text.replace('1', "2"), &edited.insertions), None);
        assert_eq!(taken_out("{}", &edited.insertions), None);
    }

    /// A group with other hooks keeps them, with their comments.
    #[test]
    fn what_stands_in_one_group_with_others_goes_by_itself() {
        let is_ours = |value: &Value| value.get("ours").is_some();
        for (text, wanted) in [
            (
                "{\"E\":[{\"m\":1,\"hooks\":[{\"a\":1},{\"ours\":1}]}]}",
                "{\"E\":[{\"m\":1,\"hooks\":[{\"a\":1}]}]}",
            ),
            (
                "{\"E\":[{\"hooks\":[{\"ours\":1}, /* x */ {\"a\":1},{\"ours\":2}, ]}]}",
                "{\"E\":[{\"hooks\":[{\"a\":1}, ]}]}",
            ),
            ("{\"E\":[{\"hooks\":[{\"ours\":1},{\"ours\":2}]},{\"b\":1}]}", "{\"E\":[{\"b\":1}]}"),
            (
                "{\"E\":[{\"hooks\":[]},{\"hooks\":{}},{\"ours\":1}]}",
                "{\"E\":[{\"hooks\":[]},{\"hooks\":{}}]}",
            ),
        ] {
            assert_eq!(without(text, &["E"], "hooks", &is_ours).unwrap(), wanted, "{text}");
        }
    }

    #[test]
    fn what_is_no_table_is_refused() {
        for (text, path) in [
            ("[]", vec!["hooks"]),
            ("{", vec!["hooks"]),
            ("", vec!["hooks"]),
            ("{\"a\": 1, \"a\": 2}", vec!["hooks"]),
            ("{\"hooks\": []}", vec!["hooks", "E"]),
            ("{\"hooks\": {\"E\": {}}}", vec!["hooks", "E"]),
        ] {
            assert!(Edited::new(text).push(&path, &json!(1)).is_err(), "{text}");
        }
    }

    proptest! {
        /// For any text, the change is correct or refused.
        #[test]
        fn hostile_texts_are_changed_rightly_or_refused(text in "[\\[\\]{}:,\"/*\\\\ \nab1é]{0,60}") {
            let mut edited = Edited::new(&text);
            if edited.push(&["a", "b"], &json!("new")).is_ok() {
                let list = read(&edited.text).unwrap()["a"]["b"].as_array().unwrap().clone();
                prop_assert_eq!(list.last(), Some(&json!("new")));
                prop_assert_eq!(taken_out(&edited.text, &edited.insertions), Some(text));
            }
        }
    }
}
