//! Rule files in TOML, YAML or JSON.
//!
//! All formats have the same structure: a list `rule` of tables, and `test`, `defaults` and `override`. The keys and types are
//! checked first, then every rule and its examples, then the tests of the file. Errors have a line and a column.

pub(crate) mod error;
mod schema;
mod syntax;

use stockade_text::{Format, Node, TextPosition};

use error::{CommandRuleFileError, CommandRuleFileProblem};
use schema::RulePositions;

use super::check::{self, CommandRuleError, CommandRuleProblem};
use super::effect::{Effect, Layer};
use super::rule::CommandRule;
use crate::context::CommandContext;
use crate::decision::policy::{CommandDefaults, CommandPolicy};
use crate::rules::layer::{FloorOverride, RuleLayer};
use stockade_shell::{ReadOptions, Shell};

/// Maximum size of a rule file in bytes.
pub const MAX_COMMAND_RULE_FILE_BYTES: usize = 1 << 20;

/// The latest supported version of the format.
pub(crate) const VERSION: i64 = 1;

/// A valid file of rules for commands.
#[derive(Debug, Clone, Default)]
pub struct CommandRuleFile {
    rules: Vec<CommandRule>,
    places: Vec<RulePositions>,
    tests: Vec<CommandTest>,
    defaults: Option<CommandDefaults>,
    overrides: Vec<FloorOverride>,
    shell: Shell,
}

/// The format of a rule file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CommandRuleFormat {
    /// TOML, with a `[[rule]]` table for each.
    Toml,
    /// A list under `rule:`.
    Yaml,
    /// An object with an array `"rule"`.
    Json,
}

/// A test of a rule file: a command and its expected decision.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandTest {
    /// The command.
    pub command: String,
    /// The expected effect.
    pub expect: Effect,
    at: TextPosition,
}

impl CommandRuleFormat {
    /// Returns the format for the extension of a file name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Format::of_path(name).map(|format| match format {
            Format::Toml => Self::Toml,
            Format::Yaml => Self::Yaml,
            Format::Json => Self::Json,
        })
    }

    /// Returns the format of the document.
    pub(crate) const fn document(self) -> Format {
        match self {
            Self::Toml => Format::Toml,
            Self::Yaml => Format::Yaml,
            Self::Json => Format::Json,
        }
    }
}

impl CommandRuleFile {
    /// Parses a rule file for a layer, checks its rules, and runs its examples and tests.
    ///
    /// # Errors
    /// The first problem, with its position and fix.
    pub fn parse(text: &str, format: CommandRuleFormat, layer: Layer) -> Result<Self, CommandRuleFileError> {
        let file = Self::parse_untested(text, format, layer)?;
        file.test(layer)?;
        Ok(file)
    }

    /// Parses and checks rules from a list in another document, such as a configuration. Errors have the position in that
    /// document.
    ///
    /// # Errors
    /// The first problem, with its position and fix.
    pub fn of_list(rules: &[Node], layer: Layer) -> Result<Self, CommandRuleFileError> {
        let file = schema::rules(rules)?;
        check::layers(&[file.layer(layer)]).map_err(|error| file.locate(&error))?;
        Ok(file)
    }

    /// Parses and checks a rule file without running its tests.
    fn parse_untested(
        text: &str,
        format: CommandRuleFormat,
        layer: Layer,
    ) -> Result<Self, CommandRuleFileError> {
        if text.len() > MAX_COMMAND_RULE_FILE_BYTES {
            return Err(CommandRuleFileError::at(
                TextPosition::START,
                CommandRuleFileProblem::TooLarge { bytes: text.len() },
            ));
        }
        let file = schema::file(&syntax::parse(text, format)?)?;
        check::layers(&[file.layer(layer)]).map_err(|error| file.locate(&error))?;
        Ok(file)
    }

    /// Returns the rules, in the order of the file.
    #[must_use]
    pub fn rules(&self) -> &[CommandRule] {
        &self.rules
    }

    /// Returns the position of the rule with this id.
    #[must_use]
    pub fn place_of(&self, id: &str) -> Option<TextPosition> {
        let index = self.rules.iter().position(|rule| rule.id == id)?;
        self.places.get(index).map(|places| places.rule)
    }

    /// Returns the tests in the file.
    #[must_use]
    pub fn tests(&self) -> &[CommandTest] {
        &self.tests
    }

    /// Returns the defaults that the file sets for commands without a matching rule.
    #[must_use]
    pub const fn defaults(&self) -> Option<CommandDefaults> {
        self.defaults
    }

    /// Returns the shell that the file sets.
    #[must_use]
    pub const fn shell(&self) -> Shell {
        self.shell
    }

    /// Whether the file disables hazards.
    #[must_use]
    pub const fn has_overrides(&self) -> bool {
        !self.overrides.is_empty()
    }

    /// Returns the rules as a layer.
    #[must_use]
    pub fn layer(&self, layer: Layer) -> RuleLayer {
        RuleLayer { layer, rules: self.rules.clone(), overrides: self.overrides.clone() }
    }

    /// Adds the position in the file to an error that [`CommandPolicy::compile`] returned for one of its rules.
    #[must_use]
    pub fn locate(&self, error: &CommandRuleError) -> CommandRuleFileError {
        let found = self
            .rules
            .iter()
            .rposition(|rule| rule.id == error.rule)
            .and_then(|index| self.places.get(index));
        let at = found.map_or(TextPosition::START, |places| places.of(&error.problem));
        CommandRuleFileError::at(at, CommandRuleFileProblem::Rule(error.clone()))
    }

    /// Runs the tests of the file, together with the built-in rules.
    fn test(&self, layer: Layer) -> Result<(), CommandRuleFileError> {
        if self.tests.is_empty() {
            return Ok(());
        }
        let policy = CommandPolicy::assemble(vec![self.layer(layer)], self.defaults.unwrap_or_default())
            .map_err(|error| self.locate(&error))?;
        let context = CommandContext::new(Some("/workspace".into()), Some("/workspace".into()));
        let options = ReadOptions::for_shell(self.shell);
        for test in &self.tests {
            let decision = policy.decide(&test.command, &options, &context);
            if decision.effect != test.expect {
                let reason =
                    decision.decisive().next().map(|part| part.cause.to_string()).unwrap_or_default();
                return Err(CommandRuleFileError::at(
                    test.at,
                    CommandRuleFileProblem::Test {
                        command: test.command.clone(),
                        expected: test.expect.name(),
                        found: decision.effect.name(),
                        reason,
                    },
                ));
            }
        }
        Ok(())
    }
}

impl RulePositions {
    /// Returns the position of the part of a rule that has the problem.
    fn of(&self, problem: &CommandRuleProblem) -> TextPosition {
        let nth = |list: &[TextPosition], number: &usize| {
            number.checked_sub(1).and_then(|index| list.get(index)).copied()
        };
        match problem {
            CommandRuleProblem::Id | CommandRuleProblem::DuplicateId => Some(self.id),
            CommandRuleProblem::Silent { number, .. } => nth(&self.matches, number),
            CommandRuleProblem::Fires { number, .. } => nth(&self.not_matches, number),
            CommandRuleProblem::Word { position } | CommandRuleProblem::Alternatives { position } => {
                nth(&self.words, position)
            }
            CommandRuleProblem::TooBroad { .. }
            | CommandRuleProblem::AnyProgram
            | CommandRuleProblem::Expression { .. }
            | CommandRuleProblem::TooHeavy
            | CommandRuleProblem::ExpressionAllows => Some(self.pattern),
            _ => None,
        }
        .unwrap_or(self.rule)
    }
}
