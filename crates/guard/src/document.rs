//! A document of any of the formats, with the place of everything in it.

use std::fmt;

#[cfg(any(feature = "config", feature = "container"))]
mod json;
mod nearest;
#[cfg(any(feature = "config", feature = "container"))]
mod places;
#[cfg(feature = "config")]
mod toml;
mod yaml;

pub(crate) use nearest::nearest;

/// The longest document, in bytes. Aliases may repeat what is in it a few hundred times.
pub(crate) const LONGEST: usize = 256 << 10;

/// A place in a text, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct At {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) at: At,
    pub(crate) value: Value,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Nothing,
    Flag(bool),
    /// A number, as it is written.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key of a table, and its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) at: At,
    pub(crate) key: String,
    pub(crate) node: Node,
}

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    #[cfg(feature = "config")]
    Toml,
    Yaml,
    #[cfg(any(feature = "config", feature = "container"))]
    Json,
}

/// A text is no document of its format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Broken {
    pub(crate) at: At,
    pub(crate) reason: String,
}

impl At {
    pub(crate) const START: Self = Self { line: 1, column: 1 };

    /// The same place in a text that has `lines` more lines before it.
    pub(crate) fn below(self, lines: usize) -> Self {
        Self { line: self.line + lines, ..self }
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

impl Value {
    /// Returns what the value is, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Flag(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }

    /// Returns the value of a key, if this is a table that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        match self {
            Self::Table(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// Returns a text, or a number or a flag as it is written: `version: 1.0` means a text to whoever wrote it.
    pub(crate) fn words(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Number(text) => Some(text),
            Self::Flag(true) => Some("true"),
            Self::Flag(false) => Some("false"),
            Self::Nothing | Self::List(_) | Self::Table(_) => None,
        }
    }

    /// Returns the same as JSON. A number that JSON cannot hold becomes a text.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match self {
            Self::Nothing => Json::Null,
            Self::Flag(flag) => Json::Bool(*flag),
            Self::Number(number) => number
                .parse()
                .map(serde_json::Number::into)
                .unwrap_or_else(|_: serde_json::Error| Json::String(number.clone())),
            Self::Text(text) => Json::String(text.clone()),
            Self::List(nodes) => nodes.iter().map(|node| node.value.to_json()).collect(),
            Self::Table(entries) => {
                entries.iter().map(|entry| (entry.key.clone(), entry.node.value.to_json())).collect()
            }
        }
    }
}

/// Parses a text that is not longer than [`LONGEST`].
pub(crate) fn parse(text: &str, format: Format) -> Result<Node, Broken> {
    if text.len() > LONGEST {
        let reason = format!("it has {} bytes, and {LONGEST} is the most", text.len());
        return Err(Broken { at: At::START, reason });
    }
    match format {
        #[cfg(feature = "config")]
        Format::Toml => toml::parse(text),
        Format::Yaml => yaml::parse(text),
        #[cfg(any(feature = "config", feature = "container"))]
        Format::Json => json::parse(text),
    }
}

/// Makes an error of what a parser says, without the place that it repeats and without its drawing.
fn broken(at: At, message: &str) -> Broken {
    let line = message.lines().find(|line| !line.trim().is_empty()).unwrap_or(message);
    let reason = line.split_once(" at line ").map_or(line, |(reason, _)| reason).trim().to_owned();
    Broken { at, reason }
}

#[cfg(test)]
mod tests {
    use super::{Format, Value, parse};

    #[test]
    fn values_keep_their_kind_their_spelling_and_their_place() {
        let node = parse("a: 1.0\nb: [yes, 'x', ~]\nc:\n  d: 12 # twelve\n", Format::Yaml).unwrap();
        let of = |key| &node.value.get(key).unwrap().node;
        assert_eq!(of("a").value.words(), Some("1.0"));
        let Value::List(list) = &of("b").value else { panic!() };
        let kinds: Vec<_> = list.iter().map(|node| node.value.kind()).collect();
        assert_eq!(kinds, ["true or false", "a text", "nothing"]);
        let inner = of("c").value.get("d").unwrap();
        assert_eq!((inner.at.line, inner.at.column), (4, 3));
        assert_eq!(inner.node.value.words(), Some("12"));
    }

    #[test]
    fn what_is_hostile_is_refused_with_its_place() {
        let bomb = "a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c]\ne: [*d,*d,*d,*d]\n";
        let deep = format!("a: {}1{}\n", "[".repeat(500), "]".repeat(500));
        let long = format!("a: {}\n", "x".repeat(300 << 10));
        for (text, line) in [
            ("a: 1\na: 2\n", 2),
            ("a: [1\n", 1),
            ("a: *nobody\n", 1),
            (bomb, 4),
            (&deep, 1),
            (&long, 1),
            ("a: 1\n---\nb: 2\n", 2),
        ] {
            let broken = parse(text, Format::Yaml).unwrap_err();
            assert_eq!(broken.at.line, line, "{:?}: {}", text.get(..20), broken.reason);
        }
    }
}
