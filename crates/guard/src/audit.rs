//! The audit trail: what was allowed, refused and run, in an order that cannot be changed unseen.
//!
//! ```text
//!  event ──► secrets out, sizes bounded ──► number, time, digest of the one before ──► on the disk ──► the action
//! ```
//!
//! - Each record holds the digest of the one before, so that [`AuditTrail::verify`] finds what was edited, removed, added
//!   or moved. Whoever can write to the file can write all of it anew, though: keep the [`Head`] in another place now and
//!   then, and that is found too.
//! - A start is on the disk before what it starts, and has exactly one end. Whatever ended without a word, be it by a
//!   crash or `kill -9`, gets its end when the trail is opened next; what another process still runs does not.
//! - An action that cannot be put on record is refused, unless [`Unrecorded::Warn`] was chosen.
//! - Secrets are taken out by a [`Redactor`] before anything is written, and every event is bounded.
//!
//! The database is read by any tool while it is written to:
//!
//! ```sql
//! SELECT * FROM audit_events WHERE event LIKE 'sandbox_%' ORDER BY timestamp DESC LIMIT 10;
//! ```

mod error;
mod event;
mod json_lines;
mod kind;
mod name;
mod ocsf;
mod query;
mod record;
mod recovery;
mod redact;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;
mod timestamp;
mod trail;
mod verify;
mod writers;

#[cfg(feature = "config")]
pub(crate) use name::new_name;

pub use error::AuditError;
pub use event::{AuditEvent, Detail};
pub use kind::{EventKind, EventPhase, EventSeverity};
pub use ocsf::to_ocsf;
pub use query::{AuditQuery, MAX_QUERY};
pub use record::{AuditRecord, Head};
pub use redact::Redactor;
pub use timestamp::Timestamp;
pub use trail::{AuditOptions, AuditTrail, AuditedRun, Recorded, Unrecorded};
pub use verify::{Fault, FaultKind, Verified};
