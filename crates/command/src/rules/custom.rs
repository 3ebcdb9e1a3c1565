//! Rules that a user adds and removes, in a document that is saved between runs.
//!
//! The document is a rule file. A file that is invalid or from a newer version is an error, and the caller must not start with a
//! part of the rules. Adding or removing a rule preserves the rest of the text, including comments, and runs all examples and
//! tests of the file again.

use std::collections::HashSet;

use stockade_text::Editor;

use super::check;
use super::check::{CommandRuleError, CommandRuleProblem};
use super::effect::Layer;
use super::file::error::{CommandRuleFileError, CommandRuleFileProblem};
use super::file::{CommandRuleFile, CommandRuleFormat};
use super::rule::CommandRule;
use crate::rules::layer::RuleLayer;

/// The header of a new document in a format with comments.
const HEAD: &str = "\
# Rules for commands that were added by answering questions or by `stockade policy add`. `stockade policy lint` looks at them.
";

/// The key of the list of rules.
const RULES: &[&str] = &["rule"];

/// The rules that a user added, and their document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomRules {
    document: String,
    format: CommandRuleFormat,
    rules: Vec<CommandRule>,
    layer: Layer,
}

impl Default for CustomRules {
    fn default() -> Self {
        Self::new(Layer::User)
    }
}

impl CustomRules {
    /// Returns a document of TOML without rules.
    #[must_use]
    pub fn new(layer: Layer) -> Self {
        Self::in_format(CommandRuleFormat::Toml, layer)
    }

    /// Returns a document without rules.
    #[must_use]
    pub fn in_format(format: CommandRuleFormat, layer: Layer) -> Self {
        let document = match format {
            CommandRuleFormat::Toml => format!("{HEAD}version = 1\n"),
            CommandRuleFormat::Yaml => format!("{HEAD}version: 1\n"),
            CommandRuleFormat::Json => "{\n  \"version\": 1\n}\n".to_owned(),
        };
        Self { document, format, rules: Vec::new(), layer }
    }

    /// Parses a document of the user in TOML, and checks every rule and its examples.
    ///
    /// # Errors
    /// The first problem and its position.
    pub fn parse(document: &str) -> Result<Self, CommandRuleFileError> {
        Self::parse_for(document, CommandRuleFormat::Toml, Layer::User)
    }

    /// Parses a document for a layer.
    ///
    /// # Errors
    /// The first problem and its position.
    pub fn parse_for(
        document: &str,
        format: CommandRuleFormat,
        layer: Layer,
    ) -> Result<Self, CommandRuleFileError> {
        let file = CommandRuleFile::parse(document, format, layer)?;
        Ok(Self { document: document.to_owned(), format, rules: file.rules().to_vec(), layer })
    }

    /// Returns the document that [`CustomRules::parse`] reads.
    #[must_use]
    pub fn document(&self) -> &str {
        &self.document
    }

    /// Returns the format of the document.
    #[must_use]
    pub const fn format(&self) -> CommandRuleFormat {
        self.format
    }

    /// Appends a rule.
    ///
    /// # Errors
    /// When it is invalid, its id is taken, or a test of the document fails with it.
    pub fn add(&mut self, rule: &CommandRule) -> Result<(), CommandRuleFileProblem> {
        self.add_all(std::slice::from_ref(rule))
    }

    /// Appends all of the rules, or none. The document is parsed only once.
    ///
    /// # Errors
    /// Same as [`CustomRules::add`], for the first rule that cannot be added.
    pub fn add_all(&mut self, rules: &[CommandRule]) -> Result<(), CommandRuleFileProblem> {
        let mut ids: HashSet<&str> = self.rules.iter().map(|rule| rule.id.as_str()).collect();
        for rule in rules {
            let fail = |problem| CommandRuleError { rule: rule.id.clone(), problem };
            if !ids.insert(&rule.id) {
                return Err(fail(CommandRuleProblem::DuplicateId).into());
            }
            check::rule(rule).map_err(fail)?;
        }
        let values: Vec<String> = rules.iter().map(CommandRule::to_toml_values).collect();
        let document = self.editor().push_tables(RULES, &values);
        self.become_document(&document.map_err(|error| CommandRuleError::together(error.reason))?)
    }

    /// Removes the rule of this id, and returns it.
    ///
    /// # Errors
    /// When a test of the document fails without it.
    pub fn remove(&mut self, id: &str) -> Result<Option<CommandRule>, CommandRuleFileProblem> {
        let Some(index) = self.rules.iter().position(|rule| rule.id == id) else { return Ok(None) };
        let rule = self.rules.get(index).cloned();
        let document = self.editor().remove_table(RULES, index);
        self.become_document(&document.map_err(|error| CommandRuleError::together(error.reason))?)?;
        Ok(rule)
    }

    fn editor(&self) -> Editor<'_> {
        Editor::new(&self.document, self.format.document())
    }

    /// Replaces the document, if the new one is valid.
    fn become_document(&mut self, document: &str) -> Result<(), CommandRuleFileProblem> {
        *self = Self::parse_for(document, self.format, self.layer).map_err(|error| error.problem)?;
        Ok(())
    }

    /// Returns the rules that were added.
    #[must_use]
    pub fn rules(&self) -> &[CommandRule] {
        &self.rules
    }

    /// Returns the rules as a layer.
    #[must_use]
    pub fn layer(&self) -> RuleLayer {
        RuleLayer { layer: self.layer, rules: self.rules.clone(), overrides: Vec::new() }
    }
}
