//! Output of a scan, which is written file by file.

use std::ops::ControlFlow;

use stockade_guard::admission::FileScan;
use stockade_guard::scanner::Scanner;

use super::ScanFormat;
use super::progress::Progress;
use crate::output::Output;
use crate::render::style::Styles;
use crate::render::{scan_html, scan_junit, scan_lines, scan_sarif, scan_text};
use crate::report::fail_on::FailOn;
use stockade_guard::admission::scan_report::ScanTally;
use stockade_guard::admission::scan_report::{JSON_HEAD, findings_json, summary_json};
use stockade_guard::admission::scan_report::{SetAside, SetAsideRow};

/// Formatter of each file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printer<'s> {
    /// Without a formatter, nothing is printed.
    pub(crate) format: Option<ScanFormat>,
    pub(crate) styles: Styles,
    pub(crate) fail_on: FailOn,
    pub(crate) scanner: &'s Scanner,
}

/// The output so far, and its totals.
#[derive(Debug)]
pub(crate) struct Page<'s> {
    output: Output,
    printer: Printer<'s>,
    progress: Progress,
    /// Whether anything was written.
    begun: bool,
    pub(crate) tally: ScanTally,
}

impl Printer<'_> {
    /// Formats one file. Runs in parallel, on any thread of the scan.
    pub(crate) fn file(self, scan: &FileScan<'_>) -> String {
        match self.format {
            None => String::new(),
            Some(ScanFormat::Text) => scan_text::file(scan, self.styles),
            Some(ScanFormat::Json) => findings_json(scan),
            Some(ScanFormat::Jsonl) => scan_lines::jsonl(scan),
            Some(ScanFormat::Sarif) => scan_sarif::file(scan, self.scanner),
            Some(ScanFormat::Junit) => scan_junit::file(scan, self.fail_on),
            Some(ScanFormat::Github) => scan_lines::github(scan),
            Some(ScanFormat::Html) => scan_html::file(scan),
        }
    }

    /// Returns the output before the first file.
    fn head(self) -> String {
        match self.format {
            Some(ScanFormat::Json) => JSON_HEAD.to_owned(),
            Some(ScanFormat::Sarif) => scan_sarif::head(self.scanner),
            Some(ScanFormat::Junit) => scan_junit::HEAD.to_owned(),
            Some(ScanFormat::Html) => scan_html::head(),
            Some(ScanFormat::Text | ScanFormat::Jsonl | ScanFormat::Github) | None => String::new(),
        }
    }

    /// Returns the output after the last file.
    fn end(self, tally: &ScanTally) -> String {
        match self.format {
            Some(ScanFormat::Text) => scan_text::summary(tally, self.styles),
            Some(ScanFormat::Json) => summary_json(tally),
            Some(ScanFormat::Jsonl) => scan_lines::jsonl_summary(tally),
            Some(ScanFormat::Sarif) => scan_sarif::tail(tally, self.scanner),
            Some(ScanFormat::Junit) => scan_junit::tail(tally),
            Some(ScanFormat::Html) => scan_html::tail(tally),
            Some(ScanFormat::Github) => scan_lines::github_summary(tally),
            None => String::new(),
        }
    }

    /// Whether the output of each file starts with a comma that separates it from the one before.
    const fn has_commas(self) -> bool {
        matches!(self.format, Some(ScanFormat::Json | ScanFormat::Sarif))
    }
}

impl<'s> Page<'s> {
    pub(crate) fn new(printer: Printer<'s>) -> Self {
        let progress = Progress::new(printer.format.is_none());
        let off = printer.scanner.rules_off().map(SetAsideRow::of_rule).collect();
        let tally = ScanTally { set_aside: SetAside::of(off), ..ScanTally::default() };
        Self { output: Output::new(), printer, progress, begun: false, tally }
    }

    /// Writes the output of one file. Returns `Break` once the reader has closed the output.
    pub(crate) fn add(&mut self, printed: &str, tally: ScanTally) -> ControlFlow<()> {
        self.tally.add(tally);
        let ScanTally { files, bytes, critical, warn, .. } = self.tally;
        self.progress.tell(files, bytes, critical + warn);
        if printed.is_empty() { ControlFlow::Continue(()) } else { self.write(printed) }
    }

    fn write(&mut self, printed: &str) -> ControlFlow<()> {
        self.progress.clear();
        if self.begun {
            return self.output.write(printed);
        }
        self.begun = true;
        self.output.write(&self.printer.head())?;
        let first = if self.printer.has_commas() { printed.strip_prefix(',') } else { None };
        self.output.write(first.unwrap_or(printed))
    }

    /// Writes the end. Write errors are reported when the output is finished.
    pub(crate) fn end(mut self) -> (Output, ScanTally) {
        let end = self.printer.end(&self.tally);
        let _: ControlFlow<()> = self.write(&end);
        (self.output, self.tally)
    }
}
