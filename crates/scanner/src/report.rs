//! The report of a scan.

use std::ops::Range;

use crate::changes::RuleChange;
use crate::rule::{Category, Severity};

/// Maximum number of characters of matched text in a finding.
pub const MATCHED_TEXT_CHARS: usize = 100;

/// Result of a scan, in the order of the text.
#[derive(Debug, Clone, Default)]
#[must_use]
#[non_exhaustive]
pub struct ScanReport<'t> {
    /// The findings, by position; at one position in the order of the rule table.
    pub findings: Vec<Finding<'t>>,
    /// Whether a limit cut the report. A truncated report is never clean.
    pub truncated: bool,
    /// Rules that were off, and so not searched.
    pub rules_off: Vec<&'t RuleChange>,
}

impl ScanReport<'_> {
    /// Whether there is no finding and no truncation.
    #[must_use]
    pub fn clean(&self) -> bool {
        self.findings.is_empty() && !self.truncated
    }

    /// The worst severity among the findings.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}

/// A match of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding<'t> {
    /// The rule that matched.
    pub rule_id: &'t str,
    /// Its family.
    pub category: Category,
    /// Severity of the finding.
    pub severity: Severity,
    /// Why the severity is lower than the rule's, if it is: the sentence forbids it or quotes it.
    pub lowered: Option<&'static str>,
    /// Origin of the changed severity, if it was changed: see [`RuleChange`].
    pub changed: Option<&'t str>,
    /// Description in one line.
    pub description: &'t str,
    /// Remedy in one sentence.
    pub remedy: &'t str,
    /// The matched text of the input, at most [`MATCHED_TEXT_CHARS`] characters.
    pub matched_text: &'t str,
    /// The whole match, in bytes of the input; always on character boundaries.
    pub span: Range<usize>,
    /// Start of the match, in characters from the start of the text.
    pub position: usize,
    /// Line of the start, from 1. Lines end at LF.
    pub line: usize,
    /// Column of the start in characters, from 1.
    pub column: usize,
    /// The view of the text in which the rule matched.
    pub view: TextView,
    /// The variant of the attack that matched: why the rule applies here.
    pub why: &'t str,
    /// The command that completes the attack, if another one than the match does: it runs what the match downloads.
    pub completed_by: Option<ChainStep<'t>>,
}

/// A command elsewhere in the text that an attack consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChainStep<'t> {
    /// The command, at most [`MATCHED_TEXT_CHARS`] characters.
    pub text: &'t str,
    /// The whole command, in bytes of the input.
    pub span: Range<usize>,
    /// Line of the start, from 1.
    pub line: usize,
    /// Column of the start in characters, from 1.
    pub column: usize,
}

/// A view of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum TextView {
    /// The text as is.
    Raw,
    /// Without look-alike letters, other forms of ASCII characters, invisible and control characters, comments within
    /// a line and no-op shell quoting.
    Deobfuscated,
    /// Decoded from an encoding in the text, such as base64, up to three deep.
    Decoded,
}
