//! Groups of equivalent commands.

use super::spelling::Spelling;

/// How similar two forms are, in decreasing order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sameness {
    /// Identical: a rule that allows one allows the other.
    Same,
    /// Same software and purpose, but not the same options: a rule that asks or denies applies to both.
    Alike,
    /// Same purpose with other software. A rule for a whole program does not apply to the other.
    Instead,
}

/// Equivalent forms of a command.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) sameness: Sameness,
    pub(super) spellings: Vec<Spelling>,
}
