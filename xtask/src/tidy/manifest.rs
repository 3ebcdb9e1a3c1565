//! Reads the lines of a `Cargo.toml`: enough of TOML for the way in which this repository writes it.

use super::tree::{File, numbered};

/// A line `key = value` of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// The table that contains it, such as `dev-dependencies`.
    pub(super) table: String,
    /// The key as written, such as `serde` or `version.workspace`.
    pub(super) key: String,
    /// The value as written, or its first line.
    pub(super) value: String,
    /// Its line, from 1.
    pub(super) line: usize,
}

/// Returns the entries of a manifest. A table header of its own for a dependency (`[dependencies.serde]`) is an entry
/// of the table before the last dot too, so that no dependency is overlooked.
pub(super) fn entries(manifest: &File) -> Vec<Entry> {
    let mut table = String::new();
    let mut entries = Vec::new();
    for (line, text) in numbered(&manifest.text) {
        let text = text.trim();
        if text.starts_with('#') {
            continue;
        }
        if let Some(name) = text.strip_prefix('[').and_then(|text| text.split(']').next()) {
            table = name.trim_matches(['[', ']']).to_owned();
            if let Some((outer, key)) = table.rsplit_once('.') {
                entries.push(Entry {
                    table: outer.to_owned(),
                    key: key.to_owned(),
                    value: String::new(),
                    line,
                });
            }
        } else if let Some((key, value)) = text.split_once('=') {
            let (key, value) = (key.trim().trim_matches('"').to_owned(), value.trim().to_owned());
            entries.push(Entry { table: table.clone(), key, value, line });
        }
    }
    entries
}

impl Entry {
    /// Whether the entry is a dependency of any kind, for any platform.
    pub(super) fn is_dependency(&self) -> bool {
        self.table.ends_with("dependencies") && !self.table.starts_with("workspace")
    }

    /// The name of the dependency: `serde` of `serde.workspace` and of `serde`.
    pub(super) fn dependency(&self) -> &str {
        self.key.split('.').next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::*;

    #[test]
    fn dependencies_are_found_however_they_are_written() {
        let manifest = "[package]\nname = \"x\"\n[dependencies]\na.workspace = true\nb = { workspace = true } # why\n\
                        [target.'cfg(unix)'.dev-dependencies]\nc = \"1\"\n[build-dependencies.d]\nversion = \"1\"\n\
                        # e = \"1\"\n";
        let tree = Tree::of(&[("Cargo.toml", manifest)]);
        let all = entries(&tree.files[0]);
        let found: Vec<&str> =
            all.iter().filter(|entry| entry.is_dependency()).map(Entry::dependency).collect();
        assert_eq!(found, ["a", "b", "c", "d"]);
    }
}
