//! JSON document of `scan`, written while the files arrive, so that its size does not matter.

use serde::Serialize;
use stockade_scanner::{FindingGroup, Severity};

use super::fields::{is_false, path_text};
use super::set_aside::{SetAside, SetAsideRow};
use super::tally::{GapRow, Gaps, ScanTally, SurfaceRow};
use crate::FileScan;
use stockade_text::to_printable_json;

/// Start of the document. The findings of each file follow.
pub const JSON_HEAD: &str = "{\"findings\":[";

/// The findings about an attack, and their file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "FileFinding"))]
#[serde(rename_all = "camelCase")]
pub struct FindingRow<'a> {
    /// The file.
    pub path: &'a str,
    /// Whether bytes of the path that are not UTF-8 were replaced.
    #[serde(skip_serializing_if = "is_false")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub path_is_lossy: bool,
    #[serde(flatten)]
    /// The main finding, with the others.
    pub finding: FindingGroup<'a, 'a>,
}

/// The whole document, which is written part by part: see [`JSON_HEAD`].
#[cfg(feature = "schema")]
#[derive(Debug, schemars::JsonSchema)]
#[schemars(rename = "BundleReport", description = "The findings in a bundle.")]
pub struct ScanDocument<'a> {
    /// The findings, each with the path of its file.
    pub findings: Vec<FindingRow<'a>>,
    /// The rest.
    #[schemars(flatten)]
    pub summary: ScanSummary<'a>,
}

/// The part of the document behind the findings.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScanSummary<'a> {
    /// Files that could not be scanned completely.
    incomplete: &'a [GapRow],
    /// Files that are not text: media files (`media`), and files of unknown content, which keep the input from being clean.
    not_scanned: &'a [GapRow],
    /// Paths that the command line excludes.
    #[serde(skip_serializing_if = "Option::is_none")]
    excluded: Option<Excluded<'a>>,
    /// Findings that were set aside, and rules that the configuration disables.
    #[serde(skip_serializing_if = "Option::is_none")]
    set_aside: Option<SetAsideList<'a>>,
    /// Files that run programs or instruct agents by their presence, whether or not they have findings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    surfaces: Vec<&'a SurfaceRow>,
    /// The number of omitted rows of the lists above.
    #[serde(skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "schema", schemars(default))]
    unlisted: usize,
    /// The number of scanned files.
    files: usize,
    /// Whether everything was scanned and nothing was found.
    clean: bool,
    /// The worst severity.
    worst: Option<Severity>,
    /// Whether results were omitted because of a limit.
    truncated: bool,
}

/// Paths excluded on the command line.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ExcludedPaths"))]
struct Excluded<'a> {
    count: usize,
    paths: &'a [GapRow],
}

/// Findings that were set aside, and notes about ignored lists.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SetAsideFindings"))]
struct SetAsideList<'a> {
    findings: usize,
    rows: &'a [SetAsideRow],
}

/// Returns the attacks in one file, one per line, each preceded by a comma.
pub fn findings_json(scan: &FileScan<'_>) -> String {
    let (path, path_is_lossy) = path_text(scan.path);
    scan.report.groups().into_iter().fold(String::new(), |mut out, finding| {
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
