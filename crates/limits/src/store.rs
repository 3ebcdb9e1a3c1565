//! Keeping limits where several processes or machines share them.

mod memory;
mod optimistic;
mod shared;
mod status;

use std::time::Duration;

pub use self::memory::MemoryStore;
pub use self::optimistic::{Swap, Versioned, VersionedStore, update_optimistically};
pub use self::shared::{AgentLimits, CallPermit, CallRefusal, CallVerdict, SharedLimits};
pub use self::status::{AgentStatus, LimitReset};

use crate::breaker::BreakerState;
use crate::budget::BudgetState;

/// Everything that is remembered of one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", default, deny_unknown_fields))]
pub struct AgentState {
    /// What it used.
    pub budget: BudgetState,
    /// How its service is doing.
    pub breaker: BreakerState,
}

/// A change of an agent's state at a time.
pub type Change<'c> = dyn FnMut(&mut AgentState, Duration) + 'c;

/// Keeps the states of agents.
pub trait LimitStore: std::fmt::Debug + Send + Sync {
    /// Changes the state of an agent in one step, which no other user of the store can come between.
    ///
    /// The store says what time it is, so that all its users agree. `change` may be called more than once, each time with a
    /// fresh state; only the last call counts, and none when an error is returned.
    ///
    /// # Errors
    /// When it is not certain that the change was kept. The call in question must then not be made.
    fn update(&self, agent: &str, change: &mut Change<'_>) -> Result<(), StoreError>;
}

/// Why a change was not kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store cannot be reached or does not answer as it should.
    #[error("the store of limits cannot be used: {doing}")]
    Unavailable {
        /// What was tried.
        doing: &'static str,
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// What is stored cannot be read. It is not replaced, since that would forget what was used.
    #[error("what is stored of agent `{agent}` cannot be read")]
    Unreadable {
        /// Whose state it is.
        agent: String,
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Others changed the state again and again in between.
    #[error("the limits of agent `{agent}` changed {attempts} times in between")]
    Contended {
        /// Whose state it is.
        agent: String,
        /// How often it was tried.
        attempts: u32,
    },
}
