//! The scanner for requests without an agent, with the configuration of the server's directory.
#![expect(clippy::disallowed_methods, reason = "asks in which folder it runs, for the configuration there")]

use std::sync::{Mutex, PoisonError};

use stockade_files::FileVersions;
use stockade_guard::config::ConfigSources;
use stockade_guard::scanner::{RuleChange, Scanner};

use super::fault::{self, Fault};

/// The configured changes of scanner rules, cached while the files are unchanged.
#[derive(Debug, Default)]
pub(super) struct ScannerRules {
    kept: Mutex<Option<(FileVersions, Vec<RuleChange>)>>,
}

impl ScannerRules {
    /// Returns a scanner with the current configuration.
    pub(super) fn of(&self, scanner: &Scanner) -> Result<Scanner, Fault> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, changes)) = kept.as_ref().filter(|(files, _)| files.are_unchanged()) {
            return Ok(scanner.changed(changes));
        }
        let sources = ConfigSources::of_process(&std::env::current_dir().unwrap_or_default());
        // Versions are taken before reading, so that a change in between causes another read.
        let files = sources.files();
        let changes =
            sources.rule_changes().map_err(|error| Fault::new(fault::INTERNAL, error.to_string()))?;
        let scanner = scanner.changed(&changes);
        *kept = Some((files, changes));
        Ok(scanner)
    }
}
