//! `net.check`: whether the commands of an agent may talk to hosts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stockade_guard::Decision;

use super::{AskedBy, Json, Lane, Parameters};
use crate::Server;
use crate::fault::Fault;
use crate::guarded::undecided;

/// Say whether the commands of an agent may talk to hosts, as its configuration has it. Nothing is looked up, so an answer about a
/// name holds for the name alone.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Check {
    /// The session of an agent; its own on a server for one agent.
    session: Option<String>,
    /// The hosts: a name or an address, perhaps with a port, or a URL. At most a thousand.
    hosts: Vec<String>,
}

/// What was decided about each host, in the order of the request.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Checked {
    /// Each with `id`, `layer`, `effect`, `subject`, `rule`, `reason`, and `fix` where it is refused.
    #[schemars(with = "Vec<Map<String, Value>>")]
    decisions: Vec<Decision>,
}

/// The most hosts of a request.
const MAX_HOSTS: usize = 1000;

impl Parameters for Check {
    const METHOD: &'static str = "net.check";
    const LANE: Lane = Lane::Work;
    type Answer = Checked;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        if self.hosts.len() > MAX_HOSTS {
            return Err(Fault::parameters(format!("`hosts` has more than {MAX_HOSTS} entries")));
        }
        let session = server.session_of(self.session.as_deref())?;
        let Some(guarded) = session.as_ref().and_then(|session| session.of_agent()) else {
            let message =
                "`session` is to be that of an agent, whose configuration decides: session.open opens one";
            return Err(Fault::parameters(message));
        };
        let session = guarded.now(server)?;
        let decisions = self.hosts.iter().map(|host| session.host(host).map_err(|error| undecided(&error)));
        Ok(Json::of(&Checked { decisions: decisions.collect::<Result<_, _>>()? }))
    }
}
