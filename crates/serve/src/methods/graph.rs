//! `graph.begin` and `graph.end`: a folder that the commands of several agents share.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AskedBy, Json, Lane, Parameters};
use crate::Server;
use crate::fault::Fault;

/// Start a graph run: a directory that only this user may enter. Commands of the agents whose sessions are opened with its
/// `graph` may read and write there; other commands may not. It ends with `graph.end`, or a minute after its client has left.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Begin {}

/// The run that was begun.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Begun {
    /// Its name, for `graph` of session.open. Who knows it may join.
    graph: String,
    /// Its folder, by the same path outside and within a sandbox.
    path: PathBuf,
}

/// End a run of a graph, and take its folder away with all that is in it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct End {
    /// Its name.
    graph: String,
}

/// The run that was ended.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Ended {
    graph: String,
}

impl Parameters for Begin {
    const METHOD: &'static str = "graph.begin";
    const LANE: Lane = Lane::Work;
    type Answer = Begun;

    fn answer(self, server: &Server, caller: &AskedBy<'_>) -> Result<Json, Fault> {
        let (graph, path) = server.graphs.begin(server.options.graphs.as_ref(), caller.traffic.client())?;
        Ok(Json::of(&Begun { graph, path }))
    }
}

impl Parameters for End {
    const METHOD: &'static str = "graph.end";
    const LANE: Lane = Lane::Work;
    type Answer = Ended;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        server.graphs.end(&self.graph)?;
        Ok(Json::of(&Ended { graph: self.graph }))
    }
}
