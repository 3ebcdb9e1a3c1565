//! Limits and usage of an agent.

use stockade_guard::limits::store::{AgentLimits, AgentStatus};

/// The readable part of an agent's record.
pub(crate) struct AgentAccount {
    pub(crate) name: String,
    pub(crate) limits: AgentLimits,
    pub(crate) status: Result<AgentStatus, String>,
}
