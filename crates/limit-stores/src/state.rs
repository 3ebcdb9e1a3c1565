//! States as text.

use stockade_limits::store::{AgentState, StoreError};

/// Writes a state as a store keeps it.
pub(crate) fn write(state: &AgentState) -> Result<String, StoreError> {
    serde_json::to_string(state)
        .map_err(|source| StoreError::Unavailable { doing: "writing a state as JSON", source: source.into() })
}

/// Reads a state as a store keeps it. One that cannot be read is an error: starting anew would forget what was used.
pub(crate) fn read(agent: &str, state: Option<&str>) -> Result<AgentState, StoreError> {
    let Some(state) = state else { return Ok(AgentState::default()) };
    serde_json::from_str(state)
        .map_err(|source| StoreError::Unreadable { agent: agent.to_owned(), source: source.into() })
}
