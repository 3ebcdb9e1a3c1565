//! Whole states of agents, put together of the rows that stores keep.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stockade_limits::breaker::BreakerState;
use stockade_limits::budget::{ExecutionRow, HoldRow, WindowRow};
use stockade_limits::store::{AgentState, StoreError};

/// An [`AgentState`] in parts. Both have the same form in JSON, by which one becomes the other and is checked.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Whole {
    pub(crate) budget: WholeBudget,
    pub(crate) breaker: BreakerState,
}

/// The part of a state that is its budget.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WholeBudget {
    pub(crate) clock: u64,
    pub(crate) hour: Vec<WindowRow>,
    pub(crate) day: Vec<WindowRow>,
    pub(crate) executions: BTreeMap<String, ExecutionRow>,
    pub(crate) holds: BTreeMap<u64, HoldRow>,
    pub(crate) next_hold: u64,
}

impl Whole {
    /// Puts the state of an agent together.
    pub(crate) fn state(&self, agent: &str) -> Result<AgentState, StoreError> {
        let whole = serde_json::to_value(self);
        let state = whole.and_then(serde_json::from_value);
        state.map_err(|source| StoreError::Unreadable { agent: agent.to_owned(), source: source.into() })
    }
}
