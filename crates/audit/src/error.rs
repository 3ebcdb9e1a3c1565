//! Why something could not be put on record or read back.

use std::fmt;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why the audit trail could not be opened, written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The file or its folder cannot be used.
    #[error("cannot use the audit trail{}: {doing}: {source}", place(path))]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// Why it failed.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The file was written by a newer version.
    #[error("the audit trail in {} has the format {found}, and this version supports up to {known}: update stockade", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The form of the file.
        found: i64,
        /// The form that this version writes.
        known: i64,
    },
    /// A record cannot be read.
    #[error("record {id} of the audit trail in {} is damaged: {reason}; for details, run `stockade audit verify`", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The number of the record, or the line.
        id: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The path does not mean the file any more that was opened, or is not its only name.
    #[error("the audit trail in {} {how}", path.display())]
    Displaced {
        /// The file.
        path: PathBuf,
        /// What became of it.
        how: Displaced,
    },
    /// Something stands in the database that could swallow, change or hide records.
    #[error(
        "the audit trail in {} has a schema that Stockade did not create and that could suppress records: {}; for \
         details, run `stockade audit verify`; drop it with `sqlite3`, or use another trail with `--audit FILE`",
        path.display(),
        what.join("; ")
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is there and should not be, or is missing.
        what: Vec<String>,
    },
    /// The trail is another than the one that the register of its user knows.
    #[error(
        "the audit trail in {} {why}; for details, run `stockade audit verify`; to archive it and start a new trail \
         that records this, run `stockade audit rotate`",
        path.display()
    )]
    Disagrees {
        /// The file.
        path: PathBuf,
        /// How they disagree.
        why: Disagreement,
    },
    /// A rotation of the trail was interrupted.
    #[error(
        "the rotation of the audit trail in {} to {} was interrupted: the next command that is recorded finishes it, or \
         `stockade audit rotate`",
        path.display(),
        to.display()
    )]
    Rotating {
        /// The file.
        path: PathBuf,
        /// Its new name.
        to: PathBuf,
    },
    /// A record was written and is not there.
    #[error("record {id} was written to the audit trail in {}, but is missing or different when read back", path.display())]
    NotKept {
        /// The file.
        path: PathBuf,
        /// The number of the record.
        id: u64,
    },
    /// The command that is to be put on record could change the trail.
    #[error(
        "the audit trail in {} is in {}, which is writable for the command, so the command could change its own \
         record; use `--audit FILE` or `audit.path` with a file outside of the workspace and of `--rw` directories, \
         or remove both to use the default",
        path.display(),
        within.display()
    )]
    WithinReach {
        /// The file.
        path: PathBuf,
        /// What the command may write.
        within: PathBuf,
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
    #[error("a thread panicked while it wrote to the audit trail; open the trail again")]
    Poisoned,
}

/// How a trail and what is known of it disagree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Disagreement {
    /// There is no trail any more.
    Gone {
        /// How many records are known.
        records: u64,
    },
    /// Records are missing at its end.
    Behind {
        /// The number of its last record.
        ends: u64,
        /// How many are known.
        records: u64,
    },
    /// A record is another one.
    Other {
        /// The number of the record.
        id: u64,
    },
    /// A record was added without the key.
    Unsealed {
        /// The number of the record.
        id: u64,
    },
    /// It was sealed, and no register here has its key.
    Unknown,
    /// Its checkpoints are not those that are known.
    Checkpoints,
    /// An anchor was told of other records.
    Anchor {
        /// How many there were.
        size: u64,
    },
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone { records: 1 } => f.write_str("was deleted, and had 1 record"),
            Self::Gone { records } => write!(f, "was deleted, and had {records} records"),
            Self::Behind { ends: 0, records } => write!(f, "is empty, and had {records} records"),
            Self::Behind { ends, records } => {
                write!(f, "ends with record {ends}, and had {records}: it was truncated, or is an older copy")
            }
            Self::Other { id } => {
                write!(f, "has a changed record {id}: it was rewritten, or is another trail")
            }
            Self::Unsealed { id } => write!(f, "has a record {id} that was not written by Stockade on this machine"),
            Self::Unknown => f.write_str(
                "was sealed with another key, or the trail state of this user with its key was deleted, so it \
                 cannot be continued",
            ),
            Self::Checkpoints => f.write_str("has changed checkpoints in the file beside it"),
            Self::Anchor { size } => write!(
                f,
                "does not have the {size} records that an anchor was told of: it was rewritten, or is an older copy"
            ),
        }
    }
}

/// What became of the file of a trail that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Displaced {
    /// Nothing is at its path any more.
    Gone,
    /// Another file is at its path.
    Replaced,
    /// It has a second name.
    Linked,
    /// Other users may write to it.
    Writable,
    /// It belongs to another user, who is not root.
    OfAnother {
        /// The owner.
        owner: u32,
    },
}

impl fmt::Display for Displaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OfAnother { owner } => {
                return write!(
                    f,
                    "belongs to user {owner}, who could change it; name another trail, or run it as that user"
                );
            }
            Self::Gone => {
                "was deleted or renamed while it was open, so nothing more can be recorded; restore it, or open a \
                 new trail"
            }
            Self::Replaced => {
                "was replaced by another file while it was open, so nothing more can be recorded; restore it, or \
                 open it again"
            }
            Self::Linked => {
                "has another hard link, through which it could be changed; delete one of the links"
            }
            Self::Writable => {
                "is writable by other users, who could change it; run `stockade audit verify`, then `chmod 600` on it"
            }
        })
    }
}

/// Where it is, if that is known already.
fn place(path: &Path) -> String {
    if path.as_os_str().is_empty() { String::new() } else { format!(" in {}", path.display()) }
}
