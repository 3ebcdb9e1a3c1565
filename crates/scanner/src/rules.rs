//! The built-in rules: a folder for each family, a file for each rule.
//!
//! No list names them. `build.rs` gathers the files, so that a rule is added by adding a file, and two that are added at the same
//! time have no line in common.

pub(crate) mod shared;

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

use crate::rule::Rule;

/// Returns every built-in rule, family by family. A rule's number follows from it.
pub(crate) fn all() -> impl Iterator<Item = &'static Rule<'static>> {
    static TABLE: [&[Rule<'static>]; FAMILIES.len()] = FAMILIES;
    TABLE.iter().copied().flatten()
}
