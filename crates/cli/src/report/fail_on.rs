//! Findings that make a scan fail, and its exit code.

use clap::ValueEnum;
use stockade_guard::admission::scan_report::ScanTally;
use stockade_guard::scanner::Severity;

use crate::exit::Exit;

/// Minimum severity of findings that make a scan fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Critical,
    Warn,
    Never,
}

impl FailOn {
    /// Whether a finding of this severity makes the scan fail.
    pub(crate) fn covers(self, severity: Severity) -> bool {
        match self {
            Self::Critical => severity >= Severity::Critical,
            Self::Warn => severity >= Severity::Warn,
            Self::Never => false,
        }
    }
}

/// Effect of opaque data and excluded files on the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unseen {
    /// They are reported, without an effect on the exit code.
    Reported,
    /// They make the scan incomplete.
    Fails,
}

/// Returns the exit code. Findings take precedence over unreadable files.
pub(crate) fn exit(tally: &ScanTally, fail_on: FailOn, unseen: Unseen) -> Exit {
    match tally.worst() {
        Some(worst) if fail_on.covers(worst) => Exit::Found,
        _ if !tally.complete() => Exit::Incomplete,
        _ if unseen == Unseen::Fails && tally.opaque + tally.excluded.total > 0 => Exit::Incomplete,
        _ => Exit::Clean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes() {
        use Exit::{Clean, Found, Incomplete};
        use FailOn::{Critical, Never, Warn};
        let cases = [
            // critical, warn, gaps  fail on    code
            (0, 0, 0, Critical, Clean),
            (0, 0, 1, Critical, Incomplete),
            (0, 1, 0, Critical, Clean),
            (0, 1, 0, Warn, Found),
            (0, 1, 1, Critical, Incomplete),
            (0, 1, 1, Warn, Found),
            (1, 0, 1, Critical, Found),
            (1, 1, 0, Never, Clean),
            (1, 1, 1, Never, Incomplete),
        ];
        for (critical, warn, gaps, fail_on, code) in cases {
            let mut tally = ScanTally { critical, warn, ..ScanTally::default() };
            tally.incomplete.total = gaps;
            assert_eq!(exit(&tally, fail_on, Unseen::Reported), code, "{critical} {warn} {gaps} {fail_on:?}");
        }
    }

    #[test]
    fn a_cut_list_of_findings_is_not_clean() {
        let tally = ScanTally { warn: 1, truncated: true, ..ScanTally::default() };
        assert_eq!(exit(&tally, FailOn::Critical, Unseen::Reported), Exit::Incomplete);
        assert!(!tally.clean());
    }

    #[test]
    fn an_exclusion_is_neither_clean_nor_a_failure() {
        let mut tally = ScanTally::default();
        tally.excluded.total = 1;
        assert_eq!((tally.clean(), exit(&tally, FailOn::Warn, Unseen::Reported)), (false, Exit::Clean));
        assert_eq!(exit(&tally, FailOn::Warn, Unseen::Fails), Exit::Incomplete);
    }

    #[test]
    fn unscanned_files_are_not_clean() {
        let tally = ScanTally { opaque: 1, ..ScanTally::default() };
        assert_eq!((tally.clean(), exit(&tally, FailOn::Warn, Unseen::Reported)), (false, Exit::Clean));
        assert_eq!(exit(&tally, FailOn::Never, Unseen::Fails), Exit::Incomplete);
    }
}
