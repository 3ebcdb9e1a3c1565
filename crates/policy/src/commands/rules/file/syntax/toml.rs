//! TOML, read by the `toml` crate, which tells the bytes that every key and value stands in.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::refuse;
use crate::commands::rules::file::error::CommandRuleFileError;
use crate::commands::rules::file::node::{At, Entry, Node, Value};

pub(super) fn parse(text: &str) -> Result<Node, CommandRuleFileError> {
    let places = Places::new(text);
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(At::START, |span| places.at(span.start));
        refuse(at, "TOML", error.message())
    })?;
    Ok(Node { at: At::START, value: table_of(table.get_ref(), &places) })
}

/// Tells the line of an offset without counting from the start each time.
struct Places<'t> {
    text: &'t str,
    line_starts: Vec<usize>,
}

impl<'t> Places<'t> {
    fn new(text: &'t str) -> Self {
        let after_ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { text, line_starts: std::iter::once(0).chain(after_ends).collect() }
    }

    fn at(&self, offset: usize) -> At {
        let line = self.line_starts.partition_point(|&start| start <= offset);
        let start = line.checked_sub(1).and_then(|index| self.line_starts.get(index)).copied().unwrap_or(0);
        let before = self.text.get(start..self.text.floor_char_boundary(offset)).unwrap_or_default();
        At { line, column: before.chars().count() + 1 }
    }
}

fn table_of(table: &DeTable<'_>, places: &Places<'_>) -> Value {
    let entries = table.iter().map(|(key, value)| Entry {
        at: places.at(key.span().start),
        key: key.get_ref().to_string(),
        node: node_of(value, places),
    });
    Value::Table(entries.collect())
}

fn node_of(value: &Spanned<DeValue<'_>>, places: &Places<'_>) -> Node {
    let inner = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or(Value::Other("a number"), Value::Number),
        DeValue::Float(_) => Value::Other("a fraction"),
        DeValue::Boolean(truth) => Value::Truth(*truth),
        DeValue::Datetime(_) => Value::Other("a date"),
        DeValue::Array(list) => Value::List(list.iter().map(|value| node_of(value, places)).collect()),
        DeValue::Table(table) => table_of(table, places),
    };
    Node { at: places.at(value.span().start), value: inner }
}
