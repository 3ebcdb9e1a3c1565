//! Notifications of policy changes, to clients with a `listen` session.

use schemars::JsonSchema;
use serde::Serialize;
use stockade_guard::policy::access::ChainChange;

use super::wire::notification;
use crate::Server;

/// Parameters of `policy.changed`: the policies in effect from now on. Sent to every client with a `listen` session.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PolicyChange<'c> {
    /// The session whose policies changed; missing if the rules of the server changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'c str>,
    /// The tool whose policies changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'c str>,
    /// The names of its policies, in order of evaluation; for rules of the server, the names of the added or removed rules.
    policies: Vec<&'c str>,
}

impl Server {
    /// Notifies listeners that tool policies of a session changed.
    pub(super) fn tell_of_tools(&self, session: &str, changes: &[ChainChange]) {
        for change in changes {
            let policies = change.policies.iter().map(String::as_str).collect();
            let told = PolicyChange { session: Some(session), tool: Some(&change.tool), policies };
            self.sessions.tell(Some(session), &notification("policy.changed", &told));
        }
    }

    /// Notifies listeners that rules of the server changed.
    pub(super) fn tell_of_rules(&self, ids: &[String]) {
        let policies = ids.iter().map(String::as_str).collect();
        let told = PolicyChange { session: None, tool: None, policies };
        self.sessions.tell(None, &notification("policy.changed", &told));
    }
}
