//! Methods that panic, in debug builds alone: the tests see that a bug in one request ends nothing but its answer.
#![expect(clippy::panic, reason = "that is what they are for")]

use schemars::JsonSchema;
use serde::Deserialize;

use super::{AskedBy, Json, Lane, Parameters};
use crate::Server;
use crate::fault::Fault;

/// Panics where requests are read.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Here {
    /// What the panic says.
    text: String,
}

/// Panics among the workers.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct AmongWorkers {}

/// Panics among those that wait for commands.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct AmongCommands {}

impl Parameters for Here {
    const METHOD: &'static str = "broken.here";
    const LANE: Lane = Lane::Here;
    type Answer = ();

    fn answer(self, _: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        panic!("{}", self.text)
    }
}

impl Parameters for AmongWorkers {
    const METHOD: &'static str = "broken.worker";
    const LANE: Lane = Lane::Work;
    type Answer = ();

    fn answer(self, _: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        panic!("as planned")
    }
}

impl Parameters for AmongCommands {
    const METHOD: &'static str = "broken.command";
    const LANE: Lane = Lane::Run;
    type Answer = ();

    fn answer(self, _: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        panic!("as planned")
    }
}
