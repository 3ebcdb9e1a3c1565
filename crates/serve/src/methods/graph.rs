//! `graph.begin` and `graph.end`: a directory that commands of several agents share.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AskedBy, Json, Lane, Parameters};
use crate::Server;
use crate::fault::Fault;

/// Start a graph run: a directory that only this user can access. Commands of agents whose sessions were opened with its `graph`
/// can read and write it; other commands cannot. It ends with `graph.end`, or a minute after its client disconnected.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Begin {}

/// The graph run that was started.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Begun {
    /// Its name, for `graph` of session.open. It cannot be guessed: every client that knows it can join.
    graph: String,
    /// Its directory, at the same path inside and outside of sandboxes.
    path: PathBuf,
}

/// End a graph run, and delete its directory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct End {
    /// Its name.
    graph: String,
}

/// The graph run that was ended.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Ended {
    graph: String,
}

impl Parameters for Begin {
    const METHOD: &'static str = "graph.begin";
    const LANE: Lane = Lane::Work;
    type Answer = Begun;

    fn answer(self, server: &Server, caller: &AskedBy<'_>) -> Result<Json, Fault> {
        let (graph, path) = server.graphs.begin(server.options.graphs.as_ref(), caller.queue.client())?;
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
