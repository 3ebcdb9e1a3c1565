//! From the text of a file to its nodes, by the parser of its format.

mod toml;
mod yaml;

use super::CommandRuleFormat;
use super::error::{CommandRuleFileError, CommandRuleFileProblem};
use super::node::{At, Node};

/// Parses a file.
pub(super) fn parse(text: &str, format: CommandRuleFormat) -> Result<Node, CommandRuleFileError> {
    match format {
        CommandRuleFormat::Toml => toml::parse(text),
        CommandRuleFormat::Yaml => yaml::parse(text, "YAML"),
        CommandRuleFormat::Json => {
            // JSON is YAML too, whose parser knows where things stand. What YAML allows beyond JSON is refused first.
            serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(|error| {
                let at = At { line: error.line().max(1), column: error.column().max(1) };
                refuse(at, "JSON", &error.to_string())
            })?;
            yaml::parse(text, "JSON")
        }
    }
}

/// Makes an error of what a parser says, without the place that it repeats and without its drawing.
fn refuse(at: At, format: &'static str, message: &str) -> CommandRuleFileError {
    let line = message.lines().find(|line| !line.trim().is_empty()).unwrap_or(message);
    let reason = line.split_once(" at line ").map_or(line, |(reason, _)| reason).trim().to_owned();
    at.refuse(CommandRuleFileProblem::Syntax { format, reason })
}
