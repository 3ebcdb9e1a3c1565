//! Keeping limits where several processes or machines share them.

mod memory;
mod optimistic;
mod shared;
mod status;

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use self::memory::MemoryStore;
pub use self::optimistic::{SwapResult, VersionedState, VersionedStore, compare_and_swap_loop};
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
pub trait LimitStore: fmt::Debug + Send + Sync {
    /// Changes the state of an agent in one step, which no other user of the store can come between.
    ///
    /// The store says what time it is, so that all its users agree. `change` may be called more than once, each time with a
    /// fresh state; only the last call counts, and none when an error is returned.
    ///
    /// # Errors
    /// When it is not certain that the change was kept. The call in question must then not be made.
    fn update(&self, agent: &str, change: &mut Change<'_>) -> Result<(), StoreError>;
}

/// One store, for all who share it.
impl<S: LimitStore + ?Sized> LimitStore for Arc<S> {
    fn update(&self, agent: &str, change: &mut Change<'_>) -> Result<(), StoreError> {
        (**self).update(agent, change)
    }
}

/// Why a change was not kept.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The store cannot be reached or does not answer as it should.
    Unavailable {
        /// What was tried.
        doing: &'static str,
        /// What went wrong.
        source: BoxedError,
    },
    /// What is stored cannot be read. It is not replaced, since that would forget what was used.
    Unreadable {
        /// Whose state it is.
        agent: String,
        /// What went wrong.
        source: BoxedError,
    },
    /// Others changed the state again and again in between.
    Contended {
        /// Whose state it is.
        agent: String,
        /// How often it was tried.
        attempts: u32,
    },
}

type BoxedError = Box<dyn Error + Send + Sync>;

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable { doing, .. } => write!(f, "the store of limits cannot be used: {doing}"),
            Self::Unreadable { agent, .. } => write!(f, "what is stored of agent `{agent}` cannot be read"),
            Self::Contended { agent, attempts } => {
                write!(f, "the limits of agent `{agent}` changed {attempts} times in between")
            }
        }
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unavailable { source, .. } | Self::Unreadable { source, .. } => Some(source.as_ref()),
            Self::Contended { .. } => None,
        }
    }
}
