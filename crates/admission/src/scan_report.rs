//! What a scan adds up to: numbers, bounded lists of gaps, surfaces and findings that were set aside, and the JSON document of it.
//!
//! A caller makes a [`ScanTally`] of each file beside the scan, and adds them in order. [`JSON_HEAD`], [`findings_json`] of each
//! file and [`summary_json`] are one document, written while the files come.

mod counted;
mod fields;
mod groups;
mod json;
mod set_aside;
mod tally;

pub use counted::Counted;
pub use fields::path_text;
pub use groups::ScanGroups;
pub use json::{FindingRow, JSON_HEAD, ScanSummary, findings_json, summary_json};
pub use set_aside::{SetAside, SetAsideKind, SetAsideRow};
pub use tally::{GapRow, Gaps, ScanTally, SurfaceRow, Surfaces};
