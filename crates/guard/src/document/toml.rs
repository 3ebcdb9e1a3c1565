//! TOML, read by the `toml` crate, which tells the bytes that every key and value stands in.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::places::Places;
use super::{At, Broken, Entry, Node, Value, broken};

pub(super) fn parse(text: &str) -> Result<Node, Broken> {
    let places = Places::new(text);
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(At::START, |span| places.at(span.start));
        broken(at, error.message())
    })?;
    Ok(Node { at: At::START, value: table_of(table.get_ref(), &places) })
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
        DeValue::Integer(number) => Value::Number(number.as_str().to_owned()),
        DeValue::Float(number) => Value::Number(number.as_str().to_owned()),
        DeValue::Boolean(flag) => Value::Flag(*flag),
        // No key holds a date, so that it is refused as a text that is none of the words.
        DeValue::Datetime(date) => Value::Text(date.to_string()),
        DeValue::Array(list) => Value::List(list.iter().map(|value| node_of(value, places)).collect()),
        DeValue::Table(table) => table_of(table, places),
    };
    Node { at: places.at(value.span().start), value: inner }
}
