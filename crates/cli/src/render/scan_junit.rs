//! Output of `scan` in JUnit format: one test for each file, which fails if it has findings.

use stockade_guard::admission::{Coverage, FileScan};
use stockade_text::escape_markup;

use stockade_text::{escape, escape_path};

use crate::report::fail_on::FailOn;
use stockade_guard::admission::scan_report::ScanTally;

/// Start of the document. The tests follow.
pub(crate) const HEAD: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"stockade scan\">\n";

/// Formats the test of one file. It fails if its findings make the scan fail.
pub(crate) fn file(scan: &FileScan<'_>, fail_on: FailOn) -> String {
    let name = xml(&escape_path(scan.path));
    let failures: String = scan
        .report
        .findings
        .iter()
        .filter(|finding| fail_on.covers(finding.severity))
        .map(|finding| {
            format!(
                "<failure type=\"{}\" message=\"{}\">{name}:{}:{} {}</failure>\n",
                xml(&escape(finding.rule_id)),
                xml(&escape(finding.description)),
                finding.line,
                finding.column,
                xml(&escape(finding.remedy)),
            )
        })
        .collect();
    let gap = scan.gap.as_ref().and_then(|gap| {
        let reason = xml(&escape(&gap.to_string()));
        match gap.coverage() {
            Coverage::Listed => None,
            Coverage::Opaque => Some(format!("<skipped message=\"opaque: {reason}\"/>\n")),
            Coverage::Excluded => Some(format!("<skipped message=\"{reason}\"/>\n")),
            Coverage::Incomplete => Some(format!("<error message=\"not scanned: {reason}\"/>\n")),
        }
    });
    let inside = failures + &gap.unwrap_or_default();
    if inside.is_empty() {
        return format!("<testcase classname=\"stockade.scan\" name=\"{name}\"/>\n");
    }
    format!("<testcase classname=\"stockade.scan\" name=\"{name}\">\n{inside}</testcase>\n")
}

/// Returns the end of the document.
pub(crate) fn tail(tally: &ScanTally) -> String {
    let cut =
        if tally.truncated { "<system-err>too many findings, some are omitted</system-err>\n" } else { "" };
    let rows = tally.set_aside.rows.iter().map(|row| format!("{}: {}", row.shown_path, row.told));
    let told: Vec<String> = tally.set_aside.sum().into_iter().chain(rows).map(|line| xml(&line)).collect();
    let told = match told.as_slice() {
        [] => String::new(),
        lines => format!("<system-out>{}</system-out>\n", lines.join("\n")),
    };
    format!("{told}{cut}</testsuite>\n</testsuites>\n")
}

/// Escapes text for XML. Control characters, which XML forbids, were escaped before.
fn xml(text: &str) -> String {
    escape_markup(text).into_owned()
}
