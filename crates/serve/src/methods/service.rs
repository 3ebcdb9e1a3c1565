//! `ping` and `version`: whether the server is there, and which one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AskedBy, Json, Lane, METHODS, Parameters};
use crate::Server;
use crate::fault::Fault;

/// Say that the server is there.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Ping {}

/// The server is there, and this is how it stands.
#[derive(Serialize, JsonSchema)]
pub(super) struct Pong {
    /// Whether commands begin: not any more, where the server is about to end.
    ready: bool,
}

/// Say which server it is, and what it answers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Version {}

/// Which server it is.
#[derive(Serialize, JsonSchema)]
pub(super) struct Versioned {
    name: &'static str,
    version: &'static str,
    /// The agent that it is for, where it is for one alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    /// Its methods: one that is not there is one that it does not have on this system.
    methods: Vec<&'static str>,
}

impl Parameters for Ping {
    const METHOD: &'static str = "ping";
    const LANE: Lane = Lane::Here;
    type Answer = Pong;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        Ok(Json::of(&Pong { ready: !server.ending.has_begun() }))
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
