//! `sanitize`: cleans a text.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use stockade_guard::sanitize::{DEFAULT_MAX_CHARS, SanitizeOptions, sanitize};

use super::{AskedBy, Json, Lane, Parameters};
use crate::Server;
use crate::bounds::MAX_BODY;
use crate::fault::Fault;

/// Take out of a text what a person does not see and a model does.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Sanitize {
    /// The text.
    text: String,
    /// The most characters to keep; 20000 by default, and at most 1000000.
    max_body_length: Option<usize>,
}

/// The clean text, and what was done to it.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what the layer writes")]
pub(super) struct Cleaned {
    /// The text to use in place of the original.
    body: String,
    html_comments_stripped: usize,
    /// Whether it was cut.
    truncated: bool,
    /// Whether text was hidden in characters of the tag block.
    tag_block_detected: bool,
    invisible_stripped: Stripped,
    /// The message that the removed characters spell, if they spell one.
    #[schemars(default)]
    hidden_text: Option<String>,
    /// What a person should look at.
    notes: Vec<String>,
    /// Whether the body differs from the text.
    changed: bool,
}

/// The invisible characters that were removed.
#[derive(JsonSchema)]
#[schemars(rename = "StrippedCharacters")]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what the layer writes")]
struct Stripped {
    count: usize,
    by_name: BTreeMap<String, usize>,
}

impl Parameters for Sanitize {
    const METHOD: &'static str = "sanitize";
    const LANE: Lane = Lane::Here;
    type Answer = Cleaned;

    fn answer(self, _: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let max_chars = self.max_body_length.unwrap_or(DEFAULT_MAX_CHARS).min(MAX_BODY);
        Ok(Json::of(&sanitize(&self.text, &SanitizeOptions { max_chars, ..SanitizeOptions::default() })))
    }
}
