//! The interface of a store, and the state of each agent.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::agent_limits::AgentLimits;
use super::error::StoreError;
use super::operation::{LimitAnswer, LimitOperation};
use super::status::LimitReset;
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

/// A store of agents' limits, which processes or machines can share.
pub trait LimitStore: fmt::Debug + Send + Sync {
    /// Decides on an operation of an agent and stores what it changes, atomically.
    ///
    /// The store supplies the time, so that all its users agree on it. [`LimitOperation::run`] decides on rows that a store keeps one
    /// by one; [`apply_by_update`] does so on whole states. A store that decides by itself must give the same answers.
    ///
    /// # Errors
    /// When it is not certain that the change was kept. The call in question must then not be made.
    fn apply(
        &self,
        agent: &str,
        limits: &AgentLimits,
        operation: &LimitOperation<'_>,
    ) -> Result<LimitAnswer, StoreError>;
}

/// What an operator asks of a store, whichever it is.
pub trait ManagedStore: LimitStore {
    /// Returns the agents of which anything is known, in the order of their names.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn agents(&self) -> Result<Vec<String>, StoreError>;

    /// Returns what is known of an agent. Of one that is not in the store, nothing was used.
    ///
    /// # Errors
    /// When the store cannot be read, or what is stored of the agent cannot.
    fn look(&self, agent: &str) -> Result<AgentLook, StoreError>;

    /// Lets an agent begin anew, as [`AgentState::reset`] does. Without an exception, also one whose state cannot be read.
    ///
    /// # Errors
    /// When it is not certain that the change was kept.
    fn reset(&self, agent: &str, what: LimitReset) -> Result<(), StoreError>;
}

/// What a store knows of an agent at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentLook {
    /// State of its limits.
    pub state: AgentState,
    /// The time, by the clock that limits are counted by.
    pub now: Duration,
}

/// A change of an agent's state, at the store's current time.
pub type Change<'c> = dyn FnMut(&mut AgentState, Duration) + 'c;

/// A store that can change the whole state of an agent in one step.
pub trait StateStore {
    /// Changes the state of an agent atomically.
    ///
    /// `change` may be called more than once, each time with a fresh state; only the last call counts, and none when an error is
    /// returned.
    ///
    /// # Errors
    /// When it is not certain that the change was kept.
    fn update(&self, agent: &str, change: &mut Change<'_>) -> Result<(), StoreError>;
}

/// Decides on an operation in one change of the whole state of an agent.
///
/// # Errors
/// That of the store.
pub fn apply_by_update(
    store: &(impl StateStore + ?Sized),
    agent: &str,
    limits: &AgentLimits,
    operation: &LimitOperation<'_>,
) -> Result<LimitAnswer, StoreError> {
    let mut answer = None;
    store.update(agent, &mut |state, now| {
        let mut asked = operation.only_asks().then(|| state.clone());
        let AgentState { budget, breaker } = asked.as_mut().unwrap_or(state);
        answer = Some(operation.run(limits, budget, breaker, now));
    })?;
    answer.ok_or_else(|| StoreError::Unavailable {
        doing: "changing the limits",
        source: "the store applied no change and reported no error".into(),
    })
}

/// Shares one store.
impl<S: LimitStore + ?Sized> LimitStore for Arc<S> {
    fn apply(
        &self,
        agent: &str,
        limits: &AgentLimits,
        operation: &LimitOperation<'_>,
    ) -> Result<LimitAnswer, StoreError> {
        (**self).apply(agent, limits, operation)
    }
}

/// Shares one store.
impl<S: StateStore + ?Sized> StateStore for Arc<S> {
    fn update(&self, agent: &str, change: &mut Change<'_>) -> Result<(), StoreError> {
        (**self).update(agent, change)
    }
}
