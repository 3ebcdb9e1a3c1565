//! `ping` and `version`: the status and version of the server.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AskedBy, Json, Lane, METHODS, Parameters};
use crate::Server;
use crate::fault::Fault;

/// Check that the server answers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Ping {}

/// The status of the server.
#[derive(Serialize, JsonSchema)]
pub(super) struct Pong {
    /// Whether new commands start; false while the server is shutting down.
    ready: bool,
}

/// Return the version of the server and its methods.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Version {}

/// The version of the server.
#[derive(Serialize, JsonSchema)]
pub(super) struct Versioned {
    name: &'static str,
    version: &'static str,
    /// The agent, if the server serves a single one.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    /// The methods that are available on this system.
    methods: Vec<&'static str>,
}

impl Parameters for Ping {
    const METHOD: &'static str = "ping";
    const LANE: Lane = Lane::Here;
    type Answer = Pong;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        Ok(Json::of(&Pong { ready: !server.shutdown.has_begun() }))
    }
}

impl Parameters for Version {
    const METHOD: &'static str = "version";
    const LANE: Lane = Lane::Here;
    type Answer = Versioned;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        Ok(Json::of(&Versioned {
            name: "stockade",
            version: env!("CARGO_PKG_VERSION"),
            agent: server.options.agent.clone(),
            methods: METHODS.iter().map(|method| method.name).collect(),
        }))
    }
}
