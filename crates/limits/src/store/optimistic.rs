//! Optimistic concurrency: a change is computed on a copy and kept only if the original was not changed in between.

use std::time::Duration;

use super::contract::{AgentState, Change};
use super::error::StoreError;

/// How often a change is tried before the store gives up, which refuses the call.
const MAX_ATTEMPTS: u32 = 500;

/// A state with the version it had when it was loaded.
#[derive(Clone, Debug)]
pub struct VersionedState {
    /// The version; it grows with every change. Zero where nothing is stored yet.
    pub version: u64,
    /// The state that belongs to that version.
    pub state: AgentState,
    /// What time it is, by the clock that all users of the store share.
    pub now: Duration,
}

/// Whether [`VersionedStore::compare_and_swap`] kept the new state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum SwapResult {
    /// The new state is stored, and the version is one higher now.
    Kept,
    /// Nothing was stored, because another change came first.
    Stale,
}

/// A store that can compare versions and change a state in one step.
pub trait VersionedStore {
    /// Loads the state of an agent.
    ///
    /// # Errors
    /// When it cannot be loaded or read.
    fn load(&self, agent: &str) -> Result<VersionedState, StoreError>;

    /// Stores a state if the version is still the expected one.
    ///
    /// # Errors
    /// When it is not certain whether it was kept.
    fn compare_and_swap(
        &self,
        agent: &str,
        expected: u64,
        state: &AgentState,
    ) -> Result<SwapResult, StoreError>;

    /// Waits a little before the next attempt, so that many users do not get in each other's way forever.
    fn back_off(&self, _attempt: u32) {}
}

/// Loads a state, changes it and stores it, and starts again whenever another change came first: a compare-and-swap loop.
///
/// # Errors
/// The first error of the store, or that too many changes came in between.
pub fn compare_and_swap_loop(
    store: &impl VersionedStore,
    agent: &str,
    change: &mut Change<'_>,
) -> Result<(), StoreError> {
    for attempt in 1..=MAX_ATTEMPTS {
        let VersionedState { version, mut state, now } = store.load(agent)?;
        change(&mut state, now);
        match store.compare_and_swap(agent, version, &state)? {
            SwapResult::Kept => return Ok(()),
            SwapResult::Stale => store.back_off(attempt),
        }
    }
    Err(StoreError::Contended { agent: agent.to_owned(), attempts: MAX_ATTEMPTS })
}
