//! Rules that own their text: what a rule file yields, and what a scanner lists.

use super::{Category, Regions, Rule, Severity, Shape, Unless};

/// A [`Rule`] that owns its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleBuf {
    /// Stable name, upper snake case.
    pub id: String,
    /// The family that the rule belongs to.
    pub category: Category,
    /// How bad a hit is.
    pub severity: Severity,
    /// What was found, in one line and without a final stop.
    pub summary: String,
    /// What the author of the text can do about it, in one sentence.
    pub remedy: String,
    /// The ways in which the attack is written.
    pub shapes: Vec<ShapeBuf>,
    /// Texts in which the rule must fire.
    pub matches: Vec<String>,
    /// Texts in which it must stay silent.
    pub clean: Vec<String>,
}

/// A [`Shape`] that owns its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapeBuf {
    /// What this shape is, for the reader of the table.
    pub note: String,
    /// The pattern, with `{name}` fragments as written.
    pub pattern: String,
    /// Where in a document the match must begin.
    pub regions: Regions,
    /// What makes a match innocent after all.
    pub unless: Vec<UnlessBuf>,
}

/// An [`Unless`] that owns its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnlessBuf {
    /// The pattern occurs in the matched text.
    Match(String),
    /// The pattern occurs in the line of the match, before it.
    Before(String),
    /// The pattern occurs in the line where the match ends, after it.
    After(String),
}

impl RuleBuf {
    /// Lends the rule without its lists.
    pub(crate) fn facts(&self) -> Rule<'_> {
        Rule {
            id: &self.id,
            category: self.category,
            severity: self.severity,
            summary: &self.summary,
            remedy: &self.remedy,
            shapes: &[],
            matches: &[],
            clean: &[],
        }
    }
}

impl UnlessBuf {
    /// Lends the condition.
    #[must_use]
    pub fn as_unless(&self) -> Unless<'_> {
        match self {
            Self::Match(pattern) => Unless::Match(pattern),
            Self::Before(pattern) => Unless::Before(pattern),
            Self::After(pattern) => Unless::After(pattern),
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
            shapes: rule.shapes.iter().map(ShapeBuf::from).collect(),
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

impl From<&Shape<'_>> for ShapeBuf {
    fn from(shape: &Shape<'_>) -> Self {
        Self {
            note: shape.note.to_owned(),
            pattern: shape.pattern.to_owned(),
            regions: shape.regions,
            unless: shape.unless.iter().copied().map(UnlessBuf::from).collect(),
        }
    }
}

impl From<Unless<'_>> for UnlessBuf {
    fn from(unless: Unless<'_>) -> Self {
        match unless {
            Unless::Match(pattern) => Self::Match(pattern.to_owned()),
            Unless::Before(pattern) => Self::Before(pattern.to_owned()),
            Unless::After(pattern) => Self::After(pattern.to_owned()),
        }
    }
}
