//! The interface of a store, and the state that it keeps for each agent.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::breaker::BreakerState;
use crate::budget::BudgetState;

/// State of one agent's limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", default, deny_unknown_fields))]
pub struct AgentState {
    /// Tokens, cost and executions used so far.
    pub budget: BudgetState,
    /// State of the circuit breaker of its service.
    pub breaker: BreakerState,
}

/// A change of an agent's state, at the store's current time.
pub type Change<'c> = dyn FnMut(&mut AgentState, Duration) + 'c;

/// Reads an agent's state, at the store's current time.
pub type StateReader<'r> = dyn FnMut(&AgentState, Duration) + 'r;

/// A store of agents' states, which processes or machines can share.
pub trait LimitStore: fmt::Debug + Send + Sync {
    /// Changes the state of an agent atomically.
    ///
    /// The store supplies the time, so that all its users agree on it. `change` may be called more than once, each time with a
    /// fresh state; only the last call counts, and none when an error is returned.
    ///
    /// # Errors
    /// When it is not certain that the change was kept. The call in question must then not be made.
    fn update(&self, agent: &str, change: &mut Change<'_>) -> Result<(), StoreError>;

    /// Reads the state of an agent at the store's current time. `read` may be called more than once; only the last call counts.
    ///
    /// A store in which nothing is kept yet need not be created for it.
    ///
    /// # Errors
    /// When the state cannot be read. The call in question must then not be made.
    fn read(&self, agent: &str, read: &mut StateReader<'_>) -> Result<(), StoreError> {
        self.update(agent, &mut |state, now| read(state, now))
    }
}

/// Shares one store.
impl<S: LimitStore + ?Sized> LimitStore for Arc<S> {
    fn update(&self, agent: &str, change: &mut Change<'_>) -> Result<(), StoreError> {
        (**self).update(agent, change)
    }

    fn read(&self, agent: &str, read: &mut StateReader<'_>) -> Result<(), StoreError> {
        (**self).read(agent, read)
    }
}

/// Reason why a change was not stored.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The store is unreachable or returned an invalid answer.
    Unavailable {
        /// The operation that failed.
        doing: &'static str,
        /// Cause of the failure.
        source: BoxedError,
    },
    /// The stored state cannot be parsed. It is not replaced, because that would reset the usage.
    Unreadable {
        /// Agent whose state it is.
        agent: String,
        /// Cause of the failure.
        source: BoxedError,
    },
    /// Other users changed the state during every attempt.
    Contended {
        /// Agent whose state it is.
        agent: String,
        /// Number of attempts.
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
