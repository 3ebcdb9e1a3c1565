//! The built-in rules: a folder per family, a file per rule.
//!
//! No list names them. `build.rs` collects the files, so a new rule is a new file, and two branches that each add one
//! do not conflict.

pub(crate) mod shared;

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

use crate::rule::Rule;

/// Returns every built-in rule, family by family. This order determines a rule's number.
pub(crate) fn all() -> impl Iterator<Item = &'static Rule<'static>> {
    static TABLE: [&[Rule<'static>]; FAMILIES.len()] = FAMILIES;
    TABLE.iter().copied().flatten()
}
