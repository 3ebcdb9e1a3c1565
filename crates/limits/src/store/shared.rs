//! The limits of agents, decided on a store.

use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use super::contract::{AgentState, LimitStore, StoreError};
use crate::amount::Usage;
use crate::breaker::{Breaker, BreakerAdmission, BreakerPermit, BreakerSettings, CallOutcome};
use crate::budget::{Budget, BudgetLimits, BudgetRefusal, Reservation, Reserved, Settled};
use crate::steps::Step;

/// What an agent is held to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", default, deny_unknown_fields))]
pub struct AgentLimits {
    /// What it may use.
    pub budget: BudgetLimits,
    /// When its service is left alone.
    pub breaker: BreakerSettings,
    /// How many steps one execution may take; no bound where nothing is said.
    pub max_steps: Option<u32>,
}

impl AgentLimits {
    /// Returns limits that allow nothing that either does not allow.
    #[must_use]
    pub fn narrowed_by(self, other: Self) -> Self {
        Self {
            budget: self.budget.narrowed_by(other.budget),
            breaker: self.breaker.narrowed_by(other.breaker),
            max_steps: self.max_steps.into_iter().chain(other.max_steps).min(),
        }
    }
}

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
    reservation: Reservation,
    breaker: BreakerPermit,
    steps_left: Option<u32>,
}

impl CallPermit {
    /// Returns how many steps the execution has left; nothing where they are not bounded.
    #[must_use]
    pub const fn steps_left(&self) -> Option<u32> {
        self.steps_left
    }
}

