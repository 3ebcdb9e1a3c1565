//! The answer of a scan as it is written, file after file.

use std::ops::ControlFlow;

use stockade_guard::FileScan;

use super::tally::Tally;
use crate::args::Format;
use crate::output::Output;
use crate::render::style::Styles;
use crate::render::{scan_json, scan_text};

/// How each file is printed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Printer {
    Text(Styles),
    Json,
    Quiet,
}

/// What was written so far, and what it adds up to.
#[derive(Debug)]
pub(crate) struct Page {
    output: Output,
    printer: Printer,
    /// Whether anything was written.
    begun: bool,
    pub(crate) tally: Tally,
}

impl Printer {
    pub(crate) const fn new(format: Format, quiet: bool, styles: Styles) -> Self {
        match format {
            _ if quiet => Self::Quiet,
            Format::Text => Self::Text(styles),
            Format::Json => Self::Json,
        }
    }

    /// Returns what to print for one file. This runs beside the scan, on any thread.
    pub(crate) fn file(self, scan: &FileScan<'_>) -> String {
        match self {
            Self::Text(styles) => scan_text::file(scan, styles),
            Self::Json => scan_json::file(scan),
            Self::Quiet => String::new(),
        }
    }
}

impl Page {
    pub(crate) fn new(printer: Printer) -> Self {
        Self { output: Output::new(), printer, begun: false, tally: Tally::default() }
    }

    /// Adds what was printed for one file, and says to stop once nobody reads on.
    pub(crate) fn add(&mut self, printed: &str, tally: Tally) -> ControlFlow<()> {
        self.tally.add(tally);
        if printed.is_empty() { ControlFlow::Continue(()) } else { self.write(printed) }
    }

    fn write(&mut self, printed: &str) -> ControlFlow<()> {
        match self.printer {
            Printer::Json if !self.begun => {
                self.begun = true;
                self.output.write(scan_json::HEAD)?;
                self.output.write(printed.strip_prefix(',').unwrap_or(printed))
            }
            Printer::Json | Printer::Text(_) | Printer::Quiet => self.output.write(printed),
        }
    }

    /// Writes the end. What does not arrive shows when the output is finished.
    pub(crate) fn end(mut self) -> (Output, Tally) {
        let end = match self.printer {
            Printer::Text(styles) => scan_text::summary(&self.tally, styles),
            Printer::Json => scan_json::tail(&self.tally),
            Printer::Quiet => String::new(),
        };
        let _: ControlFlow<()> = self.write(&end);
        (self.output, self.tally)
    }
}
