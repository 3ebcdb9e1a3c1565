//! From the text of a file to its nodes, by the parser of its format.

mod toml;
mod yaml;

use super::RuleFormat;
use super::error::{RuleFileError, RuleFileProblem};
use super::node::{At, Node};

/// Parses a file.
pub(super) fn parse(text: &str, format: RuleFormat) -> Result<Node, RuleFileError> {
    match format {
        RuleFormat::Toml => toml::parse(text),
        RuleFormat::Yaml => yaml::parse(text, "YAML"),
        RuleFormat::Json => {
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
fn refuse(at: At, format: &'static str, message: &str) -> RuleFileError {
    let line = message.lines().find(|line| !line.trim().is_empty()).unwrap_or(message);
    let reason = line.split_once(" at line ").map_or(line, |(reason, _)| reason).trim().to_owned();
    at.refuse(RuleFileProblem::Syntax { format, reason })
}
