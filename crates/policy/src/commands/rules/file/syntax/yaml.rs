//! YAML, and with it JSON, read by `serde-saphyr`, which tells the line and column of every value.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};

use super::refuse;
use crate::commands::rules::file::error::CommandRuleFileError;
use crate::commands::rules::file::node::{At, Entry, Node, Value};

pub(super) fn parse(text: &str, format: &'static str) -> Result<Node, CommandRuleFileError> {
    let parsed = serde_saphyr::from_str::<Node>(text);
    parsed.map_err(|error| {
        let error = error.without_snippet();
        let at = error.location().map_or(At::START, |location| at(&location));
        refuse(at, format, &error.to_string())
    })
}

fn at(location: &Location) -> At {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).max(1);
    At { line: number(location.line()), column: number(location.column()) }
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

    fn visit_bool<E: Error>(self, truth: bool) -> Result<Value, E> {
        Ok(Value::Truth(truth))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        Ok(i64::try_from(number).map_or(Value::Other("a number"), Value::Number))
    }

    fn visit_i128<E: Error>(self, _: i128) -> Result<Value, E> {
        Ok(Value::Other("a number"))
    }

    fn visit_u128<E: Error>(self, _: u128) -> Result<Value, E> {
        Ok(Value::Other("a number"))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Value, E> {
        Ok(Value::Other("a number"))
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Other("nothing"))
    }

    fn visit_bytes<E: Error>(self, _: &[u8]) -> Result<Value, E> {
        Ok(Value::Other("bytes"))
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
