//! `source.resolve` and `source.apply`: limits for the results of tools.

use schemars::JsonSchema;
use serde::Deserialize;
use stockade_guard::Session;
use stockade_guard::output::{Extracted, ProfileOverride, SourceProfile, extract, resolve_source};
use stockade_guard::scanner::Scanner;

use super::{AskedBy, Json, Lane, Parameters, bytes_of};
use crate::Server;
use crate::fault::Fault;
use crate::guarded::undecided;
use crate::sessions::is_short;

/// Return the limits for the results of a tool. In the session of an agent they are configured, and `overrides` can only narrow
/// them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Resolve {
    /// The tool.
    tool: String,
    /// A session of an agent.
    session: Option<String>,
    /// Overrides, which are clamped to the permitted range.
    #[serde(default)]
    overrides: Option<ProfileOverride>,
}

/// Convert a tool's result to the form and size that its limits allow. In the session of an agent it is also cleaned, scanned and
/// recorded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Apply {
    /// The tool.
    tool: String,
    /// A session of an agent.
    session: Option<String>,
    /// The result.
    text: Option<String>,
    /// The result as bytes in Base64.
    text_base64: Option<String>,
    /// Its declared content type: `text/html; charset=utf-8`.
    content_type: Option<String>,
    /// Overrides, which are clamped to the permitted range.
    #[serde(default)]
    overrides: Option<ProfileOverride>,
}

/// The text for the model.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what the layer writes")]
pub(super) struct Extract {
    #[schemars(flatten)]
    extracted: Extracted,
    /// For an agent: the number of removed comments and invisible characters.
    removed: Option<u64>,
    /// For an agent: whether the text contains text hidden in invisible characters.
    hidden: Option<bool>,
    /// For an agent: the scanner's findings, the worst first.
    findings: Option<Vec<serde_json::Value>>,
    /// For an agent: whether the scan or the list of findings is incomplete.
    findings_truncated: Option<bool>,
    /// For an agent: the severity of the worst finding.
    worst: Option<String>,
}

impl Parameters for Resolve {
    const METHOD: &'static str = "source.resolve";
    const LANE: Lane = Lane::Here;
    type Answer = SourceProfile;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let overrides = self.overrides.unwrap_or_default();
        let profile = match guard(server, self.session.as_deref())? {
            Some(guard) => guard.source_profile(&self.tool, &overrides),
            None => resolve_source(&self.tool, &overrides),
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
        let overrides = self.overrides.unwrap_or_default();
        let content_type = self.content_type.as_deref();
        match guard(server, self.session.as_deref())? {
            Some(guard) => {
                is_short("tool", &self.tool)?;
                let result = guard.result(&self.tool, &bytes, content_type, Scanner::builtin(), &overrides);
                Ok(Json::of(&result.map_err(|error| undecided(&error))?))
            }
            None => Ok(Json::of(&extract(&bytes, &resolve_source(&self.tool, &overrides), content_type))),
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
