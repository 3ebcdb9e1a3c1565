//! The answer of `scan` as a report of tests: one test for each file, which fails where something was found.

use stockade_guard::admission::{Coverage, FileScan};
use stockade_text::escape_markup;

use stockade_text::{escape, escape_path};

use crate::report::fail_on::FailOn;
use stockade_guard::admission::scan_report::ScanTally;

/// How the document begins. The tests follow.
pub(crate) const HEAD: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"stockade scan\">\n";

/// Returns the test of one file. What counts as a failure is what makes the scan fail.
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
            Coverage::Opaque => Some(format!("<skipped message=\"not looked into: {reason}\"/>\n")),
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
        if tally.truncated { "<system-err>more was found than a report holds</system-err>\n" } else { "" };
    let rows = tally.set_aside.rows.iter().map(|row| format!("{}: {}", row.shown_path, row.told));
    let told: Vec<String> = tally.set_aside.sum().into_iter().chain(rows).map(|line| xml(&line)).collect();
    let told = match told.as_slice() {
        [] => String::new(),
        lines => format!("<system-out>{}</system-out>\n", lines.join("\n")),
    };
    format!("{told}{cut}</testsuite>\n</testsuites>\n")
}

/// Control characters are written out before, as XML cannot hold them.
fn xml(text: &str) -> String {
    escape_markup(text).into_owned()
}
