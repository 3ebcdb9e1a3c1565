//! The scanner of requests that are about no agent: by the configuration that the server finds where it runs.
#![expect(clippy::disallowed_methods, reason = "asks in which folder it runs, for the configuration there")]

use std::sync::{Mutex, PoisonError};

use stockade_files::FileVersions;
use stockade_guard::config::ConfigSources;
use stockade_guard::scanner::{RuleChange, Scanner};

use super::fault::{self, Fault};

/// What the configuration changes of rules of the scanner, for as long as its files stay the same.
#[derive(Debug, Default)]
pub(super) struct ScannerRules {
    kept: Mutex<Option<(FileVersions, Vec<RuleChange>)>>,
}

impl ScannerRules {
    /// Returns a scanner as the configuration has it now.
    pub(super) fn of(&self, scanner: &Scanner) -> Result<Scanner, Fault> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, changes)) = kept.as_ref().filter(|(files, _)| files.are_unchanged()) {
            return Ok(scanner.changed(changes));
        }
        let sources = ConfigSources::of_process(&std::env::current_dir().unwrap_or_default());
        // Looked at before they are read: what is changed meanwhile is read again.
        let files = sources.files();
        let changes =
            sources.rule_changes().map_err(|error| Fault::new(fault::INTERNAL, error.to_string()))?;
        let scanner = scanner.changed(&changes);
        *kept = Some((files, changes));
        Ok(scanner)
    }
}
