//! `source.resolve` and `source.apply`: how much of a tool's result reaches the model, and which part.

use schemars::JsonSchema;
use serde::Deserialize;
use stockade_guard::limits::source::{ProfileOverride, SourceProfile, extract, resolve_source};

use super::{AskedBy, Json, Lane, Parameters, bytes_of};
use crate::serve::Server;
use crate::serve::fault::Fault;

/// Say which limits hold for the results of a tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Resolve {
    /// The tool.
    tool: String,
    /// What the operator wants otherwise. It is brought between floor and ceiling.
    #[serde(default)]
    #[schemars(with = "Option<Overrides>")]
    overrides: Option<ProfileOverride>,
}

/// Bring a tool's result into the form and size that its limits allow.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Apply {
    /// The tool.
    tool: String,
    /// The result.
    text: Option<String>,
    /// The same as bytes in Base64.
    text_base64: Option<String>,
    /// What it was declared to be: `text/html; charset=utf-8`.
    content_type: Option<String>,
    /// What the operator wants otherwise. It is brought between floor and ceiling.
    #[serde(default)]
    #[schemars(with = "Option<Overrides>")]
    overrides: Option<ProfileOverride>,
}

/// What an operator wants otherwise.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "describes what the layer reads")]
struct Overrides {
    /// How many bytes are looked at.
    max_response_bytes: Option<f64>,
    /// How many characters are kept.
    max_chars: Option<f64>,
    /// Which ones.
    extraction_strategy: Option<Strategy>,
    /// Whether what a person would not see is taken out of HTML.
    strip_hidden: Option<bool>,
}

/// The limits of a tool.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what the layer writes")]
pub(super) struct Profile {
    max_response_bytes: u64,
    max_chars: u64,
    extraction_strategy: Strategy,
    strip_hidden: bool,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
#[expect(dead_code, reason = "describes what the layer reads and writes")]
enum Strategy {
    Readability,
    Structured,
    Tail,
    Raw,
}

/// What may reach the model.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what the layer writes")]
pub(super) struct Extract {
    text: String,
    /// Whether something was left out for its size.
    truncated: bool,
    original_bytes: u64,
}

impl Parameters for Resolve {
    const METHOD: &'static str = "source.resolve";
    const LANE: Lane = Lane::Here;
    type Answer = Profile;

    fn answer(self, _: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        Ok(Json::of(&profile(&self.tool, self.overrides)))
    }
}

impl Parameters for Apply {
    const METHOD: &'static str = "source.apply";
    const LANE: Lane = Lane::Here;
    type Answer = Extract;

    fn answer(self, _: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let bytes = match (self.text, self.text_base64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(base64)) => bytes_of("textBase64", &base64)?,
            _ => return Err(Fault::parameters("give either `text` or `textBase64`")),
        };
        let profile = profile(&self.tool, self.overrides);
        Ok(Json::of(&extract(&bytes, &profile, self.content_type.as_deref())))
    }
}

fn profile(tool: &str, overrides: Option<ProfileOverride>) -> SourceProfile {
    resolve_source(tool, &overrides.unwrap_or_default())
}
