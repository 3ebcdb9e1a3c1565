//! Where limits are kept across restarts and between processes and machines.

#[cfg(feature = "sqlite")]
mod clock;
#[cfg(all(feature = "config", feature = "sqlite"))]
mod configured;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "sqlite")]
mod sqlite;

#[cfg(all(feature = "config", feature = "sqlite"))]
pub use self::configured::{LazyLimitStore, open_limit_store};
#[cfg(feature = "redis")]
pub use self::redis::{Forgetting, RedisOptions, RedisStore};
#[cfg(feature = "sqlite")]
pub use self::sqlite::SqliteStore;

use stockade_limits::store::{AgentState, StoreError};

/// Writes a state as a store keeps it.
fn write(state: &AgentState) -> Result<String, StoreError> {
    serde_json::to_string(state)
        .map_err(|source| StoreError::Unavailable { doing: "writing a state as JSON", source: source.into() })
}

/// Reads a state as a store keeps it. One that cannot be read is an error: starting anew would forget what was used.
fn read(agent: &str, state: Option<&str>) -> Result<AgentState, StoreError> {
    let Some(state) = state else { return Ok(AgentState::default()) };
    serde_json::from_str(state)
        .map_err(|source| StoreError::Unreadable { agent: agent.to_owned(), source: source.into() })
}
