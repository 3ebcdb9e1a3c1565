//! The messages of backends that are programs, and labels for what they make elsewhere.
//!
//! `EXTERNAL.md` documents the protocol. The programs of a release use the part of it that is trusted: a program that lies beside
//! `stockade` is asked about a whole [`SandboxRequest`], and its answers are believed.

use std::io;

use super::engine;

pub use super::external::{
    BackendLine, EndCause, NamedGap, NamedMeans, NetworkRequest, RefusedRequest, SandboxRequest,
    WorkspaceSeen,
};

/// Returns a label for what this process makes elsewhere: its boot, its PID namespace, its PID and when it began.
///
/// # Errors
/// When `/proc` cannot be read.
pub fn owner_label() -> io::Result<String> {
    engine::owner_label()
}

/// Returns whether the process of this label ran on this machine and has ended.
#[must_use]
pub fn is_orphaned(label: &str) -> bool {
    engine::is_orphaned(label)
}
