//! What is another in a definition, so that a person can read it.

use serde_json::Value;
use stockade_text::escape;

/// The most places that are told.
const MAX_PLACES: usize = 5;

/// The most characters of each side.
const MAX_SHOWN: usize = 160;

/// Says where two definitions differ.
pub(super) fn difference(before: &str, after: &str) -> String {
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or(Value::Null);
    let mut found = Vec::new();
    differ("", Some(&read(before)), Some(&read(after)), &mut found);
    let more = found.len().saturating_sub(MAX_PLACES);
    found.truncate(MAX_PLACES);
    if more > 0 {
        found.push(format!("and {more} more"));
    }
    found.join("; ")
}

fn differ(path: &str, before: Option<&Value>, after: Option<&Value>, found: &mut Vec<String>) {
    match (before, after) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            for key in old.keys().chain(new.keys().filter(|key| !old.contains_key(*key))) {
                let path =
                    if path.is_empty() { escape(key).to_string() } else { format!("{path}.{}", escape(key)) };
                differ(&path, old.get(key), new.get(key), found);
            }
        }
        _ if before == after => {}
        _ => found.push(format!("`{path}` was {} and is {}", shown(before, after), shown(after, before))),
    }
}

/// One side, from shortly before where it begins to differ.
fn shown(one: Option<&Value>, other: Option<&Value>) -> String {
    let text = |value: Option<&Value>| match value {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    if one.is_none() {
        return "not there".to_owned();
    }
    let (one, other) = (text(one), text(other));
    let same = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(20);
    let part: String = one.chars().skip(from).take(MAX_SHOWN).collect();
    let (before, behind) =
        (if from > 0 { "…" } else { "" }, if one.chars().nth(from + MAX_SHOWN).is_some() { "…" } else { "" });
    format!("\"{before}{}{behind}\"", escape(&part))
}
