//! Where things are kept that lay under a protected name after a command: taken there by the sweep, and listed, given back or
//! dropped by a person.
//!
//! ```text
//!  quarantine/              0700
//!    1ylw9v2k3x4a/          one group for each command that left something: when that was, in digits
//!      origins              what each thing is, where it lay, and which command left it
//!      1-.vscode            the things themselves, numbered
//! ```
//!
//! A thing is moved and never copied, so it keeps its identity, and no link in it is followed. Where it cannot be moved to
//! here, as from another disk, it stays in its folder under a name that no program obeys, and is listed all the same. Whatever
//! is done to it later is done below descriptors, to the thing of that identity and to no other.
//!
//! All of it is bounded: [`MAX_GROUPS`], [`MAX_BYTES`], [`MAX_AGE`]. What goes beyond is dropped, the oldest first, and that is
//! told.

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
pub use entry::{HeldKind, QuarantineEntry};
pub use error::QuarantineError;
pub(crate) use folder::names;
pub(crate) use quarantine_move::{Taken, Taker, Taking, as_text};
pub(crate) use remove::remove as remove_all;
pub use remove::remove_tree;
pub use store::QuarantineStore;

#[cfg(test)]
mod tests;
