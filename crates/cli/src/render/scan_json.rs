//! The answer of `scan` for programs: one document, written as the files come, so that its size does not matter.

use serde::Serialize;
use stockade_guard::FileScan;
use stockade_guard::scanner::{Finding, Severity};

use super::json::to_json;
use crate::report::fields::{is_false, path_text};
use crate::report::scan_tally::{GapRow, Gaps, ScanTally, SurfaceRow};
use crate::report::set_aside::{SetAside, SetAsideRow};

/// How the document begins. The findings of each file follow.
pub(crate) const HEAD: &str = "{\"findings\":[";

/// A finding and the file that it is in.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row<'a> {
    pub(crate) path: &'a str,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) path_is_lossy: bool,
    #[serde(flatten)]
    pub(crate) finding: &'a Finding<'a>,
}

/// What follows the findings.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tail<'a> {
    incomplete: &'a [GapRow],
    not_scanned: &'a [GapRow],
    #[serde(skip_serializing_if = "Option::is_none")]
    excluded: Option<Excluded<'a>>,
    /// Findings that do not count, since somebody said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    set_aside: Option<SetAsideList<'a>>,
    /// What runs or instructs because it is there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    surfaces: Vec<&'a SurfaceRow>,
    /// How many more rows the lists above would have, had they no limit.
    #[serde(skip_serializing_if = "is_zero")]
    unlisted: usize,
    files: usize,
    clean: bool,
    worst: Option<Severity>,
    truncated: bool,
}

/// What was left out because the command line said so.
#[derive(Serialize)]
struct Excluded<'a> {
    count: usize,
    paths: &'a [GapRow],
}

/// What was set aside, and what was told of lists that say so.
#[derive(Serialize)]
struct SetAsideList<'a> {
    findings: usize,
    rows: &'a [SetAsideRow],
}

/// Returns the findings of one file, each on a line and with a comma before it.
pub(crate) fn file(scan: &FileScan<'_>) -> String {
    let (path, path_is_lossy) = path_text(scan.path);
    scan.report.findings.iter().fold(String::new(), |mut out, finding| {
        out.push_str(",\n");
        out.push_str(&to_json(&Row { path: &path, path_is_lossy, finding }));
        out
    })
}

impl<'a> Tail<'a> {
    pub(crate) fn of(tally: &'a ScanTally) -> Self {
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
pub(crate) fn tail(tally: &ScanTally) -> String {
    let tail = to_json(&Tail::of(tally));
    format!("\n],{}\n", tail.strip_prefix('{').unwrap_or_default())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}
