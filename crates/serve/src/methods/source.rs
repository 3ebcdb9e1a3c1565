//! `source.resolve` and `source.apply`: how much of a tool's result reaches the model, and which part.

use schemars::JsonSchema;
use serde::Deserialize;
use stockade_guard::Session;
use stockade_guard::output::{ProfileOverride, extract, resolve_source};
use stockade_guard::scanner::Scanner;

use super::{AskedBy, Json, Lane, Parameters, bytes_of};
use crate::Server;
use crate::fault::Fault;
use crate::guarded::undecided;
use crate::sessions::is_short;

/// Say which limits hold for the results of a tool. In the session of an agent its configuration says so, and `overrides` only
/// narrow.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Resolve {
    /// The tool.
    tool: String,
    /// A session of an agent.
    session: Option<String>,
    /// What the operator wants otherwise. It is brought between floor and ceiling.
    #[serde(default)]
    #[schemars(with = "Option<Overrides>")]
    overrides: Option<ProfileOverride>,
}

/// Bring a tool's result into the form and size that its limits allow. In the session of an agent it is cleaned and scanned as
/// well, and put on record.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Apply {
    /// The tool.
    tool: String,
    /// A session of an agent.
    session: Option<String>,
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
#[schemars(rename = "SourceOverrides")]
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
#[schemars(rename = "ExtractionStrategy")]
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
    /// For an agent: how many comments and invisible characters were taken out.
    removed: Option<u64>,
    /// For an agent: whether the text contains text hidden in invisible characters.
    hidden: Option<bool>,
    /// For an agent: what the scanner found, the worst first.
    findings: Option<Vec<serde_json::Value>>,
    /// For an agent: whether there is more than was looked at or is listed.
    findings_truncated: Option<bool>,
    /// For an agent: how bad the worst finding is.
    worst: Option<String>,
}

impl Parameters for Resolve {
    const METHOD: &'static str = "source.resolve";
    const LANE: Lane = Lane::Here;
    type Answer = Profile;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let wish = self.overrides.unwrap_or_default();
        let profile = match guard(server, self.session.as_deref())? {
            Some(guard) => guard.source_profile(&self.tool, &wish),
            None => resolve_source(&self.tool, &wish),
        };
        Ok(Json::of(&profile))
    }

    fn reads_disk(server: &Server, parameters: &str) -> bool {
        server.options.agent.is_some() || parameters.contains("\"session\"")
    }
}

impl Parameters for Apply {
    const METHOD: &'static str = "source.apply";
    const LANE: Lane = Lane::Here;
    type Answer = Extract;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let bytes = match (self.text, self.text_base64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(base64)) => bytes_of("textBase64", &base64)?,
            _ => return Err(Fault::parameters("give either `text` or `textBase64`")),
        };
        let wish = self.overrides.unwrap_or_default();
        let content_type = self.content_type.as_deref();
        match guard(server, self.session.as_deref())? {
            Some(guard) => {
                is_short("tool", &self.tool)?;
                let result = guard.result(&self.tool, &bytes, content_type, Scanner::builtin(), &wish);
                Ok(Json::of(&result.map_err(|error| undecided(&error))?))
            }
            None => Ok(Json::of(&extract(&bytes, &resolve_source(&self.tool, &wish), content_type))),
        }
    }

    fn reads_disk(server: &Server, parameters: &str) -> bool {
        server.options.agent.is_some() || parameters.contains("\"session\"")
    }
}

fn guard(server: &Server, name: Option<&str>) -> Result<Option<Session>, Fault> {
    let session = server.session_of(name)?;
    session.as_ref().and_then(|session| session.of_agent()).map(|guarded| guarded.now(server)).transpose()
}
