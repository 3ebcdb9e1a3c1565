//! `cancel`: cancels a queued or running command.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AskedBy, Json, Lane, Parameters};
use crate::Server;
use crate::fault::Fault;

/// Cancel an `exec` of this connection, by the `id` of its request. All processes of a running command are killed, and the
/// request is answered with `end`: `cancelled`. A command that has not started is answered with an error and does not run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Cancel {
    /// The `id` of the request, a number or a string, as it was sent.
    id: Value,
}

/// The result of a cancellation.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Cancelled {
    /// Whether a command with this `id` was queued or running; false if the request is already answered or has another method.
    cancelled: bool,
}

impl Parameters for Cancel {
    const METHOD: &'static str = "cancel";
    const LANE: Lane = Lane::Here;
    type Answer = Cancelled;

    fn answer(self, _: &Server, caller: &AskedBy<'_>) -> Result<Json, Fault> {
        Ok(Json::of(&Cancelled { cancelled: caller.queue.in_flight.cancel(&self.id) }))
    }
}
