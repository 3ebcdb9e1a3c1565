//! Custom rules in TOML, YAML or JSON.
//!
//! All formats have the same content: a list `rule` of tables. Every key is checked by name and kind, then every rule
//! by the checks of a built-in one; each error has a line and column.

mod error;
mod schema;
mod syntax;

pub use error::{RuleFileError, RuleFileProblem};

use stockade_text::TextPosition;

use crate::check::{CheckedPatterns, Taken};
use crate::error::{RuleError, RuleProblem};
use crate::rule::RuleBuf;
use crate::rules as builtin;
use schema::RulePositions;

/// Maximum size of a rule file.
pub const MAX_RULE_FILE_BYTES: usize = 1 << 20;
/// Maximum number of rules in a file.
const MAX_RULES: usize = 1000;

/// A valid rule file.
#[derive(Debug, Clone)]
pub struct RuleFile {
    rules: Vec<RuleBuf>,
    places: Vec<RulePositions>,
    /// What is ready to search, for each rule.
    checked: Vec<CheckedPatterns>,
}

/// The format of a rule file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RuleFormat {
    /// TOML: a `[[rule]]` table for each rule.
    Toml,
    /// A list under `rule:`.
    Yaml,
    /// An object with an array `"rule"`.
    Json,
}

impl RuleFormat {
    /// Returns the format for the extension of a file name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let (_, ending) = name.rsplit_once('.')?;
        let formats = [("toml", Self::Toml), ("yaml", Self::Yaml), ("yml", Self::Yaml), ("json", Self::Json)];
        formats.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(ending)).map(|(_, format)| format)
    }
}

impl RuleFile {
    /// Parses and checks a rule file.
    ///
    /// # Errors
    /// The first problem, with its position and a fix.
    pub fn parse(text: &str, format: RuleFormat) -> Result<Self, RuleFileError> {
        if text.len() > MAX_RULE_FILE_BYTES {
            return Err(RuleFileError::at(
                TextPosition::START,
                RuleFileProblem::TooLarge { bytes: text.len() },
            ));
        }
        let parsed = schema::rules(&syntax::parse(text, format)?)?;
        if let Some((_, places)) = parsed.get(MAX_RULES) {
            return Err(RuleFileError::at(places.id, RuleFileProblem::TooManyRules { count: parsed.len() }));
        }
        let (rules, places): (Vec<RuleBuf>, Vec<RulePositions>) = parsed.into_iter().unzip();
        let checked = check(&rules, &places)?;
        Ok(Self { rules, places, checked })
    }

    /// Returns the rules, in the order of the file.
    #[must_use]
    pub fn rules(&self) -> &[RuleBuf] {
        &self.rules
    }

    /// Returns the position in the file of an error that [`Scanner::with_rule_files`](crate::Scanner::with_rule_files) reports
    /// for one of its rules; `None` for other rules. Such an error can only concern resources used by other files: an
    /// id, or memory.
    #[must_use]
    pub fn locate(&self, error: &RuleError) -> Option<RuleFileError> {
        let index = self.rules.iter().position(|rule| rule.id == error.rule)?;
        let at = self.places.get(index)?.of(&error.problem);
        Some(RuleFileError::at(at, RuleFileProblem::Rule(error.clone())))
    }

    /// Returns the rules with their patterns.
    pub(crate) fn checked(&self) -> impl Iterator<Item = (&RuleBuf, &CheckedPatterns)> {
        self.rules.iter().zip(&self.checked)
    }
}

/// Checks the rules of a file.
fn check(rules: &[RuleBuf], places: &[RulePositions]) -> Result<Vec<CheckedPatterns>, RuleFileError> {
    let mut taken = Taken::by(builtin::all());
    let checked = rules.iter().zip(places).map(|(rule, places)| {
        let checked = CheckedPatterns::of(rule, &mut taken);
        checked.map_err(|error| RuleFileError::at(places.of(&error.problem), RuleFileProblem::Rule(error)))
    });
    checked.collect()
}

impl RulePositions {
    /// Returns the position of the part of a rule that has the problem.
    fn of(&self, problem: &RuleProblem) -> TextPosition {
        let nth = |list: &[TextPosition], number: &usize| {
            number.checked_sub(1).and_then(|index| list.get(index)).copied()
        };
        match problem {
            RuleProblem::Id | RuleProblem::DuplicateId => Some(self.id),
            RuleProblem::EmptyText { field, .. } | RuleProblem::TooLong { field, .. } => match *field {
                "summary" => Some(self.summary),
                "remedy" => Some(self.remedy),
                _ => None,
            },
            RuleProblem::Pattern { number, .. }
            | RuleProblem::MatchesEmpty { number }
            | RuleProblem::Quadratic { number } => nth(&self.patterns, number),
            RuleProblem::Exception { number, .. } => nth(&self.exceptions, number),
            RuleProblem::Silent { number, .. } => nth(&self.matches, number),
            RuleProblem::Fires { number, .. } => nth(&self.clean, number),
            RuleProblem::TooMany { .. }
            | RuleProblem::TooHeavy { .. }
            | RuleProblem::NoPatterns
            | RuleProblem::NoExample => None,
        }
        .unwrap_or(self.rule)
    }
}
