//! The limits of agents, decided on a store.

use std::fmt;
use std::time::Duration;

use super::{AgentState, LimitStore, StoreError};
use crate::amount::Usage;
use crate::breaker::{Breaker, BreakerAdmission, BreakerPermit, BreakerSettings, CallOutcome};
use crate::budget::{Budget, BudgetLimits, BudgetRefusal, Reservation, Reserved, Settled};

/// What an agent is held to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", default, deny_unknown_fields))]
pub struct AgentLimits {
    /// What it may use.
    pub budget: BudgetLimits,
    /// When its service is left alone.
    pub breaker: BreakerSettings,
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
}

/// Why a call must not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum CallRefusal {
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

    /// Decides whether an agent may make a call that costs up to `estimate`. A store that fails refuses.
    pub fn admit(&self, agent: &str, execution: &str, estimate: Usage) -> CallVerdict {
        let mut answer = None;
        let result = self.store.update(agent, &mut |state, now| {
            answer = Some(self.decide(state, execution, estimate, now));
        });
        match (result, answer) {
            (Ok(()), Some(Ok((reservation, breaker)))) => {
                CallVerdict::Granted(CallPermit { agent: agent.to_owned(), reservation, breaker })
            }
            (Ok(()), Some(Err(refusal))) => CallVerdict::Refused(refusal),
            (Err(error), _) => CallVerdict::Refused(CallRefusal::Store(error)),
            (Ok(()), None) => CallVerdict::Refused(CallRefusal::Store(StoreError::Unavailable {
                doing: "asking what was used",
                source: "it changed nothing and said nothing".into(),
            })),
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
    ) -> Result<(Reservation, BreakerPermit), CallRefusal> {
        self.on(state, |budget, breaker| {
            let reservation = match budget.reserve(execution, estimate, now) {
                Reserved::Granted(reservation) => reservation,
                Reserved::Refused(refusal) => return Err(CallRefusal::Budget(refusal)),
            };
            // The breaker is asked last: a probe that the budget refuses would keep its place for nothing.
            match breaker.admit(now) {
                BreakerAdmission::Admitted(permit) => Ok((reservation, permit)),
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

impl fmt::Display for CallRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Budget(refusal) => refusal.fmt(f),
            Self::BreakerOpen { .. } => {
                f.write_str("the service failed too often in a row and is left alone for a while")
            }
            Self::Store(error) => write!(f, "{error}, so it is not known what may still be used"),
        }
    }
}
