//! Helpers to build and change JSON values.

use serde_json::Value as Json;
use stockade_text::{Node, TableEntry, TextPosition, Value};

/// A value without a position.
pub(super) fn node(value: Value) -> Node {
    Node { at: TextPosition::START, value }
}

/// Returns an object with these members.
pub(super) fn table<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Table(members.into_iter().map(|(key, value)| entry(key, value)).collect())
}

fn entry(key: &str, value: Value) -> TableEntry {
    TableEntry { at: TextPosition::START, key: key.to_owned(), node: node(value) }
}

pub(super) fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

/// Returns a member of an object.
pub(super) fn get<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    value.get(key).map(|entry| &entry.node.value)
}

/// Returns a member at a path.
pub(super) fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| get(value, key))
}

/// Returns a member that is a string.
pub(super) fn text_of<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    match get(value, key)? {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// Returns a member for changing it.
pub(super) fn get_mut<'v>(value: &'v mut Value, key: &str) -> Option<&'v mut Value> {
    match value {
        Value::Table(members) => {
            members.iter_mut().find(|member| member.key == key).map(|member| &mut member.node.value)
        }
        _ => None,
    }
}

/// Sets a member of an object.
pub(super) fn set(value: &mut Value, key: &str, to: Value) {
    if let Some(member) = get_mut(value, key) {
        *member = to;
    } else if let Value::Table(members) = value {
        members.push(entry(key, to));
    }
}

/// Removes members of an object.
pub(super) fn remove(value: &mut Value, keys: &[&str]) {
    if let Value::Table(members) = value {
        members.retain(|member| !keys.contains(&member.key.as_str()));
    }
}

/// Treatment of members with Base64 content, when a value is read as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bytes {
    /// They are scanned separately as bytes: in results of tools, prompts and resources, and nowhere else.
    Apart,
    /// They are texts like all others.
    Text,
}

/// Members with Base64 content.
const BYTES: &[&str] = &["data", "blob"];

/// Members of a result whose shape the server defines. A model reads them as they are.
const OWN_SHAPE: &[&str] = &["_meta", "structuredContent"];

impl Bytes {
    /// Whether a member has Base64 content: the object declares a media type, and the member is encoded.
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

    /// The same for the content of a member.
    fn within(self, key: &str) -> Self {
        if OWN_SHAPE.contains(&key) { Self::Text } else { self }
    }

    /// Returns a value without its Base64 content.
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

    /// Merges a cleaned value into the value from which [`Bytes::readable`] made it. Numbers keep their notation, and omitted
    /// Base64 content is restored.
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
            // Cleaning changed a member's name, so it is another member.
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

    /// Returns all Base64 texts, which [`Bytes::readable`] omits.
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

/// Returns a value in this form.
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
