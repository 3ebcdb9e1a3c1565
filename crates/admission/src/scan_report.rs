//! Totals of a scan: numbers, bounded lists of gaps, surfaces and set-aside findings, and their JSON document.
//!
//! A caller makes a [`ScanTally`] of each file during the scan, and adds them in order. [`JSON_HEAD`], the
//! [`findings_json`] of each file and [`summary_json`] together are one document, written while the files arrive.

mod counted;
mod fields;
mod groups;
mod json;
mod set_aside;
mod tally;

pub use counted::Counted;
pub use fields::path_text;
pub use groups::ScanGroups;
#[cfg(feature = "schema")]
pub use json::ScanDocument;
pub use json::{FindingRow, JSON_HEAD, ScanSummary, findings_json, summary_json};
pub use set_aside::{SetAside, SetAsideKind, SetAsideRow};
pub use tally::{GapRow, Gaps, ScanTally, SurfaceRow, Surfaces};
