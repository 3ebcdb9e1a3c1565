//! The keys of a configuration: the type, default, documentation and narrowing rule of each. They derive from the fields of
//! [`Settings`].

use crate::kind::Kind;
use crate::narrow::Narrows;
use crate::settings::{Rows, Settings};

/// A key of a configuration.
#[derive(Debug, Clone, Copy)]
pub struct ConfigKey {
    /// Its path. `<id>` matches the id of an agent or `*`, which applies to all agents; `<tool>` matches the name of a tool, and
    /// `<rule>` the id of a scanner rule.
    pub path: &'static str,
    /// The type of its value.
    pub(crate) kind: Kind,
    /// The default value, as JSON.
    pub default: &'static str,
    /// How a project may change it.
    pub(crate) narrows: Narrows,
    /// Its documentation.
    pub doc: &'static str,
}

/// Every key, in the order of the documentation.
pub(crate) static KEYS: &[ConfigKey] = <Settings as Rows>::ROWS;

impl ConfigKey {
    /// Returns the key of a path that contains an agent's id.
    pub(crate) fn of(path: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| may_fit(key.path, path) && fits(key.path, path))
    }

    /// Whether it configures one tool or rule, so that it need not be set at all.
    pub(crate) fn is_of_one(&self) -> bool {
        self.path.contains("<tool>") || self.path.contains("<rule>")
    }

    /// Describes the type of its value for users.
    #[must_use]
    pub fn holds(&self) -> String {
        self.kind.words()
    }

    /// Describes for users how a project may change it.
    #[must_use]
    pub fn project(&self) -> &'static str {
        self.narrows.words()
    }
}

/// Tells most rows from a path without a look at each part, and nearly all by one byte.
fn may_fit(row: &str, path: &str) -> bool {
    let last = |text: &str| text.as_bytes().last().copied();
    if last(row) != last(path) && last(row) != Some(b'>') {
        return false;
    }
    match row.split_once('<') {
        None => row == path,
        Some((start, rest)) => {
            path.starts_with(start) && rest.rsplit('>').next().is_some_and(|end| path.ends_with(end))
        }
    }
}

/// Whether a row matches a path.
fn fits(row: &str, path: &str) -> bool {
    let (mut left, mut right) = (row.split('.'), path.split('.'));
    loop {
        match (left.next(), right.next()) {
            (None, None) => return true,
            (Some(left), Some(right)) if stands_for(left, right) => {}
            _ => return false,
        }
    }
}

/// Whether a part of a row matches a part of a path.
pub(super) fn stands_for(row: &str, name: &str) -> bool {
    match row {
        _ if row == name => true,
        "<id>" => is_agent(name),
        "<tool>" => is_tool(name),
        // Whether the rule exists is checked later, where the error can suggest another id.
        "<rule>" => is_tool(name),
        _ => false,
    }
}

/// Whether a part of a row is a placeholder.
pub(super) fn is_open(row: &str) -> bool {
    row.starts_with('<')
}

/// Whether a tool may have this name in a configuration.
fn is_tool(name: &str) -> bool {
    let named = |byte: u8| byte.is_ascii_alphanumeric() || b"-_:".contains(&byte);
    !name.is_empty() && name.len() <= 128 && name.bytes().all(named)
}

/// Whether an agent may have this id. `*` applies to all agents.
pub(crate) fn is_agent(id: &str) -> bool {
    let named = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    id == "*" || (!id.is_empty() && id.len() <= 64 && id.bytes().all(named))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_whole() {
        for key in KEYS {
            let default = serde_json::from_str(key.default).unwrap();
            assert_eq!(key.kind.check(&default), Ok(()), "{}", key.path);
            assert_eq!(KEYS.iter().filter(|other| other.path == key.path).count(), 1, "{}", key.path);
            assert!(key.doc.ends_with('.'), "{}", key.path);
        }
    }
}
