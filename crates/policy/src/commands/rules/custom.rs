//! The rules that a user has added by answering questions: a document that is kept between runs.
//!
//! The document is a rule file. It is read whole or not at all: a file that is damaged, or that a newer version wrote,
//! is an error, and whoever starts with it must not start.

use super::check;
use super::check::{CommandRuleError, CommandRuleProblem};
use super::effect::Layer;
use super::file::error::CommandRuleFileError;
use super::file::{CommandRuleFile, CommandRuleFormat};
use super::rule::CommandRule;
use crate::commands::rules::layer::RuleLayer;

/// What the document begins with.
const HEAD: &str = "\
# Rules for commands that were added by answering questions. `stockade policy lint` looks at them.
version = 1
";

/// The rules that a user has added.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CustomRules {
    rules: Vec<CommandRule>,
}

impl CustomRules {
    /// Reads the document. Every rule is checked, and its examples are run.
    ///
    /// # Errors
    /// The first thing that is wrong with it, and where.
    pub fn parse(document: &str) -> Result<Self, CommandRuleFileError> {
        let file = CommandRuleFile::parse(document, CommandRuleFormat::Toml, Layer::User)?;
        Ok(Self { rules: file.rules().to_vec() })
    }

    /// Returns the document that [`CustomRules::parse`] reads.
    #[must_use]
    pub fn render(&self) -> String {
        let rules = self.rules.iter().map(|rule| format!("\n{}", rule.to_toml()));
        std::iter::once(HEAD.to_owned()).chain(rules).collect()
    }

    /// Adds a rule.
    ///
    /// # Errors
    /// When it cannot be used, or there is a rule of this id.
    pub fn add(&mut self, rule: CommandRule) -> Result<(), CommandRuleError> {
        let fail = |problem| CommandRuleError { rule: rule.id.clone(), problem };
        if self.rules.iter().any(|other| other.id == rule.id) {
            return Err(fail(CommandRuleProblem::DuplicateId));
        }
        check::rule(&rule).map_err(fail)?;
        self.rules.push(rule);
        Ok(())
    }

    /// Removes the rule of this id, and returns it.
    pub fn remove(&mut self, id: &str) -> Option<CommandRule> {
        let index = self.rules.iter().position(|rule| rule.id == id)?;
        Some(self.rules.remove(index))
    }

    /// Returns the rules that were added.
    #[must_use]
    pub fn rules(&self) -> &[CommandRule] {
        &self.rules
    }

    /// Returns the rules as a layer.
    #[must_use]
    pub fn layer(&self) -> RuleLayer {
        RuleLayer { layer: Layer::User, rules: self.rules.clone(), overrides: Vec::new() }
    }
}
