//! `sanitize`: cleans a text.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use stockade_guard::sanitize::{DEFAULT_MAX_CHARS, SanitizeOptions, sanitize};

use super::{AskedBy, Json, Lane, Parameters};
use crate::Server;
use crate::bounds::MAX_BODY;
use crate::fault::Fault;

/// Remove from a text what a user does not see but a model reads.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Sanitize {
    /// The text.
    text: String,
    /// The maximum number of characters; 20000 by default, 1000000 at most.
    max_body_length: Option<usize>,
}

/// The cleaned text, and what was removed.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what the layer writes")]
pub(super) struct Cleaned {
    /// The text to use instead of the original.
    body: String,
    html_comments_stripped: usize,
    /// Whether it was truncated.
    truncated: bool,
    /// Whether text was hidden in Unicode tag characters.
    tag_block_detected: bool,
    invisible_stripped: Stripped,
    /// The message in the removed characters, if any.
    #[schemars(default)]
    hidden_text: Option<String>,
    /// Notes that a user should review.
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
