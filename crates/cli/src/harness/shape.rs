//! The texts of a result of a tool, in the shape that the tool gave it.

use serde_json::Value;

/// How deep a result is looked through.
const MAX_DEPTH: usize = 16;

/// The longest name of a member that is taken for part of a shape.
const MAX_NAME: usize = 32;

/// The texts of a result, and those names of members that are none of a shape: a server may put a text there too.
pub(super) fn texts(result: &Value) -> Result<Vec<&str>, String> {
    let mut texts = Vec::new();
    collect(result, MAX_DEPTH, &mut texts)?;
    Ok(texts)
}

/// What is deeper than anybody writes is not passed over.
fn collect<'v>(value: &'v Value, depth: usize, texts: &mut Vec<&'v str>) -> Result<(), String> {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(_) | Value::Object(_) if depth == 0 => {
            return Err("it is too deep to be looked through".to_owned());
        }
        Value::Array(items) => items.iter().try_for_each(|item| collect(item, depth - 1, texts))?,
        Value::Object(members) => members.iter().try_for_each(|(name, value)| {
            texts.extend(Some(name.as_str()).filter(|name| !is_plain(name)));
            collect(value, depth - 1, texts)
        })?,
        _ => {}
    }
    Ok(())
}

/// Whether the name of a member is one of a shape, and says nothing to anybody.
fn is_plain(name: &str) -> bool {
    name.len() <= MAX_NAME && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.$".contains(c))
}

/// The same result with every text cleaned, in the shape that its tool gave it.
pub(super) fn cleaned(value: &Value, clean: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(clean(text)),
        Value::Array(items) => items.iter().map(|item| cleaned(item, clean)).collect(),
        Value::Object(members) => {
            let name = |name: &String| if is_plain(name) { name.clone() } else { clean(name) };
            members.iter().map(|(known, value)| (name(known), cleaned(value, clean))).collect()
        }
        other => other.clone(),
    }
}

/// A result of the same shape with none of its texts.
pub(super) fn blank(value: &Value, reason: &str) -> Value {
    match value {
        Value::String(text) if is_plain(text) => value.clone(),
        Value::String(_) => Value::from(reason),
        Value::Array(items) => items.iter().map(|item| blank(item, reason)).collect(),
        Value::Object(members) => {
            let plain = members.iter().filter(|(name, _)| is_plain(name));
            plain.map(|(name, value)| (name.clone(), blank(value, reason))).collect()
        }
        other => other.clone(),
    }
}
