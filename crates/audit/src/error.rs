//! Why something could not be put on record or read back.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why the audit trail could not be opened, written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The file or its folder cannot be used.
    #[error("the audit trail{} cannot be used: {doing} failed: {source}", place(path))]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// Why it failed.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The file was written by a newer version.
    #[error("the audit trail in {} has the form {found}; this version knows {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The form of the file.
        found: i64,
        /// The form that this version writes.
        known: i64,
    },
    /// A record cannot be read.
    #[error("record {id} of the audit trail in {} is damaged: {reason}; `stockade audit verify` says more", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The number of the record, or the line.
        id: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The event does not belong there.
    #[error("`{event}` {rule}")]
    Misused {
        /// The name of the event.
        event: &'static str,
        /// What it is for.
        rule: &'static str,
    },
    /// A thread panicked while it wrote.
    #[error("a thread panicked while it wrote to the audit trail; open it anew")]
    Poisoned,
}

/// Where it is, if that is known already.
fn place(path: &Path) -> String {
    if path.as_os_str().is_empty() { String::new() } else { format!(" in {}", path.display()) }
}
