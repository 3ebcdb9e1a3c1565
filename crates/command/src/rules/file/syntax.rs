//! Parses the text of a file into document nodes.

use stockade_text::Node;

use super::error::{CommandRuleFileError, CommandRuleFileProblem};
use super::{CommandRuleFormat, MAX_COMMAND_RULE_FILE_BYTES};

/// Parses a file.
pub(super) fn parse(text: &str, format: CommandRuleFormat) -> Result<Node, CommandRuleFileError> {
    let name = match format {
        CommandRuleFormat::Toml => "TOML",
        CommandRuleFormat::Yaml => "YAML",
        CommandRuleFormat::Json => "JSON",
    };
    stockade_text::parse(text, format.document(), MAX_COMMAND_RULE_FILE_BYTES).map_err(|error| {
        CommandRuleFileError::at(
            error.at,
            CommandRuleFileProblem::Syntax { format: name, reason: error.reason },
        )
    })
}
