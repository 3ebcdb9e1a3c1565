//! Parses the text of a file with the parser of its format.

use stockade_text::{Format, Node};

use super::error::{RuleFileError, RuleFileProblem};
use super::{MAX_RULE_FILE_BYTES, RuleFormat};

/// Parses a file.
pub(super) fn parse(text: &str, format: RuleFormat) -> Result<Node, RuleFileError> {
    let (known, name) = match format {
        RuleFormat::Toml => (Format::Toml, "TOML"),
        RuleFormat::Yaml => (Format::Yaml, "YAML"),
        RuleFormat::Json => (Format::Json, "JSON"),
    };
    stockade_text::parse(text, known, MAX_RULE_FILE_BYTES).map_err(|error| {
        RuleFileError::at(error.at, RuleFileProblem::Syntax { format: name, reason: error.reason })
    })
}
