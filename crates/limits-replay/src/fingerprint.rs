//! Which JSON arguments are the same.

use serde_json::Value;
use stockade_limits::retry::Fingerprint;

/// Returns the fingerprint of JSON arguments, whatever the order of their keys.
pub(crate) fn fingerprint_of(arguments: &Value) -> Fingerprint {
    let mut text = String::new();
    write_canonical(arguments, &mut text);
    Fingerprint::of_text(&text)
}

fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            text.push('{');
            for (key, member) in members {
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write_canonical(member, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(elements) => {
            text.push('[');
            for element in elements {
                write_canonical(element, text);
                text.push(',');
            }
            text.push(']');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_keys_does_not_matter_and_everything_else_does() {
        let of = |value| fingerprint_of(&value);
        assert_eq!(of(json!({"a": 1, "b": {"c": 2, "d": 3}})), of(json!({"b": {"d": 3, "c": 2}, "a": 1})));
        let different =
            [json!([1, 2]), json!([2, 1]), json!("12"), json!(12), json!({"1": 2}), json!([[1], 2])];
        let fingerprints: BTreeSet<_> = different.into_iter().map(of).collect();
        assert_eq!(fingerprints.len(), 6);
    }
}
