//! Rules for commands: their format, and how they are matched.

mod about;
pub(crate) mod aliases;
pub(crate) mod builtin;
pub(crate) mod check;
#[cfg(feature = "rule-files")]
pub(crate) mod claude;
#[cfg(feature = "rule-files")]
mod code_buddy;
#[cfg(feature = "rule-files")]
pub(crate) mod custom;
mod disguises;
pub(crate) mod effect;
pub(crate) mod expressions;
#[cfg(feature = "rule-files")]
pub(crate) mod file;
pub(crate) mod folder_settings;
pub(crate) mod harmless;
pub(crate) mod in_words;
pub(crate) mod layer;
pub(crate) mod lint;
mod lint_finding;
mod listed_options;
pub(crate) mod matcher;
mod options;
pub(crate) mod program;
pub(crate) mod rule;
pub(crate) mod set;
pub(crate) mod shadow;
pub(crate) mod token;
pub(crate) mod write;

pub use check::CommandRuleProblem;
#[cfg(feature = "rule-files")]
pub use claude::{ClaudeSettingsError, ImportNote, ImportedRules};
#[cfg(feature = "rule-files")]
pub use custom::CustomRules;
#[cfg(feature = "rule-files")]
pub use file::error::{CommandRuleFileError, CommandRuleFileProblem};
#[cfg(feature = "rule-files")]
pub use file::{CommandRuleFile, CommandRuleFormat, CommandTest, MAX_COMMAND_RULE_FILE_BYTES};
pub use in_words::{RuleInWordsError, free_id};
pub use layer::FloorOverride;
pub use lint::{Lint, lint as lint_rules};
pub use rule::{CommandPattern, Example, Guards, Redirects, RegexScope};
pub use shadow::ShadowedRule;
