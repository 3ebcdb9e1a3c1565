//! Parses the text of a file into document nodes.

use stockade_text::{Format, Node};

use super::error::{CommandRuleFileError, CommandRuleFileProblem};
use super::{CommandRuleFormat, MAX_COMMAND_RULE_FILE_BYTES};

/// Parses a file.
pub(super) fn parse(text: &str, format: CommandRuleFormat) -> Result<Node, CommandRuleFileError> {
    let (known, name) = match format {
        CommandRuleFormat::Toml => (Format::Toml, "TOML"),
        CommandRuleFormat::Yaml => (Format::Yaml, "YAML"),
        CommandRuleFormat::Json => (Format::Json, "JSON"),
    };
    stockade_text::parse(text, known, MAX_COMMAND_RULE_FILE_BYTES).map_err(|error| {
        CommandRuleFileError::at(
            error.at,
            CommandRuleFileProblem::Syntax { format: name, reason: error.reason },
        )
    })
}
