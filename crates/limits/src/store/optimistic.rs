//! Changing what others may change too, without locking them out.

use std::time::Duration;

use super::{AgentState, Change, StoreError};

/// How often a change is tried before it is given up, which refuses the call.
const MAX_ATTEMPTS: u32 = 500;

/// A state with the version it had when it was loaded.
#[derive(Clone, Debug)]
pub struct Versioned {
    /// The version; it grows with every change. Zero where nothing is stored yet.
    pub version: u64,
    /// The state.
    pub state: AgentState,
    /// What time it is, by the clock that all users of the store share.
    pub now: Duration,
}

/// Whether a change was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Swap {
    /// It was, and the version is one higher now.
    Kept,
    /// It was not: somebody else's came before.
    Stale,
}

/// A store that can compare versions and change a state in one step.
pub trait VersionedStore {
    /// Loads the state of an agent.
    ///
    /// # Errors
    /// When it cannot be loaded or read.
    fn load(&self, agent: &str) -> Result<Versioned, StoreError>;

    /// Keeps a state if the version is still the expected one.
    ///
    /// # Errors
    /// When it is not certain whether it was kept.
    fn swap(&self, agent: &str, expected: u64, state: &AgentState) -> Result<Swap, StoreError>;

    /// Waits a little before the next attempt, so that many users do not get in each other's way forever.
    fn back_off(&self, _attempt: u32) {}
}

/// Loads, changes and keeps a state, again and again until nobody else's change comes in between.
///
/// # Errors
/// The first error of the store, or that too many changes came in between.
pub fn update_optimistically(
    store: &impl VersionedStore,
    agent: &str,
    change: &mut Change<'_>,
) -> Result<(), StoreError> {
    for attempt in 1..=MAX_ATTEMPTS {
        let Versioned { version, mut state, now } = store.load(agent)?;
        change(&mut state, now);
        match store.swap(agent, version, &state)? {
            Swap::Kept => return Ok(()),
            Swap::Stale => store.back_off(attempt),
        }
    }
    Err(StoreError::Contended { agent: agent.to_owned(), attempts: MAX_ATTEMPTS })
}
