//! TOML, parsed by the `toml` crate, which reports the byte range of every key and value.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{DocumentError, MAX_NESTING, Node, TableEntry, Value, broken, too_deep};
use crate::line_index::LineIndex;
use crate::position::TextPosition;

pub(super) fn parse(text: &str) -> Result<Node, DocumentError> {
    let lines = LineIndex::new(text);
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(TextPosition::START, |span| lines.position(span.start));
        broken(at, error.message())
    })?;
    let value = table_of(table.get_ref(), TextPosition::START, &lines, MAX_NESTING)?;
    Ok(Node { at: TextPosition::START, value })
}

/// Dotted keys create nested tables too, but `toml` limits only brackets.
fn table_of(
    table: &DeTable<'_>,
    at: TextPosition,
    lines: &LineIndex<'_>,
    depth: usize,
) -> Result<Value, DocumentError> {
    let depth = depth.checked_sub(1).ok_or_else(|| too_deep(at))?;
    let entries = table.iter().map(|(key, value)| {
        Ok(TableEntry {
            at: lines.position(key.span().start),
            key: key.get_ref().to_string(),
            node: node_of(value, lines, depth)?,
        })
    });
    let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
    // `toml` sorts entries by key; restore the document order.
    entries.sort_by_key(|entry: &TableEntry| entry.at);
    Ok(Value::Table(entries))
}

fn node_of(value: &Spanned<DeValue<'_>>, lines: &LineIndex<'_>, depth: usize) -> Result<Node, DocumentError> {
    let at = lines.position(value.span().start);
    let value = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        // The text of the number alone lacks its base prefix (`0x`).
        DeValue::Integer(number) => Value::Number(number.to_string()),
        DeValue::Float(number) => Value::Number(number.as_str().to_owned()),
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Datetime(date) => Value::Date(date.to_string()),
        DeValue::Array(list) => {
            let depth = depth.checked_sub(1).ok_or_else(|| too_deep(at))?;
            let nodes = list.iter().map(|value| node_of(value, lines, depth));
            Value::List(nodes.collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => table_of(table, at, lines, depth)?,
    };
    Ok(Node { at, value })
}
