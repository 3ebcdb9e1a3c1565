//! `sanitize`: cleans a text.

use schemars::JsonSchema;
use serde::Deserialize;
use stockade_guard::sanitize::{DEFAULT_MAX_CHARS, SanitizeOptions, Sanitized, sanitize};

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

impl Parameters for Sanitize {
    const METHOD: &'static str = "sanitize";
    const LANE: Lane = Lane::Here;
    type Answer = Sanitized<'static>;

    fn answer(self, _: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let max_chars = self.max_body_length.unwrap_or(DEFAULT_MAX_CHARS).min(MAX_BODY);
        Ok(Json::of(&sanitize(&self.text, &SanitizeOptions { max_chars, ..SanitizeOptions::default() })))
    }
}
