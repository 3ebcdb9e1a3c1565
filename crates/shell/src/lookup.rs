//! Tables by program name, used for every command.
//!
//! ```
//! use stockade_shell::lookup::{by_name, last_name};
//!
//! static ROWS: [&[&str]; 2] = [&["rm", "unlink"], &["unlink"]];
//! let table = by_name(&ROWS, |row| row);
//! assert_eq!(table["unlink"].len(), 2);
//! assert!(table.contains_key(last_name("/bin/rm")));
//! ```

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// Facts about programs, by their names.
pub type ByName<V> = HashMap<&'static str, V, BuildHasherDefault<NameHasher>>;

/// A set of names of programs.
pub type Names = HashSet<&'static str, BuildHasherDefault<NameHasher>>;

/// Groups rows by their names, in the order of the rows.
#[must_use]
pub fn by_name<R>(
    rows: impl IntoIterator<Item = &'static R>,
    names: impl Fn(&R) -> &'static [&'static str],
) -> ByName<Vec<&'static R>> {
    let rows: Vec<&'static R> = rows.into_iter().collect();
    let count = rows.iter().map(|row| names(row).len()).sum();
    let mut table: ByName<Vec<&'static R>> = ByName::with_capacity_and_hasher(count, Default::default());
    for row in rows {
        names(row).iter().for_each(|name| table.entry(name).or_default().push(row));
    }
    table
}

/// Puts names into a set.
#[must_use]
pub fn names(names: &[&'static str]) -> Names {
    names.iter().copied().collect()
}

/// Returns the part after the last slash.
#[must_use]
pub fn last_name(path: &str) -> &str {
    let slash = path.bytes().rposition(|byte| byte == b'/');
    slash.and_then(|slash| path.get(slash + 1..)).unwrap_or(path)
}

/// A longer name is in no table, or differs when it is compared.
const LOOKED_AT: usize = 32;

/// FNV-1a (Fowler, Noll and Vo), which is fast for short names: every program of a command is looked up in several
/// tables, and most are in none. Collisions are easy to construct, so it is only for tables with fixed keys; an
/// attacker can choose the name to look up, which costs one probe.
#[derive(Debug)]
pub struct NameHasher(u64);

impl Default for NameHasher {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().take(LOOKED_AT) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_every_name_in_their_order() {
        static ROWS: [&[&str]; 3] = [&["a", "b"], &["b"], &["c"]];
        let table = by_name(&ROWS, |row| row);
        assert_eq!(table.get("a").map(Vec::as_slice), Some(&[&ROWS[0]][..]));
        assert_eq!(table.get("b").map(Vec::as_slice), Some(&[&ROWS[0], &ROWS[1]][..]));
        assert_eq!(table.get("d"), None);
    }

    #[test]
    fn the_last_name_of_a_path() {
        for (path, name) in [("ls", "ls"), ("/bin/ls", "ls"), ("bin/", ""), ("/", ""), ("", ""), ("ä/ö", "ö")]
        {
            assert_eq!(last_name(path), name, "{path}");
        }
    }
}
