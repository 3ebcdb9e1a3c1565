//! Plain data: input and output of an evaluation.

use std::fmt;

/// A plain value. An object keeps its keys in order.
///
/// The names `__proto__`, `constructor` and `prototype` never occur as keys of a result.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Data {
    /// No value at all; as JSON it is `null`, and an object leaves it out.
    #[default]
    Undefined,
    /// `null`: no value, on purpose.
    Null,
    /// A boolean: `true` or `false`.
    Bool(bool),
    /// A number; in JSON, a value that is not finite is `null`.
    Number(f64),
    /// A string of Unicode text.
    Text(String),
    /// An array of any data.
    Array(Vec<Data>),
    /// An object: fields by name.
    Object(Vec<(String, Data)>),
}

impl Data {
    /// Whether JavaScript treats it as true.
    #[must_use]
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::Undefined | Self::Null => false,
            Self::Bool(value) => *value,
            Self::Number(number) => *number != 0.0 && !number.is_nan(),
            Self::Text(text) => !text.is_empty(),
            Self::Array(_) | Self::Object(_) => true,
        }
    }

    /// The field of an object.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Self> {
        let Self::Object(fields) = self else { return None };
        fields.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}

impl fmt::Display for Data {
    /// Writes JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undefined | Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) if number.is_finite() => {
                f.write_str(ryu_js::Buffer::new().format_finite(*number))
            }
            Self::Number(_) => f.write_str("null"),
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Array(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if at == 0 { "" } else { "," })?;
                }
                f.write_str("]")
            }
            Self::Object(fields) => {
                f.write_str("{")?;
                let there = fields.iter().filter(|(_, value)| *value != Self::Undefined);
                for (at, (key, value)) in there.enumerate() {
                    write!(f, "{}{}:{value}", if at == 0 { "" } else { "," }, quoted(key))?;
                }
                f.write_str("}")
            }
        }
    }
}

/// Returns the size of a text as a JSON string.
pub(crate) fn quoted_len(text: &str) -> usize {
    let len = |c: char| match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        c if c < ' ' => 6,
        c => c.len_utf8(),
    };
    text.chars().map(len).sum::<usize>() + 2
}

/// A text in JSON's quotes.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(quoted_len(text));
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

impl From<bool> for Data {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<f64> for Data {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<i32> for Data {
    fn from(number: i32) -> Self {
        Self::Number(f64::from(number))
    }
}

impl From<&str> for Data {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Data {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Data {
    fn from(items: Vec<T>) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

impl<K: Into<String>, const N: usize> From<[(K, Self); N]> for Data {
    fn from(fields: [(K, Self); N]) -> Self {
        Self::Object(fields.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_texts_are_as_long_as_foretold() {
        let all: String = (0..0x300).filter_map(char::from_u32).chain(['😀', '\u{10f800}']).collect();
        assert_eq!(quoted(&all).len(), quoted_len(&all));
        for c in all.chars() {
            assert_eq!(quoted(&c.to_string()).len(), quoted_len(&c.to_string()), "{c:?}");
        }
    }
}
