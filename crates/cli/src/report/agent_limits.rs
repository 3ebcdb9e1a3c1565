//! How an agent stands with its limits.

use stockade_guard::limits::store::{AgentLimits, AgentStatus};

/// An agent, as far as what is kept of it can be read.
pub(crate) struct AgentAccount {
    pub(crate) name: String,
    pub(crate) limits: AgentLimits,
    pub(crate) status: Result<AgentStatus, String>,
}
