//! Who is told that policies have changed: clients that opened a session with `listen`.

use schemars::JsonSchema;
use serde::Serialize;
use stockade_guard::policy::access::ChainChange;

use super::wire::notification;
use crate::Server;

/// Parameters of `policy.changed`: the policies in effect from now on. Sent to every client with a `listen` session.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PolicyChange<'c> {
    /// The session whose policies changed; without one, it is the rules of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'c str>,
    /// The tool whose policies changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'c str>,
    /// The names of its policies, in the order in which they are asked; the names of the rules that were added or removed, for
    /// those of the server.
    policies: Vec<&'c str>,
}

impl Server {
    /// Tells that the policies of tools of a session have changed.
    pub(super) fn tell_of_tools(&self, session: &str, changes: &[ChainChange]) {
        for change in changes {
            let policies = change.policies.iter().map(String::as_str).collect();
            let told = PolicyChange { session: Some(session), tool: Some(&change.tool), policies };
            self.sessions.tell(Some(session), &notification("policy.changed", &told));
        }
    }

    /// Tells that rules of the server have changed.
    pub(super) fn tell_of_rules(&self, ids: &[String]) {
        let policies = ids.iter().map(String::as_str).collect();
        let told = PolicyChange { session: None, tool: None, policies };
        self.sessions.tell(None, &notification("policy.changed", &told));
    }
}
