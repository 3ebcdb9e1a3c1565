//! A store within one process.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use super::agent_limits::AgentLimits;
use super::contract::{AgentState, Change, LimitStore, StateStore, apply_by_update};
use super::error::StoreError;
use super::operation::{LimitAnswer, LimitOperation};

/// Keeps the states of agents in memory, for threads that share them.
///
/// It asks for the time through a function, so that it needs no clock of its own.
pub struct MemoryStore<C> {
    clock: C,
    agents: Mutex<BTreeMap<String, AgentState>>,
}

impl<C: Fn() -> Duration> MemoryStore<C> {
    /// Returns an empty store.
    pub fn new(clock: C) -> Self {
        Self { clock, agents: Mutex::default() }
    }
}

impl<C: Fn() -> Duration + Send + Sync> LimitStore for MemoryStore<C> {
    fn apply(
        &self,
        agent: &str,
        limits: &AgentLimits,
        operation: &LimitOperation<'_>,
    ) -> Result<LimitAnswer, StoreError> {
        apply_by_update(self, agent, limits, operation)
    }
}

impl<C: Fn() -> Duration> StateStore for MemoryStore<C> {
    fn update(&self, agent: &str, change: &mut Change<'_>) -> Result<(), StoreError> {
        let mut agents = self.agents.lock().map_err(|_| StoreError::Unavailable {
            doing: "a thread panicked while it changed the limits",
            source: "its change may be half made".into(),
        })?;
        change(agents.entry(agent.to_owned()).or_default(), (self.clock)());
        Ok(())
    }
}

impl<C> fmt::Debug for MemoryStore<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("agents", &self.agents).finish_non_exhaustive()
    }
}
