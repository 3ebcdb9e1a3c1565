//! Values made and changed.

use serde_json::Value as Json;
use stockade_text::{Node, TableEntry, TextPosition, Value};

/// A value that stands nowhere.
pub(super) fn node(value: Value) -> Node {
    Node { at: TextPosition::START, value }
}

/// A table of these members.
pub(super) fn table<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Table(members.into_iter().map(|(key, value)| entry(key, value)).collect())
}

fn entry(key: &str, value: Value) -> TableEntry {
    TableEntry { at: TextPosition::START, key: key.to_owned(), node: node(value) }
}

pub(super) fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

/// The member of a table.
pub(super) fn get<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    value.get(key).map(|entry| &entry.node.value)
}

/// The member of a table behind several names.
pub(super) fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| get(value, key))
}

/// The text that a member of a table is.
pub(super) fn text_of<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    match get(value, key)? {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// The member of a table, to change it.
pub(super) fn get_mut<'v>(value: &'v mut Value, key: &str) -> Option<&'v mut Value> {
    match value {
        Value::Table(members) => {
            members.iter_mut().find(|member| member.key == key).map(|member| &mut member.node.value)
        }
        _ => None,
    }
}

/// Sets a member of a table.
pub(super) fn set(value: &mut Value, key: &str, to: Value) {
    if let Some(member) = get_mut(value, key) {
        *member = to;
    } else if let Value::Table(members) = value {
        members.push(entry(key, to));
    }
}

/// Takes members out of a table.
pub(super) fn remove(value: &mut Value, keys: &[&str]) {
    if let Value::Table(members) = value {
        members.retain(|member| !keys.contains(&member.key.as_str()));
    }
}

/// What becomes of members that hold bytes, spelled in Base64, where a value is read as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bytes {
    /// They are looked at by themselves, as what they are the bytes of: in what a tool, a prompt or a resource brings, and nowhere else.
    Apart,
    /// They are texts like all others.
    Text,
}

/// The members that hold bytes.
const BYTES: &[&str] = &["data", "blob"];

/// The members of a result whose shape is the server's own: a model reads them as they are written.
const OWN_SHAPE: &[&str] = &["_meta", "structuredContent"];

impl Bytes {
    /// Whether a member of a table holds bytes: the table says what kind of bytes, and they are spelled as bytes are.
    fn has(self, table: &Value, key: &str) -> bool {
        let spelled =
            |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
        let is_kind = match key {
            "data" => matches!(text_of(table, "type"), Some("image" | "audio")),
            "blob" => get(table, "uri").is_some(),
            _ => false,
        };
        self == Self::Apart && is_kind && text_of(table, key).is_some_and(spelled)
    }

    /// The same for what is in a member.
    fn within(self, key: &str) -> Self {
        if OWN_SHAPE.contains(&key) { Self::Text } else { self }
    }

    /// What of a value is text: the same value without what holds bytes.
    pub(super) fn readable(self, value: &Value) -> Json {
        match value {
            Value::List(items) => items.iter().map(|item| self.readable(&item.value)).collect(),
            Value::Table(members) => {
                let said = members.iter().filter(|member| !self.has(value, &member.key));
                said.map(|member| (member.key.clone(), self.within(&member.key).readable(&member.node.value)))
                    .collect()
            }
            plain => plain.to_json(),
        }
    }

    /// Puts a cleaned value in the place of the one that it was made of by [`Bytes::readable`]. Numbers stay as they were written, and
    /// bytes that were left out stay.
    pub(super) fn put(self, value: &mut Value, cleaned: &Json) {
        match (&mut *value, cleaned) {
            (Value::Text(text), Json::String(clean)) => text.clone_from(clean),
            (Value::List(items), Json::Array(clean)) if items.len() == clean.len() => {
                items.iter_mut().zip(clean).for_each(|(item, clean)| self.put(&mut item.value, clean));
            }
            (Value::Table(_), Json::Object(clean)) => self.put_table(value, clean),
            (Value::Number(_), Json::Number(_))
            | (Value::Flag(_), Json::Bool(_))
            | (Value::Nothing, Json::Null) => {}
            _ => *value = made(cleaned),
        }
    }

    fn put_table(self, value: &mut Value, clean: &serde_json::Map<String, Json>) {
        let bytes: Vec<&str> = BYTES.iter().filter(|key| self.has(value, key)).copied().collect();
        let Value::Table(members) = value else { return };
        let is_left_out = |member: &TableEntry| bytes.contains(&member.key.as_str());
        let is_same = members.iter().all(|member| clean.contains_key(&member.key) || is_left_out(member));
        if !is_same || members.len() != clean.len() + bytes.len() {
            // A name was cleaned, which is then the name of another member.
            let kept: Vec<TableEntry> =
                members.iter().filter(|member| is_left_out(member)).cloned().collect();
            let others = clean.iter().map(|(key, value)| entry(key, made(value)));
            *value = Value::Table(others.chain(kept).collect());
            return;
        }
        for member in members {
            if let Some(clean) = clean.get(&member.key) {
                self.within(&member.key).put(&mut member.node.value, clean);
            }
        }
    }

    /// Every text that holds bytes, and so is none of what [`Bytes::readable`] returns.
    pub(super) fn each<'v>(self, value: &'v Value, found: &mut Vec<&'v str>) {
        match value {
            Value::List(items) => items.iter().for_each(|item| self.each(&item.value, found)),
            Value::Table(members) => members.iter().for_each(|member| match &member.node.value {
                Value::Text(text) if self.has(value, &member.key) => found.push(text),
                inner => self.within(&member.key).each(inner, found),
            }),
            _ => {}
        }
    }
}

/// The same value in this form.
pub(super) fn made(json: &Json) -> Value {
    match json {
        Json::Null => Value::Nothing,
        Json::Bool(flag) => Value::Flag(*flag),
        Json::Number(number) => Value::Number(number.to_string()),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(|item| node(made(item))).collect()),
        Json::Object(members) => {
            Value::Table(members.iter().map(|(key, value)| entry(key, made(value))).collect())
        }
    }
}
