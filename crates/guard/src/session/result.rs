//! Results of tools: the last step before a model sees them.

use stockade_admission::{ToolResult, admit_result};
use stockade_output::{Hidden, ProfileOverride, SourceProfile, SourceProfiles};
use stockade_scanner::Scanner;

use super::{GuardError, Session};
use crate::audit::{EventKind, field};

impl Session {
    /// Returns the profile for the results of a tool: the configured one, with stricter values of the caller.
    #[must_use]
    pub fn source_profile(&self, tool: &str, wish: &ProfileOverride) -> SourceProfile {
        let configured = SourceProfiles::new(self.guard.config().source_profiles.clone()).resolve(tool);
        let number = |own: usize, wish: Option<u64>| {
            let own = u64::try_from(own).unwrap_or(u64::MAX);
            Some(wish.map_or(own, |wish| wish.min(own)))
        };
        configured.with(&ProfileOverride {
            max_response_bytes: number(configured.max_response_bytes(), wish.max_response_bytes),
            max_chars: number(configured.max_chars(), wish.max_chars),
            strategy: None,
            hidden: wish.hidden.filter(|hidden| *hidden == Hidden::Strip),
        })
    }

    /// Converts a tool's result to the form and size that its profile allows, then cleans and scans it, with the configured
    /// severities. Show the model only the returned text.
    ///
    /// # Errors
    /// When the result cannot be recorded.
    pub fn result(
        &self,
        tool: &str,
        bytes: &[u8],
        content_type: Option<&str>,
        scanner: &Scanner,
        wish: &ProfileOverride,
    ) -> Result<ToolResult, GuardError> {
        let scanner = self.guard.scanner(scanner);
        let result = admit_result(tool, bytes, &self.source_profile(tool, wish), content_type, &scanner);
        let kind = if result.findings.is_empty() { EventKind::ScanClean } else { EventKind::ScanFound };
        let findings: Vec<String> = result.findings.iter().map(|one| one.rule_id.clone()).collect();
        let event = self.event(kind).with(field::TOOL, tool).with(field::FINDINGS, findings);
        let event = event.with(field::BYTES, result.original_bytes).with(field::TRUNCATED, result.truncated);
        self.record(event)?;
        Ok(result)
    }
}
