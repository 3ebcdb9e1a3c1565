//! The answer of `scan` as lines: of JSON for programs that read along, and of commands for GitHub's workflows.

use serde::Serialize;
use stockade_guard::admission::{Coverage, FileScan};
use stockade_guard::scanner::Severity;

use stockade_text::{escape, escape_path};

use stockade_guard::admission::scan_report::ScanTally;
use stockade_guard::admission::scan_report::SetAsideRow;
use stockade_guard::admission::scan_report::path_text;
use stockade_guard::admission::scan_report::{FindingRow, ScanSummary};
use stockade_text::to_printable_json;

/// Returns the findings of one file as lines of JSON.
pub(crate) fn jsonl(scan: &FileScan<'_>) -> String {
    let (path, path_is_lossy) = path_text(scan.path);
    let row = |finding| to_printable_json(&FindingRow { path: &path, path_is_lossy, finding }) + "\n";
    scan.report.findings.iter().map(row).collect()
}

/// Returns the last line: what the others add up to.
pub(crate) fn jsonl_summary(tally: &ScanTally) -> String {
    #[derive(Serialize)]
    struct Summary<'t> {
        summary: ScanSummary<'t>,
    }
    to_printable_json(&Summary { summary: ScanSummary::of(tally) }) + "\n"
}

/// Returns the findings of one file as commands that a workflow shows beside the lines of a change.
pub(crate) fn github(scan: &FileScan<'_>) -> String {
    let path = property(&escape_path(scan.path));
    let findings = scan.report.findings.iter().map(|finding| {
        let level = if finding.severity == Severity::Critical { "error" } else { "warning" };
        let message = format!("{}. {}", finding.description, finding.remedy);
        format!(
            "::{level} file={path},line={},col={},title={}::{}\n",
            finding.line,
            finding.column,
            property(&escape(finding.rule_id)),
            data(&escape(&message)),
        )
    });
    let gap = scan.gap.as_ref().and_then(|gap| {
        let (level, title) = match gap.coverage() {
            Coverage::Listed => return None,
            Coverage::Excluded => ("notice", "excluded"),
            Coverage::Opaque => ("notice", "not looked into"),
            Coverage::Incomplete => ("warning", "not scanned"),
        };
        Some(format!("::{level} file={path},title={title}::{}\n", data(&escape(&gap.to_string()))))
    });
    findings.chain(gap).collect()
}

/// Returns what the workflow is told at the end: what was set aside.
pub(crate) fn github_summary(tally: &ScanTally) -> String {
    let row = |row: &SetAsideRow| {
        format!("::notice title=set aside::{}: {}\n", data(&row.shown_path), data(&row.told))
    };
    let sum = tally.set_aside.sum().map(|sum| format!("::notice title=set aside::{sum}\n"));
    sum.into_iter().chain(tally.set_aside.rows.iter().map(row)).collect()
}

/// What would end a message, written out.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// What would end a property of a command, written out.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
