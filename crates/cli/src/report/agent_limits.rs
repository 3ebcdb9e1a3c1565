//! Limits and usage of an agent.

use stockade_guard::limits::budget::Balance;
use stockade_guard::limits::store::{AgentLimits, AgentStatus};

/// The readable part of an agent's record.
pub(crate) struct AgentAccount {
    pub(crate) name: String,
    pub(crate) limits: AgentLimits,
    pub(crate) status: Result<AgentStatus, String>,
}

impl AgentAccount {
    /// Returns what changes by calls and resets, and not by time alone.
    pub(crate) fn without_times(&self) -> (String, Result<AgentStatus, String>) {
        let timeless = |balance: &Balance| {
            let mut balance = *balance;
            balance.frees_at = None;
            balance
        };
        let status = self.status.clone().map(|mut status| {
            (status.hour, status.day) = (timeless(&status.hour), timeless(&status.day));
            for (_, balance) in &mut status.executions {
                *balance = timeless(balance);
            }
            status
        });
        (self.name.clone(), status)
    }
}
