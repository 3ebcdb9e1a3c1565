//! A parsed document of any format, in which every key and value has a position.

use std::fmt;
use std::path::Path;

use crate::position::TextPosition;

#[cfg(feature = "json")]
mod json;
#[cfg(feature = "toml")]
mod toml;
#[cfg(feature = "yaml")]
mod yaml;

/// Maximum nesting depth of lists and tables, in every format.
pub const MAX_NESTING: usize = 32;

/// A value and its position.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where the value begins. A value repeated by a YAML alias has the position of the alias.
    pub at: TextPosition,
    /// The value itself.
    pub value: Value,
}

/// A value of a document, independent of the format.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`, `~`, or a key without a value.
    Nothing,
    /// A boolean, `true` or `false`.
    Flag(bool),
    /// A number in its original spelling: as versions, `1.0` and `1.00` differ.
    Number(String),
    /// A TOML date or time in its original spelling.
    Date(String),
    /// A string, unquoted and unescaped.
    Text(String),
    /// A list of values in document order.
    List(Vec<Node>),
    /// A table of keys and values in document order. Keys are unique.
    Table(Vec<TableEntry>),
}

/// A key of a table and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct TableEntry {
    /// Where the key begins.
    pub at: TextPosition,
    /// The key, unquoted and unescaped.
    pub key: String,
    /// Its value.
    pub node: Node,
}

/// Format of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// A TOML document, version 1.0.
    #[cfg(feature = "toml")]
    Toml,
    /// YAML 1.2, a single document.
    #[cfg(feature = "yaml")]
    Yaml,
    /// A JSON document without comments.
    #[cfg(feature = "json")]
    Json,
}

/// The text is not valid in its format, or exceeds a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentError {
    /// Where the error was found.
    pub at: TextPosition,
    /// The parser's message.
    pub reason: String,
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.reason)
    }
}

impl std::error::Error for DocumentError {}

impl Format {
    /// File extensions and their formats.
    pub const EXTENSIONS: &[(&str, Self)] = &[
        #[cfg(feature = "toml")]
        ("toml", Self::Toml),
        #[cfg(feature = "yaml")]
        ("yaml", Self::Yaml),
        #[cfg(feature = "yaml")]
        ("yml", Self::Yaml),
        #[cfg(feature = "json")]
        ("json", Self::Json),
    ];

    /// Returns the format for the extension of a file name, in any case.
    #[must_use]
    pub fn of_path(path: impl AsRef<Path>) -> Option<Self> {
        let extension = path.as_ref().extension()?;
        Self::EXTENSIONS
            .iter()
            .find(|(known, _)| extension.eq_ignore_ascii_case(known))
            .map(|(_, format)| *format)
    }
}

impl Value {
    /// Returns the kind of the value for messages, such as `a list`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Flag(_) => "true or false",
            Self::Number(number) if is_fraction(number) => "a fraction",
            Self::Number(_) => "a number",
            Self::Date(_) => "a date",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }

    /// Returns the entry of a key, if this is a table that contains it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&TableEntry> {
        match self {
            Self::Table(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// Returns a string, or a number, date or boolean as written: the author of `version: 1.0` means a string.
    #[must_use]
    pub fn words(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Number(text) | Self::Date(text) => Some(text),
            Self::Flag(true) => Some("true"),
            Self::Flag(false) => Some("false"),
            Self::Nothing | Self::List(_) | Self::Table(_) => None,
        }
    }

    /// Returns an integer in any spelling of the formats: `-5`, `0x1f`, `0o17`, `0b11`, `1_000`.
    #[must_use]
    pub fn integer(&self) -> Option<i64> {
        let Self::Number(written) = self else { return None };
        let (sign, digits) = match written.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", written.strip_prefix('+').unwrap_or(written)),
        };
        let bases = [("0x", 16), ("0X", 16), ("0o", 8), ("0b", 2)];
        let based = bases.iter().find_map(|(prefix, base)| Some((digits.strip_prefix(prefix)?, *base)));
        let (digits, base) = based.unwrap_or((digits, 10));
        // `from_str_radix` would accept a second sign.
        let begins = digits.starts_with(|c: char| c.is_digit(base));
        begins.then(|| i64::from_str_radix(&format!("{sign}{}", digits.replace('_', "")), base).ok())?
    }

    /// Converts the value to JSON. A number that JSON cannot spell becomes an integer if it is one, otherwise a
    /// string.
    #[cfg(feature = "json")]
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match self {
            Self::Nothing => Json::Null,
            Self::Flag(flag) => Json::Bool(*flag),
            Self::Number(written) => written
                .parse()
                .map(serde_json::Number::into)
                .ok()
                .or_else(|| self.integer().map(Json::from))
                .unwrap_or_else(|| Json::String(written.clone())),
            Self::Text(text) | Self::Date(text) => Json::String(text.clone()),
            Self::List(nodes) => nodes.iter().map(|node| node.value.to_json()).collect(),
            Self::Table(entries) => {
                entries.iter().map(|entry| (entry.key.clone(), entry.node.value.to_json())).collect()
            }
        }
    }
}

