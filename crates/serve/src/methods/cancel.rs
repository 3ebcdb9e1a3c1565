//! `cancel`: ends a command that waits or runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AskedBy, Json, Lane, Parameters};
use crate::Server;
use crate::fault::Fault;

/// End an `exec` that is under way on this connection, by the `id` of its request: all that it started is gone, and it is
/// answered with `end`: `cancelled`. One that has not begun is answered with an error, and nothing of it runs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Cancel {
    /// The `id` of the request, a number or a string as it was sent.
    id: Value,
}

/// Whether there was something to end.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Cancelled {
    /// Whether a command of this id was under way; false where it is answered already, or is another method.
    cancelled: bool,
}

impl Parameters for Cancel {
    const METHOD: &'static str = "cancel";
    const LANE: Lane = Lane::Here;
    type Answer = Cancelled;

    fn answer(self, _: &Server, caller: &AskedBy<'_>) -> Result<Json, Fault> {
        Ok(Json::of(&Cancelled { cancelled: caller.traffic.under_way.cancel(&self.id) }))
    }
}
