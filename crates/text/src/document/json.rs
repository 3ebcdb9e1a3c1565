//! JSON, parsed by `serde_json`. Its raw values borrow from the text, so their positions can be derived.
//!
//! A repeated key is an error, since two parsers may choose different values.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{DocumentError, MAX_NESTING, Node, TableEntry, Value, broken, too_deep};
use crate::line_index::LineIndex;
use crate::position::TextPosition;

pub(super) fn parse(text: &str) -> Result<Node, DocumentError> {
    let lines = LineIndex::new(text);
    let whole: &RawValue =
        serde_json::from_str(text).map_err(|error| broken(position_of(&error, text), &error.to_string()))?;
    // Each level parses its content again, so the nesting limit bounds the time as well.
    Reader { text, lines }.node(whole, MAX_NESTING)
}

/// Returns the position of an error, which `serde_json` reports as a line and a count of *bytes* before the end of
/// the input that it has read.
fn position_of(error: &serde_json::Error, text: &str) -> TextPosition {
    let line = error.line().max(1);
    let bytes = text.split('\n').nth(line - 1).unwrap_or_default();
    let before = bytes.get(..bytes.floor_char_boundary(error.column().saturating_sub(1))).unwrap_or_default();
    TextPosition { line, column: before.chars().count() + 1 }
}

struct Reader<'t> {
    text: &'t str,
    lines: LineIndex<'t>,
}

impl<'t> Reader<'t> {
    fn node(&self, raw: &'t RawValue, depth: usize) -> Result<Node, DocumentError> {
        let at = self.lines.position(self.offset(raw.get()));
        let value = match raw.get().as_bytes().first() {
            Some(b'{' | b'[') if depth == 0 => return Err(too_deep(at)),
            Some(b'{') => self.table(raw, depth - 1)?,
            Some(b'[') => {
                let items: Vec<&RawValue> = read(raw, at)?;
                let nodes = items.into_iter().map(|item| self.node(item, depth - 1));
                Value::List(nodes.collect::<Result<_, _>>()?)
            }
            Some(b'"') => Value::Text(read(raw, at)?),
            Some(b't') => Value::Flag(true),
            Some(b'f') => Value::Flag(false),
            Some(b'n') | None => Value::Nothing,
            Some(_) => Value::Number(number(raw.get(), at)?),
        };
        Ok(Node { at, value })
    }

    fn table(&self, raw: &'t RawValue, depth: usize) -> Result<Value, DocumentError> {
        let start = self.offset(raw.get());
        let Members(members) = read(raw, self.lines.position(start))?;
        let mut seen = HashSet::new();
        let mut entries = Vec::with_capacity(members.len());
        let mut from = start;
        for (key, value) in members {
            // The only string between two values is the key, so the first quote begins it.
            let quote = self.text.get(from..).and_then(|rest| rest.find('"')).unwrap_or(0);
            let at = self.lines.position(from + quote);
            from = self.offset(value.get()) + value.get().len();
            if !seen.insert(key.clone()) {
                return Err(DocumentError { at, reason: format!("duplicate key `{key}`") });
            }
            entries.push(TableEntry { at, key: key.into_owned(), node: self.node(value, depth)? });
        }
        Ok(Value::Table(entries))
    }

    /// Returns the offset of a part of the text.
    fn offset(&self, part: &str) -> usize {
        part.as_ptr().addr().saturating_sub(self.text.as_ptr().addr())
    }
}

/// Returns a number as it is written. A number beyond the doubles is an error to some parsers, infinity to others, and an
/// integer of any length to a third kind.
fn number(written: &str, at: TextPosition) -> Result<String, DocumentError> {
    match written.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(written.to_owned()),
        _ => Err(DocumentError { at, reason: "number out of range".to_owned() }),
    }
}

/// Parses one level of a value. The whole text is valid JSON, so only escapes can still be wrong.
fn read<'t, T: Deserialize<'t>>(raw: &'t RawValue, at: TextPosition) -> Result<T, DocumentError> {
    serde_json::from_str(raw.get()).map_err(|error| broken(at, &error.to_string()))
}

/// The keys and values of a table in document order.
struct Members<'t>(Vec<(Cow<'t, str>, &'t RawValue)>);

impl<'t> Deserialize<'t> for Members<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EachMember)
    }
}

struct EachMember;

impl<'t> Visitor<'t> for EachMember {
    type Value = Members<'t>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(Key(key)) = map.next_key()? {
            members.push((key, map.next_value()?));
        }
        Ok(Members(members))
    }
}

/// A key, borrowed if it has no escapes.
struct Key<'t>(Cow<'t, str>);

impl<'t> Deserialize<'t> for Key<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(AsKey)
    }
}

struct AsKey;

impl<'t> Visitor<'t> for AsKey {
    type Value = Key<'t>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E: Error>(self, key: &'t str) -> Result<Key<'t>, E> {
        Ok(Key(Cow::Borrowed(key)))
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Key<'t>, E> {
        Ok(Key(Cow::Owned(key.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::document::Value;

    #[test]
    fn everything_has_its_position_and_keeps_its_spelling() {
        let node = parse("{\"a\": 1e2,\n \"b\\u0063\" : [\"\\ud83d\\ude00\", {\"d\": null}]}").unwrap();
        let Value::Table(entries) = &node.value else { panic!("{node:?}") };
        let positions: Vec<_> = entries
            .iter()
            .map(|one| (one.key.as_str(), one.at.to_string(), one.node.at.to_string()))
            .collect();
        assert_eq!(
            positions,
            [("a", "1:2".into(), "1:7".into()), ("bc", "2:2".into(), "2:14".into())]
                as [(&str, String, String); 2]
        );
        assert_eq!(entries[0].node.value.words(), Some("1e2"));
        let Value::List(list) = &entries[1].node.value else { panic!("{node:?}") };
        assert_eq!(list[0].value.words(), Some("😀"));
        assert_eq!(list[1].value.get("d").unwrap().at.to_string(), "2:32");
    }

    #[test]
    fn what_is_hostile_is_refused_with_its_position() {
        let deep = format!("{{\"a\": {}1{}}}", "[".repeat(32), "]".repeat(32));
        for (text, position, why) in [
            ("", "1:1", "EOF while parsing a value"),
            ("{\"a\": 1,\n \"\\u0061\": 2}", "2:2", "duplicate key `a`"),
            ("[\"\\ud83d\"]", "1:2", "unexpected end of hex escape"),
            ("{\"a\": 1,}", "1:9", "key must be a string"),
            ("{'a': 1}", "1:2", "key must be a string"),
            ("[01]", "1:3", "invalid number"),
            ("{} {}", "1:4", "trailing characters"),
            ("[\"äöü\", x]", "1:9", "expected value"),
            (deep.as_str(), "1:38", "lists and tables are nested more than 32 levels deep"),
        ] {
            let broken = parse(text).unwrap_err();
            assert_eq!((broken.at.to_string().as_str(), broken.reason.as_str()), (position, why), "{text}");
        }
        assert!(parse(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))).is_err());
    }
}
