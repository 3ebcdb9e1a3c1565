//! YAML, and with it JSON, read by `serde-saphyr`, which tells the line and column of every value.
//!
//! The text may come from a stranger: depth, values and what aliases repeat are bounded, and a key that is given twice
//! is refused, since two readers may take a different one of them.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Options, Spanned};

use super::{At, Broken, Entry, Node, Value, broken};

pub(super) fn parse(text: &str) -> Result<Node, Broken> {
    let parsed = serde_saphyr::from_str_with_options::<Node>(text, bounds());
    let mut node = parsed.map_err(|error| {
        let error = error.without_snippet();
        let at = error.location().map_or(At::START, |location| at(&location));
        broken(at, &error.to_string())
    })?;
    spell_numbers(&mut node, &text.lines().collect::<Vec<_>>());
    Ok(node)
}

fn bounds() -> Options {
    serde_saphyr::options! {
        with_snippet: false,
        budget: serde_saphyr::budget! {
            max_depth: 32,
            flow_nesting_limit: 32,
            max_nodes: 20_000,
            max_aliases: 64,
            max_anchors: 64,
            max_documents: 1,
            max_merge_keys: 16,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 256,
            max_replay_stack_depth: 8,
        },
    }
}

fn at(location: &Location) -> At {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).max(1);
    At { line: number(location.line()), column: number(location.column()) }
}

/// Gives every number the spelling that it has in the text: `1.0` and `1.00` are two versions.
fn spell_numbers(node: &mut Node, lines: &[&str]) {
    let At { line, column } = node.at;
    match &mut node.value {
        Value::Number(number) => {
            let line = lines.get(line - 1).copied().unwrap_or_default();
            let start = line.char_indices().nth(column - 1).map_or(line.len(), |(at, _)| at);
            let rest = line.get(start..).unwrap_or_default();
            let end = rest.find([' ', '\t', ',', ']', '}', '#', '\r']).unwrap_or(rest.len());
            match rest.get(..end) {
                Some(written) if written.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
                    written.clone_into(number);
                }
                _ => {}
            }
        }
        Value::List(nodes) => nodes.iter_mut().for_each(|node| spell_numbers(node, lines)),
        Value::Table(entries) => entries.iter_mut().for_each(|entry| spell_numbers(&mut entry.node, lines)),
        Value::Nothing | Value::Flag(_) | Value::Text(_) => {}
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Value>::deserialize(deserializer)?;
        Ok(Self { at: at(&spanned.referenced), value: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Flag(flag))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.to_string()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.to_string()))
    }

    fn visit_i128<E: Error>(self, number: i128) -> Result<Value, E> {
        Ok(Value::Number(number.to_string()))
    }

    fn visit_u128<E: Error>(self, number: u128) -> Result<Value, E> {
        Ok(Value::Number(number.to_string()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(number.to_string()))
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Nothing)
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Value, E> {
        Ok(Value::Text(String::from_utf8_lossy(bytes).into_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = list.next_element::<Node>()? {
            nodes.push(node);
        }
        Ok(Value::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, node)) = table.next_entry::<Spanned<String>, Node>()? {
            entries.push(Entry { at: at(&key.referenced), key: key.value, node });
        }
        Ok(Value::Table(entries))
    }
}
