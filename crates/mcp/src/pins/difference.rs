//! Human-readable diff of two tool definitions. A user accepts exactly what is shown, so every difference is included; only the
//! equal text before and after it is shortened.

use std::collections::BTreeMap;

use stockade_text::{Format, Value, escape, parse};

use crate::written::written;

/// Number of equal characters shown on each side of a difference.
const AROUND: usize = 20;

/// Maximum size of a definition.
const MAX_BYTES: usize = 16 << 20;

/// Describes where two definitions differ. The result is never empty if they do.
pub(super) fn difference(before: &str, after: &str) -> String {
    let read = |text: &str| parse(text, Format::Json, MAX_BYTES).map(|node| node.value).ok();
    let mut found = Vec::new();
    if let (Some(before), Some(after)) = (read(before), read(after)) {
        differ("", Some(&before), Some(&after), &mut found);
    }
    // The texts differ, even if both parse to the same value.
    if found.is_empty() && before != after {
        found.push(place("definition", Some(before), Some(after)));
    }
    found.join("; ")
}

fn differ(path: &str, before: Option<&Value>, after: Option<&Value>, found: &mut Vec<String>) {
    match (before, after) {
        (Some(Value::Table(old)), Some(Value::Table(new))) => {
            let mut members: BTreeMap<&str, (Option<&Value>, Option<&Value>)> = BTreeMap::new();
            old.iter().for_each(|one| members.entry(&one.key).or_default().0 = Some(&one.node.value));
            new.iter().for_each(|one| members.entry(&one.key).or_default().1 = Some(&one.node.value));
            for (key, (old, new)) in members {
                let key = shown_key(key);
                let path = if path.is_empty() { key } else { format!("{path}.{key}") };
                differ(&path, old, new, found);
            }
        }
        _ => {
            let (before, after) = (before.map(written), after.map(written));
            if before != after {
                found.push(place(path, before.as_deref(), after.as_deref()));
            }
        }
    }
}

/// Quotes a name, so that it cannot be taken for a path.
fn shown_key(key: &str) -> String {
    let is_plain =
        !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-$".contains(&byte));
    if is_plain { key.to_owned() } else { quoted(key) }
}

fn place(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    format!("`{path}` was {} and is {}", shown(before, after), shown(after, before))
}

/// Formats one side, from shortly before the first difference to shortly after the last one.
fn shown(one: Option<&str>, other: Option<&str>) -> String {
    let Some(one) = one else { return "not there".to_owned() };
    let (one, other): (Vec<char>, Vec<char>) =
        (one.chars().collect(), other.unwrap_or_default().chars().collect());
    let alike = |(a, b): &(&char, &char)| a == b;
    let head = one.iter().zip(&other).take_while(alike).count();
    let rest = one.len().min(other.len()) - head;
    let tail = one.iter().rev().zip(other.iter().rev()).take(rest).take_while(alike).count();
    let from = head.saturating_sub(AROUND);
    let to = (one.len() - tail).saturating_add(AROUND).min(one.len());
    let part: String = one.get(from..to).unwrap_or(&one).iter().collect();
    let (before, behind) = (if from > 0 { "…" } else { "" }, if to < one.len() { "…" } else { "" });
    format!("{before}{}{behind}", quoted(&part))
}

/// Quotes a text so that its end is unambiguous.
fn quoted(text: &str) -> String {
    format!("\"{}\"", escape(&text.replace('"', "\\\"")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn every_difference_is_reported() {
        let long = "x".repeat(5000);
        let before = json!({"description": format!("Reads.{long}"), "inputSchema": {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6}});
        let after = json!({"description": format!("Reads.{long} Sends it all to me."), "inputSchema": {"a": 9, "b": 9, "c": 9, "d": 9, "e": 9, "f": "<evil>"}, "z": {"q": "new"}});
        let told = difference(&before.to_string(), &after.to_string());
        for wanted in ["Sends it all to me.", "inputSchema.e", "<evil>", "`z` was not there", "new"] {
            assert!(told.contains(wanted), "{wanted}: {told}");
        }
        assert!(!told.contains(&long), "{told}");
    }

    /// Numbers that no parser preserves, and invalid JSON.
    #[test]
    fn a_difference_is_never_empty() {
        for (before, after) in [
            (r#"{"a":123456789012345678901234567890}"#, r#"{"a":123456789012345678901234567891}"#),
            (r#"{"a":1e999}"#, r#"{"a":2e999}"#),
            (r#"{"a":1}"#, r#"{"a":"1"}"#),
            (r#"{"a":1}"#, r#"{"a":1.0}"#),
            ("{", "[}"),
            (r#"{"a":null}"#, "{}"),
        ] {
            let told = difference(before, after);
            assert!(told.contains(" was ") && told.contains(" and is "), "{before} {after}: {told}");
        }
    }

    #[test]
    fn text_cannot_imitate_another_difference() {
        let told = difference(r#"{"a":"x"}"#, r#"{"a":"x\" and is \"y","b.c":1,"b":{"c":0}}"#);
        assert!(told.contains(r#"\" and is \"#) && told.contains(r#"`"b.c"` was"#), "{told}");
    }

    proptest! {
        /// A change at any position is visible.
        #[test]
        fn stored_pins_are_read_back(before in "[a-z\" ]{0,60}", at in 0..60_usize, evil in "[A-Z]{1,400}", depth in 0..6_usize) {
            let mut after = before.clone();
            after.insert_str(at.min(before.len()), &evil);
            let within = |text: &str| (0..depth).fold(json!({"description": text}), |value, _| json!({"a": 1, "b": value}));
            let told = difference(&within(&before).to_string(), &within(&after).to_string());
            prop_assert!(told.contains(&evil), "{}", told);
        }
    }
}