/// Whether a number has a decimal point or an exponent. In base 16, `e` is a digit.
fn is_fraction(number: &str) -> bool {
    !number.starts_with("0x") && number.contains(['.', 'e', 'E'])
}

/// Parses a document of at most `max_bytes` bytes.
///
/// # Errors
/// When the text is longer, is not valid in its format, nests lists and tables deeper than [`MAX_NESTING`], or
/// repeats a key in one table. Two parsers may choose different values for a repeated key.
pub fn parse(text: &str, format: Format, max_bytes: usize) -> Result<Node, DocumentError> {
    if text.len() > max_bytes {
        let reason = format!("it has {} bytes; the maximum is {max_bytes}", text.len());
        return Err(DocumentError { at: TextPosition::START, reason });
    }
    match format {
        #[cfg(feature = "toml")]
        Format::Toml => toml::parse(text),
        #[cfg(feature = "yaml")]
        Format::Yaml => yaml::parse(text),
        #[cfg(feature = "json")]
        Format::Json => json::parse(text),
    }
}

/// Makes an error from a parser's message, without the position that it repeats and without its source excerpt.
fn broken(at: TextPosition, message: &str) -> DocumentError {
    let line = message.lines().find(|line| !line.trim().is_empty()).unwrap_or(message);
    let reason = line.split_once(" at line ").map_or(line, |(reason, _)| reason).trim().to_owned();
    DocumentError { at, reason }
}

/// Makes the error for lists and tables that nest too deeply.
#[cfg(any(feature = "json", feature = "toml"))]
fn too_deep(at: TextPosition) -> DocumentError {
    DocumentError { at, reason: format!("lists and tables are nested more than {MAX_NESTING} levels deep") }
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn whole_numbers_in_any_spelling() {
        for (written, wanted, kind) in [
            ("0", Some(0), "a number"),
            ("-17", Some(-17), "a number"),
            ("+1_000", Some(1000), "a number"),
            ("0x1F", Some(31), "a number"),
            ("0xe", Some(14), "a number"),
            ("-0o17", Some(-15), "a number"),
            ("0b11", Some(3), "a number"),
            ("010", Some(10), "a number"),
            ("9223372036854775807", Some(i64::MAX), "a number"),
            ("-9223372036854775808", Some(i64::MIN), "a number"),
            ("9223372036854775808", None, "a number"),
            ("1.0", None, "a fraction"),
            ("1e3", None, "a fraction"),
            (".inf", None, "a fraction"),
            ("--1", None, "a number"),
            ("0x-1", None, "a number"),
            ("_1", None, "a number"),
            ("", None, "a number"),
        ] {
            let number = Value::Number(written.to_owned());
            assert_eq!((number.integer(), number.kind()), (wanted, kind), "{written}");
        }
        assert_eq!(Value::Text("1".to_owned()).integer(), None);
    }

    #[cfg(feature = "json")]
    #[test]
    fn numbers_as_json() {
        for (written, wanted) in
            [("1", "1"), ("1.50", "1.5"), ("0x1F", "31"), ("+1_000", "1000"), (".inf", "\".inf\"")]
        {
            assert_eq!(Value::Number(written.to_owned()).to_json().to_string(), wanted, "{written}");
        }
    }
}
