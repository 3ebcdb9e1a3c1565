//! What a scan says.

use std::ops::Range;

use crate::changes::RuleChange;
use crate::rule::{Category, Severity};

/// The most characters of matched text that a finding repeats.
pub const MATCHED_TEXT_CHARS: usize = 100;

/// Everything that a scan found, in the order of the text.
#[derive(Debug, Clone, Default)]
#[must_use]
#[non_exhaustive]
pub struct ScanReport<'t> {
    /// The findings, by position; at one position in the order of the rule table.
    pub findings: Vec<Finding<'t>>,
    /// Whether there was more to report than a limit allows. A truncated report is never clean.
    pub truncated: bool,
    /// Rules that are off, so that nothing was looked for by them.
    pub rules_off: Vec<&'t RuleChange>,
}

impl ScanReport<'_> {
    /// Whether nothing at all was found.
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

/// One hit of one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding<'t> {
    /// The rule that fired.
    pub rule_id: &'t str,
    /// Its family.
    pub category: Category,
    /// How bad it is.
    pub severity: Severity,
    /// Why it is milder than its rule says, if it is: its sentence forbids it or quotes it.
    pub lowered: Option<&'static str>,
    /// Who says that its rule is as bad as this, if that is not the rule itself: see [`RuleChange`].
    pub changed: Option<&'t str>,
    /// What it means, in one line.
    pub description: &'t str,
    /// What to do about it, in one sentence.
    pub remedy: &'t str,
    /// The text that matched, as it stands in the input, at most [`MATCHED_TEXT_CHARS`] characters of it.
    pub matched_text: &'t str,
    /// The whole match, in bytes of the input; always on character borders.
    pub span: Range<usize>,
    /// Where the match begins, in characters from the start of the text.
    pub position: usize,
    /// Line of the start, from 1. Lines end at LF.
    pub line: usize,
    /// Column of the start in characters, from 1.
    pub column: usize,
    /// How the text had to be read for the rule to fire.
    pub view: TextView,
}

/// A way of reading the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum TextView {
    /// The text as it stands.
    Raw,
    /// With look-alike letters, other forms of ASCII characters, invisible and control characters, comments within a line
    /// and no-op shell quoting taken away.
    Deobfuscated,
    /// What something in the text spells in another alphabet, such as base64, up to three deep.
    Decoded,
}
