//! What the tables are made of.

use super::spelling::Spelling;

/// How much two spellings are the same. Later is less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sameness {
    /// One and the same thing: what allows one allows the other.
    Same,
    /// The same is done by the same software, though not to the last option: what asks or denies holds for both.
    Alike,
    /// Other software does the same. A rule about the whole of one says nothing about the other.
    Instead,
}

/// Equivalent forms of a command.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) sameness: Sameness,
    pub(super) spellings: Vec<Spelling>,
}
