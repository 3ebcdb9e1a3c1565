//! Rules that own their text, as rule files contain them and scanners list them.

use crate::flow::Inflows;

use super::{Category, Exception, Pattern, Regions, Rule, Severity};

/// A [`Rule`] that owns its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleBuf {
    /// Stable name, upper snake case.
    pub id: String,
    /// The family that the rule belongs to.
    pub category: Category,
    /// Severity of a match.
    pub severity: Severity,
    /// Description in one line, without a final stop.
    pub summary: String,
    /// What the author of the text can do, in one sentence.
    pub remedy: String,
    /// Variants of the attack.
    pub patterns: Vec<PatternBuf>,
    /// Texts that the rule must match.
    pub matches: Vec<String>,
    /// Texts that it must not match.
    pub clean: Vec<String>,
}

/// A [`Pattern`] that owns its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternBuf {
    /// Description for the reader of the table.
    pub note: String,
    /// The regular expression, with `{name}` fragments as written.
    pub regex: String,
    /// Regions in which the match must begin.
    pub regions: Regions,
    /// Conditions that excuse a match.
    pub exceptions: Vec<ExceptionBuf>,
}

/// An [`Exception`] that owns its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExceptionBuf {
    /// The pattern occurs in the matched text.
    Match(String),
    /// The pattern occurs in the line of the match, before it.
    Before(String),
    /// The pattern occurs in the line where the match ends, after it.
    After(String),
    /// None of these flows into the command or call in which the match begins.
    Without(Inflows),
}

impl RuleBuf {
    /// Borrows the rule without its lists.
    pub(crate) fn facts(&self) -> Rule<'_> {
        Rule {
            id: &self.id,
            category: self.category,
            severity: self.severity,
            summary: &self.summary,
            remedy: &self.remedy,
            patterns: &[],
            matches: &[],
            clean: &[],
        }
    }
}

impl ExceptionBuf {
    /// Borrows the condition.
    #[must_use]
    pub fn as_exception(&self) -> Exception<'_> {
        match self {
            Self::Match(pattern) => Exception::Match(pattern),
            Self::Before(pattern) => Exception::Before(pattern),
            Self::After(pattern) => Exception::After(pattern),
            Self::Without(flows) => Exception::Without(*flows),
        }
    }
}

impl From<&Rule<'_>> for RuleBuf {
    fn from(rule: &Rule<'_>) -> Self {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        Self {
            id: rule.id.to_owned(),
            category: rule.category,
            severity: rule.severity,
            summary: rule.summary.to_owned(),
            remedy: rule.remedy.to_owned(),
            patterns: rule.patterns.iter().map(PatternBuf::from).collect(),
            matches: owned(rule.matches),
            clean: owned(rule.clean),
        }
    }
}

impl From<Rule<'_>> for RuleBuf {
    fn from(rule: Rule<'_>) -> Self {
        Self::from(&rule)
    }
}

impl From<&RuleBuf> for RuleBuf {
    fn from(rule: &RuleBuf) -> Self {
        rule.clone()
    }
}

impl From<&Pattern<'_>> for PatternBuf {
    fn from(pattern: &Pattern<'_>) -> Self {
        Self {
            note: pattern.note.to_owned(),
            regex: pattern.regex.to_owned(),
            regions: pattern.regions,
            exceptions: pattern.exceptions.iter().copied().map(ExceptionBuf::from).collect(),
        }
    }
}

impl From<Exception<'_>> for ExceptionBuf {
    fn from(exception: Exception<'_>) -> Self {
        match exception {
            Exception::Match(pattern) => Self::Match(pattern.to_owned()),
            Exception::Before(pattern) => Self::Before(pattern.to_owned()),
            Exception::After(pattern) => Self::After(pattern.to_owned()),
            Exception::Without(flows) => Self::Without(flows),
        }
    }
}
