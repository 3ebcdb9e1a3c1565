//! The limits of agents, decided on a store.

use super::agent_limits::AgentLimits;
use super::contract::LimitStore;
use super::error::StoreError;
use super::operation::{AdmittedCall, Grant, LimitAnswer, LimitOperation};
use super::refusal::CallRefusal;
use crate::amount::Usage;
use crate::breaker::CallOutcome;
use crate::budget::Settled;

/// Budgets and breakers of agents on a store that others may share.
///
/// ```
/// use std::time::Duration;
/// use stockade_limits::Usage;
/// use stockade_limits::breaker::CallOutcome;
/// use stockade_limits::store::{AgentLimits, CallVerdict, MemoryStore, SharedLimits};
///
/// let store = MemoryStore::new(|| Duration::from_secs(1));
/// let limits = SharedLimits::new(AgentLimits::default(), store);
/// match limits.admit("agent-1", "task-1", Usage::tokens(10_000)) {
///     CallVerdict::Granted(permit) => {
///         limits.settle(permit, Usage::tokens(8_000), CallOutcome::Success)?;
///     }
///     CallVerdict::Refused(refusal) => eprintln!("{refusal}"),
/// }
/// # Ok::<(), stockade_limits::store::StoreError>(())
/// ```
#[derive(Debug)]
pub struct SharedLimits<S> {
    limits: AgentLimits,
    store: S,
}

/// The answer to [`SharedLimits::admit`].
#[derive(Debug)]
#[must_use]
pub enum CallVerdict {
    /// The call may be made; settle the permit when it is over.
    Granted(CallPermit),
    /// The call must not be made.
    Refused(CallRefusal),
}

/// Leave to make one call.
#[derive(Debug)]
#[must_use = "a permit that is never settled is charged in full when its lease ends"]
pub struct CallPermit {
    agent: String,
    execution: String,
    estimate: Usage,
    grant: Grant,
}

impl CallPermit {
    /// Returns how many steps the execution has left; nothing where they are not bounded.
    #[must_use]
    pub const fn steps_left(&self) -> Option<u32> {
        self.grant.steps_left
    }

    fn call(&self) -> AdmittedCall<'_> {
        AdmittedCall { execution: &self.execution, estimate: self.estimate, grant: &self.grant }
    }
}

impl<S: LimitStore> SharedLimits<S> {
    /// Returns limits on a store.
    pub fn new(limits: AgentLimits, store: S) -> Self {
        Self { limits, store }
    }

    /// Returns the store.
    pub const fn store(&self) -> &S {
        &self.store
    }

    /// Decides whether an agent may make a call that costs up to `estimate`, which is one step of its execution. A call that is
    /// refused is not a step. A store that fails refuses.
    pub fn admit(&self, agent: &str, execution: &str, estimate: Usage) -> CallVerdict {
        match self.store.apply(agent, &self.limits, &LimitOperation::Admit { execution, estimate }) {
            Ok(LimitAnswer::Granted(grant)) => {
                let (agent, execution) = (agent.to_owned(), execution.to_owned());
                CallVerdict::Granted(CallPermit { agent, execution, estimate, grant })
            }
            Ok(LimitAnswer::Refused(refusal)) => CallVerdict::Refused(refusal),
            Ok(other) => CallVerdict::Refused(CallRefusal::Store(unexpected(&other))),
            Err(error) => CallVerdict::Refused(CallRefusal::Store(error)),
        }
    }

    /// Counts a step that costs nothing by itself, such as a command: it is taken where the execution has one left, anything is
    /// left of the budgets, and the service is not left alone. Returns how many are left.
    ///
    /// # Errors
    /// The refusal. The step must not be taken then.
    pub fn take_step(&self, agent: &str, execution: &str) -> Result<Option<u32>, CallRefusal> {
        match self.store.apply(agent, &self.limits, &LimitOperation::TakeStep { execution }) {
            Ok(LimitAnswer::Step { left }) => Ok(left),
            Ok(LimitAnswer::Refused(refusal)) => Err(refusal),
            Ok(other) => Err(CallRefusal::Store(unexpected(&other))),
            Err(error) => Err(CallRefusal::Store(error)),
        }
    }

    /// Returns whether an agent may do anything at all: whether anything is left of its budgets, and its service is not left
    /// alone. Nothing is counted.
    ///
    /// # Errors
    /// The refusal.
    pub fn check(&self, agent: &str) -> Result<(), CallRefusal> {
        match self.store.apply(agent, &self.limits, &LimitOperation::Check) {
            Ok(LimitAnswer::Done) => Ok(()),
            Ok(LimitAnswer::Refused(refusal)) => Err(refusal),
            Ok(other) => Err(CallRefusal::Store(unexpected(&other))),
            Err(error) => Err(CallRefusal::Store(error)),
        }
    }

    /// Charges what a call did cost, and takes note of how it went.
    ///
    /// # Errors
    /// When the store fails. The call is then charged at its full estimate when its lease ends.
    #[expect(clippy::needless_pass_by_value, reason = "takes the permit away, so that it is settled once")]
    pub fn settle(
        &self,
        permit: CallPermit,
        actual: Usage,
        outcome: CallOutcome,
    ) -> Result<Settled, StoreError> {
        let operation = LimitOperation::Settle { call: permit.call(), actual, outcome };
        match self.store.apply(&permit.agent, &self.limits, &operation)? {
            LimitAnswer::Settled(settled) => Ok(settled),
            other => Err(unexpected(&other)),
        }
    }

