//! Which findings make a scan fail.

use clap::ValueEnum;
use stockade_guard::scanner::Severity;

/// Which findings make a scan fail: attempts to attack, suspicious text too, or none.
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
