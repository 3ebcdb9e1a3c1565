//! YAML, parsed by `serde-saphyr`, which reports the location of every value.
//!
//! The input is untrusted: depth, values and alias expansion are limited, and a repeated key is an error, since two
//! parsers may choose different values.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Options, Span, Spanned};

use super::{DocumentError, MAX_NESTING, Node, TableEntry, Value, broken};
use crate::escape::escape;
use crate::line_index::LineIndex;
use crate::position::TextPosition;

/// Maximum number of values, lists and tables in a document. The largest rule files have some 40,000.
const MAX_VALUES: usize = 100_000;
/// Maximum number of aliases and anchors, and of values repeated by aliases. A few shared lists fit; a "billion
/// laughs" does not.
const MAX_ALIASES: usize = 64;
const MAX_REPEATED: usize = 256;

pub(super) fn parse(text: &str) -> Result<Node, DocumentError> {
    let lines = LineIndex::new(text);
    let source = Source { text, lines };
    let raw = serde_saphyr::from_str_with_options::<Raw>(text, bounds()).map_err(|error| {
        let error = error.without_snippet();
        let at = error.location().map_or(TextPosition::START, |location| source.position(&location));
        broken(at, &error.to_string())
    })?;
    source.node(raw)
}

fn bounds() -> Options {
    serde_saphyr::options! {
        with_snippet: false,
        budget: serde_saphyr::budget! {
            max_depth: MAX_NESTING,
            flow_nesting_limit: MAX_NESTING,
            max_nodes: MAX_VALUES,
            max_aliases: MAX_ALIASES,
            max_anchors: MAX_ALIASES,
            max_documents: 1,
            max_merge_keys: 16,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MAX_REPEATED,
            max_replay_stack_depth: 8,
        },
    }
}

/// A document as the parser reports it.
struct Raw {
    location: Location,
    value: RawValue,
}

enum RawValue {
    Value(Value),
    List(Vec<Raw>),
    Table(Vec<(Location, String, Raw)>),
}

/// Source text in which positions and the spelling of numbers are looked up.
struct Source<'t> {
    text: &'t str,
    lines: LineIndex<'t>,
}

impl Source<'_> {
    fn node(&self, raw: Raw) -> Result<Node, DocumentError> {
        let value = match raw.value {
            RawValue::Value(Value::Number(number)) => {
                Value::Number(self.spelling(&raw.location).map_or(number, str::to_owned))
            }
            RawValue::Value(value) => value,
            RawValue::List(list) => {
                Value::List(list.into_iter().map(|raw| self.node(raw)).collect::<Result<_, _>>()?)
            }
            RawValue::Table(entries) => Value::Table(self.table(entries)?),
        };
        Ok(Node { at: self.position(&raw.location), value })
    }

    /// The parser takes `!tag key` and `key` for two keys, so they are compared here again.
    fn table(&self, entries: Vec<(Location, String, Raw)>) -> Result<Vec<TableEntry>, DocumentError> {
        let mut keys = HashSet::new();
        let mut table = Vec::with_capacity(entries.len());
        for (location, key, raw) in entries {
            let at = self.position(&location);
            if !keys.insert(key.clone()) {
                return Err(broken(at, &format!("duplicate mapping key: {}", escape(&key))));
            }
            table.push(TableEntry { at, key, node: self.node(raw)? });
        }
        Ok(table)
    }

    /// Offsets are used instead of the parser's line numbers: it also counts a lone carriage return as a line end.
    fn position(&self, location: &Location) -> TextPosition {
        let offset = self.offset(location).or_else(|| self.offset_in_chars(location));
        offset.map_or(TextPosition::START, |offset| self.lines.position(offset))
    }

    fn offset(&self, location: &Location) -> Option<usize> {
        usize::try_from(location.span().byte_offset()?).ok()
    }

    /// Aliases and some errors have character offsets but no byte offsets.
    fn offset_in_chars(&self, location: &Location) -> Option<usize> {
        let before = usize::try_from(location.span().offset()).ok()?;
        (location.span() != Span::UNKNOWN).then(|| self.lines.offset_of_char(before))
    }

    /// Returns a number in its original spelling: as versions, `1.0` and `1.00` differ. Numbers with an anchor or a
    /// tag are not supported.
    fn spelling(&self, location: &Location) -> Option<&str> {
        let rest = self.text.get(self.offset(location)?..)?;
        let end = rest.find([' ', '\t', ',', ']', '}', '#', '\r', '\n']).unwrap_or(rest.len());
        let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        rest.get(..end).filter(is_number)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<RawValue>::deserialize(deserializer)?;
        Ok(Self { location: spanned.referenced, value: spanned.value })
    }
}

impl<'de> Deserialize<'de> for RawValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = RawValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<RawValue, E> {
        Ok(RawValue::Value(Value::Text(text.to_owned())))
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<RawValue, E> {
        Ok(RawValue::Value(Value::Flag(flag)))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<RawValue, E> {
        Ok(RawValue::Value(Value::Number(number.to_string())))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<RawValue, E> {
        Ok(RawValue::Value(Value::Number(number.to_string())))
    }

    fn visit_i128<E: Error>(self, number: i128) -> Result<RawValue, E> {
        Ok(RawValue::Value(Value::Number(number.to_string())))
    }

    fn visit_u128<E: Error>(self, number: u128) -> Result<RawValue, E> {
        Ok(RawValue::Value(Value::Number(number.to_string())))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<RawValue, E> {
        Ok(RawValue::Value(Value::Number(number.to_string())))
    }

    fn visit_unit<E: Error>(self) -> Result<RawValue, E> {
        Ok(RawValue::Value(Value::Nothing))
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<RawValue, E> {
        Ok(RawValue::Value(Value::Text(String::from_utf8_lossy(bytes).into_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<RawValue, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element::<Raw>()? {
            values.push(value);
        }
        Ok(RawValue::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<RawValue, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = table.next_entry::<Spanned<String>, Raw>()? {
            entries.push((key.referenced, key.value, value));
        }
        Ok(RawValue::Table(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::document::Value;

    #[test]
    fn values_keep_their_kind_their_spelling_and_their_position() {
        let node = parse("a: 1.0\nb: [yes, 'x', ~]\nc:\n  d: 12 # twelve\n").unwrap();
        let of = |key| &node.value.get(key).unwrap().node;
        assert_eq!(of("a").value.words(), Some("1.0"));
        let Value::List(list) = &of("b").value else { panic!() };
        let kinds: Vec<_> = list.iter().map(|node| node.value.kind()).collect();
        assert_eq!(kinds, ["true or false", "a text", "nothing"]);
        let inner = of("c").value.get("d").unwrap();
        assert_eq!((inner.at.line, inner.at.column), (4, 3));
        assert_eq!(inner.node.value.words(), Some("12"));
    }

    #[test]
    fn what_is_hostile_is_refused_with_its_position() {
        let bomb = "a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c]\ne: [*d,*d,*d,*d]\n";
        let deep = format!("a: {}1{}\n", "[".repeat(500), "]".repeat(500));
        for (text, line) in [
            ("a: 1\na: 2\n", 2),
            ("!t a: 1\na: 2\n", 2),
            ("x: 0\nl:\n  - &k a: 1\n    'a': 2\n", 4),
            ("&k a: 1\n*k : 2\n", 1), // an alias stands where its anchor does
            ("a: [1\n", 1),
            ("a: *unknown\n", 1),
            (bomb, 4),
            (&deep, 1),
            ("a: 1\n---\nb: 2\n", 2),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.at.line, line, "{:?}: {}", text.get(..20), error.reason);
        }
    }
}
