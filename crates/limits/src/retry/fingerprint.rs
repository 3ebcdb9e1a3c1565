//! Which calls are the same call.

/// What identifies the arguments of a call. Two calls that share one by accident are at worst refused together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Returns the fingerprint of arguments written as text, which must be written alike to be alike.
    #[must_use]
    pub fn of_text(arguments: &str) -> Self {
        Self(hash(arguments.bytes()))
    }

    /// Returns the fingerprint of JSON arguments, whatever the order of their keys.
    #[cfg(feature = "script")]
    #[must_use]
    pub fn of_json(arguments: &serde_json::Value) -> Self {
        let mut text = String::new();
        write_canonical(arguments, &mut text);
        Self::of_text(&text)
    }
}

/// FNV-1a: the same on every machine and in every version, as a snapshot needs.
fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(feature = "script")]
fn write_canonical(value: &serde_json::Value, text: &mut String) {
    use serde_json::Value;
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

#[cfg(all(test, feature = "script"))]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_order_of_keys_does_not_matter_and_everything_else_does() {
        let of = |value| Fingerprint::of_json(&value);
        assert_eq!(of(json!({"a": 1, "b": {"c": 2, "d": 3}})), of(json!({"b": {"d": 3, "c": 2}, "a": 1})));
        let different =
            [json!([1, 2]), json!([2, 1]), json!("12"), json!(12), json!({"1": 2}), json!([[1], 2])];
        let fingerprints: std::collections::BTreeSet<_> = different.into_iter().map(of).collect();
        assert_eq!(fingerprints.len(), 6);
    }
}
