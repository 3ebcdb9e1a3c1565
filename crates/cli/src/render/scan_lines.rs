//! Output of `scan` as JSON lines, and as GitHub workflow commands.

use serde::Serialize;
use stockade_guard::admission::{Coverage, FileScan};
use stockade_guard::scanner::Severity;

use stockade_text::{escape, escape_path};

use super::told::told;

use stockade_guard::admission::scan_report::ScanTally;
use stockade_guard::admission::scan_report::SetAsideRow;
use stockade_guard::admission::scan_report::path_text;
use stockade_guard::admission::scan_report::{FindingRow, ScanSummary};
use stockade_text::to_printable_json;

/// Formats the attacks in one file as JSON lines.
pub(crate) fn jsonl(scan: &FileScan<'_>) -> String {
    let (path, path_is_lossy) = path_text(scan.path);
    let row = |finding| to_printable_json(&FindingRow { path: &path, path_is_lossy, finding }) + "\n";
    scan.report.groups().into_iter().map(row).collect()
}

/// Formats the last line: the totals.
pub(crate) fn jsonl_summary(tally: &ScanTally) -> String {
    #[derive(Serialize)]
    struct Summary<'t> {
        summary: ScanSummary<'t>,
    }
    to_printable_json(&Summary { summary: ScanSummary::of(tally) }) + "\n"
}

/// Formats the attacks in one file as workflow commands, which GitHub shows beside the changed lines.
pub(crate) fn github(scan: &FileScan<'_>) -> String {
    let path = property(&escape_path(scan.path));
    let groups = scan.report.groups();
    let findings = groups.iter().map(|group| {
        let finding = group.main;
        let level = if finding.severity == Severity::Critical { "error" } else { "warning" };
        let message = told(group);
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
            Coverage::Opaque => ("notice", "opaque"),
            Coverage::Incomplete => ("warning", "not scanned"),
        };
        Some(format!("::{level} file={path},title={title}::{}\n", data(&escape(&gap.to_string()))))
    });
    findings.chain(gap).collect()
}

/// Formats the notices at the end: suppressed and known findings.
pub(crate) fn github_summary(tally: &ScanTally) -> String {
    let row = |row: &SetAsideRow| {
        format!("::notice title=suppressed or known::{}: {}\n", data(&row.shown_path), data(&row.told))
    };
    let sum = tally.set_aside.sum().map(|sum| format!("::notice title=suppressed or known::{sum}\n"));
    sum.into_iter().chain(tally.set_aside.rows.iter().map(row)).collect()
}

/// Escapes a message.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