    /// Gives back the permit of a call that was never made.
    ///
    /// # Errors
    /// When the store fails. The call is then charged at its full estimate when its lease ends.
    #[expect(clippy::needless_pass_by_value, reason = "takes the permit away, so that it is given back once")]
    pub fn withdraw(&self, permit: CallPermit) -> Result<(), StoreError> {
        let operation = LimitOperation::Withdraw { call: permit.call() };
        self.store.apply(&permit.agent, &self.limits, &operation).map(drop)
    }

    /// Closes an execution of an agent.
    ///
    /// # Errors
    /// When the store fails. The execution then stays open, with what it used.
    pub fn end_execution(&self, agent: &str, execution: &str) -> Result<(), StoreError> {
        self.store.apply(agent, &self.limits, &LimitOperation::End { execution }).map(drop)
    }
}

/// An answer to another operation. Nothing is known then, which refuses.
fn unexpected(answer: &LimitAnswer) -> StoreError {
    let source = format!("unexpected answer {answer:?}").into();
    StoreError::Unavailable { doing: "asking what was used", source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Allowance;
    use crate::store::MemoryStore;
    use std::num::NonZeroU32;
    use std::time::Duration;

    const NOW: Duration = Duration::from_secs(100);

    fn limits() -> AgentLimits {
        let mut limits = AgentLimits { max_steps: Some(2), ..AgentLimits::default() };
        limits.budget.per_hour = Allowance::tokens(100);
        limits.breaker.failure_threshold = NonZeroU32::MIN;
        limits
    }

    #[test]
    fn steps_are_counted_for_each_execution_by_all_who_share_the_store() {
        let store = std::sync::Arc::new(MemoryStore::new(|| NOW));
        let client = || SharedLimits::new(limits(), std::sync::Arc::clone(&store));
        assert_eq!(client().take_step("bot", "task").unwrap(), Some(1));
        let CallVerdict::Granted(permit) = client().admit("bot", "task", Usage::tokens(10)) else { panic!() };
        assert_eq!(permit.steps_left(), Some(0));
        assert!(matches!(client().take_step("bot", "task"), Err(CallRefusal::Steps { limit: 2 })));
        let refused = client().admit("bot", "task", Usage::ZERO);
        assert!(matches!(refused, CallVerdict::Refused(CallRefusal::Steps { limit: 2 })), "{refused:?}");
        assert_eq!(client().take_step("bot", "another").unwrap(), Some(1));
        assert_eq!(client().take_step("other", "task").unwrap(), Some(1));
        client().end_execution("bot", "task").unwrap();
        assert_eq!(client().take_step("bot", "task").unwrap(), Some(1));
    }

    #[test]
    fn a_call_that_is_refused_is_no_step() {
        let client = SharedLimits::new(limits(), MemoryStore::new(|| NOW));
        let refused = client.admit("bot", "task", Usage::tokens(101));
        assert!(matches!(refused, CallVerdict::Refused(CallRefusal::Budget(_))), "{refused:?}");
        let CallVerdict::Granted(permit) = client.admit("bot", "task", Usage::tokens(100)) else { panic!() };
        assert_eq!(permit.steps_left(), Some(1));
        // Nothing is left, so that not even a step that costs nothing is taken.
        assert!(matches!(client.take_step("bot", "task"), Err(CallRefusal::Budget(_))));
        client.settle(permit, Usage::tokens(10), CallOutcome::Failure).unwrap();
        assert!(matches!(client.take_step("bot", "task"), Err(CallRefusal::BreakerOpen { .. })));
    }

    #[test]
    fn a_check_counts_nothing() {
        let client = SharedLimits::new(limits(), MemoryStore::new(|| NOW));
        for _ in 0..5 {
            client.check("bot").unwrap();
        }
        let CallVerdict::Granted(permit) = client.admit("bot", "", Usage::tokens(100)) else { panic!() };
        assert_eq!(permit.steps_left(), Some(1));
        assert!(matches!(client.check("bot"), Err(CallRefusal::Budget(_))));
        client.settle(permit, Usage::ZERO, CallOutcome::Failure).unwrap();
        assert!(matches!(client.check("bot"), Err(CallRefusal::BreakerOpen { .. })));
    }

    /// A step says nothing about the service: neither does it close a breaker, nor take the place of a probe for good.
    #[test]
    fn a_step_leaves_the_breaker_as_it_was() {
        let clock = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(100));
        let now = std::sync::Arc::clone(&clock);
        let store =
            MemoryStore::new(move || Duration::from_secs(now.load(std::sync::atomic::Ordering::Relaxed)));
        let client = SharedLimits::new(AgentLimits { max_steps: None, ..limits() }, store);
        let CallVerdict::Granted(permit) = client.admit("bot", "task", Usage::ZERO) else { panic!() };
        client.settle(permit, Usage::ZERO, CallOutcome::Failure).unwrap();
        clock.store(1_000, std::sync::atomic::Ordering::Relaxed);
        for _ in 0..3 {
            assert_eq!(client.take_step("bot", "task").unwrap(), None);
        }
        let probe = client.admit("bot", "task", Usage::ZERO);
        assert!(matches!(probe, CallVerdict::Granted(_)), "{probe:?}");
        assert!(matches!(client.take_step("bot", "task"), Err(CallRefusal::BreakerOpen { .. })));
    }

    #[test]
    fn limits_are_only_ever_narrowed() {
        let wide = AgentLimits::default();
        let narrow = limits();
        for (one, other) in [(wide, narrow), (narrow, wide), (narrow, narrow)] {
            let both = one.narrowed_by(other);
            assert_eq!((both.max_steps, both.budget.per_hour), (Some(2), Allowance::tokens(100)));
            assert_eq!(both.breaker.failure_threshold, NonZeroU32::MIN);
            assert_eq!(both.budget.per_day, wide.budget.per_day);
        }
    }
}
