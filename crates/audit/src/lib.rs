//! A tamper-evident audit trail: what was allowed, refused and run, as a chain of hashed records.
//!
//! ```text
//!  event ──► redacted, bounded ──► number, time, digest of the record before ──► on the disk ──► the action
//! ```
//!
//! - Each record holds the digest of the one before, so that [`AuditTrail::verify`] finds what was edited, removed, added
//!   or moved. A user who can write to the file can rewrite all of it, though: with [`AuditOptions::register`], each record is
//!   sealed by a key that moves on, the state of the trail is kept apart from it, and [`Checkpoint`]s prove it to others.
//! - The start of a run is on the disk before the run begins, and has exactly one end. A run whose writer crashed or was
//!   killed gets its end when the trail is opened next; what another process still runs does not.
//! - An action that cannot be put on record is refused, unless [`Unrecorded::Warn`] was chosen.
//! - A [`Redactor`] takes secrets out before anything is written, and every event is bounded in size. Only free text is redacted:
//!   each column and detail has a kind by its type ([`TypedDetail`]), and numbers and words of closed vocabularies
//!   ([`ClosedWord`]) are recorded unchanged. So is an id ([`AuditId`]), unless it has the form of a well-known token: then it is
//!   redacted although its place marks it as an id.
//!
//! It decides nothing: what is allowed is the caller's business. It does I/O: it writes files that their owner alone
//! may read, waits for other writers, and reads the clock.
//!
//! ```
//! use stockade_audit::{AuditEvent, AuditOptions, AuditTrail, EventKind, field};
//!
//! let folder = tempfile::tempdir()?;
//! let trail = AuditTrail::open(&folder.path().join("audit.jsonl"), AuditOptions::default())?;
//! let run = trail.start(AuditEvent::new(EventKind::SandboxStarted).with(field::COMMAND, "make test"))?;
//! run.end(AuditEvent { exit_code: Some(0), ..AuditEvent::new(EventKind::SandboxCompleted) })?;
//! assert!(trail.verify(None)?.intact());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! With the feature `sqlite` a trail may also be a database, which any tool reads while it is written to:
//!
//! ```sql
//! SELECT * FROM audit_events WHERE event LIKE 'sandbox_%' ORDER BY timestamp DESC LIMIT 10;
//! ```
#![forbid(unsafe_code)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod anchor;
mod bytes;
mod checkpoint;
mod checkpoint_file;
#[cfg(feature = "sqlite")]
pub mod database;
mod detail;
mod digest;
mod error;
mod event;
pub mod field;
mod json_lines;
mod kind;
mod look_back;
mod marks;
mod merkle;
mod name;
mod ocsf;
mod opening;
mod otlp;
#[cfg(feature = "sqlite")]
mod pages;

mod lock_wait;
pub mod private;
mod query;
mod receipt;
mod record;
mod recovery;
mod register;
mod rotation;
#[cfg(feature = "sqlite")]
mod schema;
mod seal;
mod sealing;
#[cfg(feature = "sqlite")]
mod select;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;
mod trail;
mod trail_file;
mod verify;
mod writers;

pub use anchor::Anchor;
pub use checkpoint::Checkpoint;
pub use detail::{
    AuditId, AuditIds, AuditNumber, ClosedWord, ClosedWords, Detail, FreeText, FreeTexts, TypedDetail,
};
pub use error::{AuditError, Disagreement, Displaced};
pub use event::{AuditEvent, EventDetails};
pub use field::AuditField;
pub use kind::{EventKind, EventPhase, EventSeverity};
pub use marks::Reference;
pub use name::new_name;
pub use ocsf::to_ocsf;
pub use otlp::to_otlp;
pub use query::{AuditQuery, MAX_QUERY};
pub use receipt::{NoReceipt, Receipt, Unproven};
pub use record::{AuditRecord, Head};
pub use rotation::Rotated;
pub use stockade_credentials::Redactor;
pub use stockade_text::Timestamp;
pub use trail::{AuditOptions, AuditTrail, AuditedRun, Recorded, Unrecorded};
pub use verify::{Fault, FaultKind, Registered, Verified};
