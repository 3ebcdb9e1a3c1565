//! Output of `scan` in JUnit format: a suite with one test for each file, which fails if it has findings.
//!
//! A suite must state its numbers before its tests, and the files arrive one by one: so each file is a suite of its own.

use stockade_guard::admission::{Coverage, FileScan};
use stockade_text::escape_markup;

use stockade_text::{escape, escape_path};

use super::told::told;
use crate::report::fail_on::FailOn;
use stockade_guard::admission::scan_report::ScanTally;

/// Start of the document. The tests follow.
pub(crate) const HEAD: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"stockade scan\">\n";

/// Formats the test of one file. It fails if its findings make the scan fail.
pub(crate) fn file(scan: &FileScan<'_>, fail_on: FailOn) -> String {
    let name = xml(&escape_path(scan.path));
    let failures: String = scan
        .report
        .groups()
        .iter()
        .filter(|group| fail_on.covers(group.main.severity))
        .map(|group| {
            let finding = group.main;
            format!(
                "<failure type=\"{}\" message=\"{}\">{name}:{}:{} {}</failure>\n",
                xml(&escape(finding.rule_id)),
                xml(&escape(finding.description)),
                finding.line,
                finding.column,
                xml(&escape(&told(group))),
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
    let gap = gap.unwrap_or_default();
    // A test counts once, however many failures it has.
    let has = |element: &str| usize::from(gap.starts_with(element));
    let numbers = format!(
        "tests=\"1\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        usize::from(!failures.is_empty()),
        has("<error"),
        has("<skipped"),
    );
    let inside = failures + &gap;
    let test = match inside.as_str() {
        "" => format!("<testcase classname=\"stockade.scan\" name=\"{name}\"/>\n"),
        inside => format!("<testcase classname=\"stockade.scan\" name=\"{name}\">\n{inside}</testcase>\n"),
    };
    format!("<testsuite name=\"{name}\" {numbers}>\n{test}</testsuite>\n")
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
    let notes = match told + cut {
        notes if notes.is_empty() => notes,
        notes => format!(
            "<testsuite name=\"notes\" tests=\"0\" failures=\"0\" errors=\"0\" skipped=\"0\">\n{notes}</testsuite>\n"
        ),
    };
    format!("{notes}</testsuites>\n")
}

/// Escapes text for XML. Control characters, which XML forbids, were escaped before.
fn xml(text: &str) -> String {
    escape_markup(text).into_owned()
}
