//! JSON document of `scan`, written while the files arrive, so that its size does not matter.

use serde::Serialize;
use stockade_scanner::{Finding, Severity};

use super::fields::{is_false, path_text};
use super::set_aside::{SetAside, SetAsideRow};
use super::tally::{GapRow, Gaps, ScanTally, SurfaceRow};
use crate::FileScan;
use stockade_text::to_printable_json;

/// Start of the document. The findings of each file follow.
pub const JSON_HEAD: &str = "{\"findings\":[";

/// A finding and its file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FindingRow<'a> {
    /// The path as text.
    pub path: &'a str,
    #[serde(skip_serializing_if = "is_false")]
    /// Whether the path lost bytes that are not UTF-8.
    pub path_is_lossy: bool,
    #[serde(flatten)]
    /// The finding.
    pub finding: &'a Finding<'a>,
}

/// The part of the document behind the findings.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScanSummary<'a> {
    incomplete: &'a [GapRow],
    not_scanned: &'a [GapRow],
    #[serde(skip_serializing_if = "Option::is_none")]
    excluded: Option<Excluded<'a>>,
    /// Findings that were set aside at the caller's request.
    #[serde(skip_serializing_if = "Option::is_none")]
    set_aside: Option<SetAsideList<'a>>,
    /// Files that run or instruct because they exist.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    surfaces: Vec<&'a SurfaceRow>,
    /// Number of rows beyond the limits of the lists above.
    #[serde(skip_serializing_if = "is_zero")]
    unlisted: usize,
    files: usize,
    clean: bool,
    worst: Option<Severity>,
    truncated: bool,
}

/// Paths excluded on the command line.
#[derive(Debug, Serialize)]
struct Excluded<'a> {
    count: usize,
    paths: &'a [GapRow],
}

/// Findings that were set aside, and notes about ignored lists.
#[derive(Debug, Serialize)]
struct SetAsideList<'a> {
    findings: usize,
    rows: &'a [SetAsideRow],
}

/// Returns the findings of one file, one per line, each preceded by a comma.
pub fn findings_json(scan: &FileScan<'_>) -> String {
    let (path, path_is_lossy) = path_text(scan.path);
    scan.report.findings.iter().fold(String::new(), |mut out, finding| {
        out.push_str(",\n");
        out.push_str(&to_printable_json(&FindingRow { path: &path, path_is_lossy, finding }));
        out
    })
}

impl<'a> ScanSummary<'a> {
    /// Returns the numbers and lists of a tally.
    pub fn of(tally: &'a ScanTally) -> Self {
        let Gaps { rows: paths, total: count } = &tally.excluded;
        let SetAside { rows, total, findings, .. } = &tally.set_aside;
        Self {
            set_aside: (*total > 0).then_some(SetAsideList { findings: *findings, rows }),
            excluded: (*count > 0).then_some(Excluded { count: *count, paths }),
            incomplete: &tally.incomplete.rows,
            not_scanned: &tally.listed.rows,
            surfaces: tally.surfaces.rows.iter().chain(&tally.surfaces.scripts).collect(),
            unlisted: tally.surfaces.unlisted()
                + tally.incomplete.unlisted()
                + tally.listed.unlisted()
                + tally.excluded.unlisted()
                + (total - rows.len()),
            files: tally.files,
            clean: tally.clean(),
            worst: tally.worst(),
            truncated: tally.truncated,
        }
    }
}

/// Returns the end of the document.
pub fn summary_json(tally: &ScanTally) -> String {
    let tail = to_printable_json(&ScanSummary::of(tally));
    format!("\n],{}\n", tail.strip_prefix('{').unwrap_or_default())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}
