//! `net.check`: decisions on hosts for the commands of an agent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stockade_guard::Decision;

use super::{AskedBy, Json, Lane, Parameters};
use crate::Server;
use crate::fault::Fault;
use crate::guarded::undecided;

/// Decide whether commands of an agent may connect to hosts, by the agent's configuration. No name is resolved, so an answer
/// about a name does not cover its addresses.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Check {
    /// The session of an agent; on a server for one agent, the agent's by default.
    session: Option<String>,
    /// The hosts: names, addresses or URLs, with an optional port. At most a thousand.
    hosts: Vec<String>,
}

/// The decision on each host, in the order of the request.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Checked {
    /// The decisions, each with `id`, `layer`, `effect`, `subject`, `rule`, `reason`, and `fix` for a refusal.
    #[schemars(with = "Vec<Map<String, Value>>")]
    decisions: Vec<Decision>,
}

/// Maximum number of hosts in a request.
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