/// Why a call must not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum CallRefusal {
    /// The execution has taken all of its steps, and ends with what it has.
    Steps {
        /// How many there were.
        limit: u32,
    },
    /// It would cost too much.
    Budget(BudgetRefusal),
    /// The service keeps failing.
    BreakerOpen {
        /// When it is worth asking again, by the clock of the store.
        retry_at: Duration,
    },
    /// It cannot be known what was used.
    Store(StoreError),
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
        let mut answer = None;
        let result = self.store.update(agent, &mut |state, now| {
            answer = Some(self.decide(state, execution, estimate, now));
        });
        match (result, answer) {
            (Ok(()), Some(Ok((reservation, breaker, steps_left)))) => {
                let agent = agent.to_owned();
                CallVerdict::Granted(CallPermit { agent, reservation, breaker, steps_left })
            }
            (Ok(()), Some(Err(refusal))) => CallVerdict::Refused(refusal),
            (Err(error), _) => CallVerdict::Refused(CallRefusal::Store(error)),
            (Ok(()), None) => CallVerdict::Refused(CallRefusal::Store(silent())),
        }
    }

    /// Counts a step that costs nothing by itself, such as a command: it is taken where the execution has one left, anything is
    /// left of the budgets, and the service is not left alone. Returns how many are left.
    ///
    /// # Errors
    /// The refusal. The step must not be taken then.
    pub fn take_step(&self, agent: &str, execution: &str) -> Result<Option<u32>, CallRefusal> {
        let mut answer = None;
        let result = self.store.update(agent, &mut |state, now| {
            let decided = self.decide(state, execution, Usage::ZERO, now);
            answer = Some(decided.map(|(reservation, breaker, steps_left)| {
                // The call never started, so it tells nothing about the health of the service.
                self.on(state, |budget, service| {
                    budget.cancel(reservation, now);
                    service.withdraw(breaker, now);
                });
                steps_left
            }));
        });
        result.map_err(CallRefusal::Store)?;
        answer.unwrap_or_else(|| Err(CallRefusal::Store(silent())))
    }

    /// Says whether an agent may do anything at all: whether anything is left of its budgets, and its service is not left alone.
    /// Nothing is counted.
    ///
    /// # Errors
    /// The refusal.
    pub fn check(&self, agent: &str) -> Result<(), CallRefusal> {
        let mut answer = None;
        let result = self.store.read(agent, &mut |state, now| {
            let mut tried = state.clone();
            // A check belongs to no execution, so that no step is counted.
            answer = Some(self.decide(&mut tried, "", Usage::ZERO, now).map(drop));
        });
        result.map_err(CallRefusal::Store)?;
        match answer.unwrap_or_else(|| Err(CallRefusal::Store(silent()))) {
            Err(CallRefusal::Steps { .. }) => Ok(()),
            answer => answer,
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
        let mut settled = Settled::default();
        self.change(&permit.agent, |budget, breaker, now| {
            settled = budget.settle(permit.reservation.again(), actual, now);
            breaker.report(permit.breaker.again(), outcome, now);
        })?;
        Ok(settled)
    }

    /// Gives back the permit of a call that was never made.
    ///
    /// # Errors
    /// When the store fails. The call is then charged at its full estimate when its lease ends.
    #[expect(clippy::needless_pass_by_value, reason = "takes the permit away, so that it is given back once")]
    pub fn withdraw(&self, permit: CallPermit) -> Result<(), StoreError> {
        self.change(&permit.agent, |budget, breaker, now| {
            budget.cancel(permit.reservation.again(), now);
            breaker.withdraw(permit.breaker.again(), now);
        })
    }

    /// Closes an execution of an agent.
    ///
    /// # Errors
    /// When the store fails. The execution then stays open, with what it used.
    pub fn end_execution(&self, agent: &str, execution: &str) -> Result<(), StoreError> {
        self.change(agent, |budget, _, _| budget.end(execution))
    }

    fn decide(
        &self,
        state: &mut AgentState,
        execution: &str,
        estimate: Usage,
        now: Duration,
    ) -> Result<(Reservation, BreakerPermit, Option<u32>), CallRefusal> {
        self.on(state, |budget, breaker| {
            if let Some(limit) = self.limits.max_steps
                && budget.steps(execution, now) >= limit
            {
                return Err(CallRefusal::Steps { limit });
            }
            let reservation = match budget.reserve(execution, estimate, now) {
                Reserved::Granted(reservation) => reservation,
                Reserved::Refused(refusal) => return Err(CallRefusal::Budget(refusal)),
            };
            // The breaker is asked last: a probe that the budget refuses would keep its place for nothing.
            match breaker.admit(now) {
                BreakerAdmission::Admitted(permit) => {
                    let left =
                        self.limits.max_steps.map(|most| match budget.take_step(execution, most, now) {
                            Step::Taken { left, .. } => left,
                            Step::Complete { .. } => 0,
                        });
                    Ok((reservation, permit, left))
                }
                BreakerAdmission::Refused { retry_at } => {
                    budget.cancel(reservation, now);
                    Err(CallRefusal::BreakerOpen { retry_at })
                }
            }
        })
    }

    fn change(
        &self,
        agent: &str,
        mut change: impl FnMut(&mut Budget, &mut Breaker, Duration),
    ) -> Result<(), StoreError> {
        self.store
            .update(agent, &mut |state, now| self.on(state, |budget, breaker| change(budget, breaker, now)))
    }

    /// Wakes the machines of an agent, lets them work, and keeps what they remember.
    fn on<R>(&self, state: &mut AgentState, work: impl FnOnce(&mut Budget, &mut Breaker) -> R) -> R {
        let AgentState { budget, breaker } = std::mem::take(state);
        let mut budget = Budget::resume(self.limits.budget, budget);
        let mut breaker = Breaker::resume(self.limits.breaker, breaker);
        let result = work(&mut budget, &mut breaker);
        *state = AgentState { budget: budget.into_state(), breaker: breaker.into_state() };
        result
    }
}

fn silent() -> StoreError {
    let source = "it changed nothing and said nothing".into();
    StoreError::Unavailable { doing: "asking what was used", source }
}

impl fmt::Display for CallRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steps { limit } => write!(f, "the task has taken all of its {limit} steps"),
            Self::Budget(refusal) => refusal.fmt(f),
            Self::BreakerOpen { .. } => {
                f.write_str("the service failed too often in a row and is left alone for a while")
            }
            Self::Store(error) => match error.source() {
                Some(cause) => write!(f, "{error}: {cause}, so it is not known what may still be used"),
                None => write!(f, "{error}, so it is not known what may still be used"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Allowance;
    use crate::store::MemoryStore;
    use std::num::NonZeroU32;

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
