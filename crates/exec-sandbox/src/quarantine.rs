//! The quarantine: files that were found under a protected name after a command. The sweep moves them here; the user lists,
//! restores or deletes them.
//!
//! ```text
//!  quarantine/              0700
//!    1ylw9v2k3x4a/          one group per command; the name is its time in base 36
//!      origins              the identity, the original path and the command of each entry
//!      1-.vscode            the entries, numbered
//! ```
//!
//! An entry is moved and never copied, so it keeps its identity, and symlinks in it are not followed. If it cannot be moved here,
//! for instance from another disk, it is renamed in its directory to a name that no program obeys, and is listed nevertheless.
//! Later operations use descriptors, and check the identity of the entry.
//!
//! Number, size and age are limited: [`MAX_GROUPS`], [`MAX_BYTES`], [`MAX_AGE`]. The oldest groups beyond a limit are deleted,
//! and this is reported.

#![expect(clippy::disallowed_methods, reason = "keeps what was taken away from workspaces")]

mod bounds;
mod entry;
mod error;
mod folder;
mod origin;
mod quarantine_move;
mod remove;
mod store;

pub use bounds::{MAX_AGE, MAX_BYTES, MAX_GROUPS};
pub use entry::{QuarantineEntry, QuarantinedKind};
pub use error::QuarantineError;
pub(crate) use folder::names;
pub(crate) use quarantine_move::{Taken, Taker, Taking};
pub(crate) use remove::remove as remove_all;
pub use remove::remove_tree;
pub use store::QuarantineStore;

#[cfg(test)]
mod tests;
