//! How an agent stands with its limits, and how an operator lets it begin anew.

use std::time::Duration;

use super::agent_limits::AgentLimits;
use super::contract::AgentState;

use crate::amount::{Cap, MicroUsd};
use crate::breaker::{Breaker, BreakerAdmission, BreakerPhase, BreakerSettings};
use crate::budget::{Balance, Budget};

/// How an agent stands with its limits at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentStatus {
    /// What all executions together used in the last hour.
    pub hour: Balance,
    /// The same for the last day.
    pub day: Balance,
    /// What each open execution used, by name.
    pub executions: Vec<(String, Balance)>,
    /// What the breaker does.
    pub breaker: BreakerPhase,
    /// How many failures in a row it has seen.
    pub failures: u32,
    /// When it is worth asking again, while the breaker refuses.
    pub retry_at: Option<Duration>,
}

/// What an operator resets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LimitReset {
    /// The budget and the breaker.
    #[default]
    All,
    /// What was used and is reserved.
    Budget,
    /// How the service is doing.
    Breaker,
}

impl AgentState {
    /// Returns how the agent stands at `now`. Nothing changes.
    #[must_use]
    pub fn status(&self, limits: &AgentLimits, now: Duration) -> AgentStatus {
        let mut budget = Budget::resume(limits.budget, self.budget.clone());
        let [_, hour, day] = budget.balances("", now);
        let mut breaker = Breaker::resume(limits.breaker, self.breaker.clone());
        let phase = breaker.phase(now);
        let failures = breaker.failures();
        let retry_at = match breaker.admit(now) {
            BreakerAdmission::Refused { retry_at } => Some(retry_at),
            BreakerAdmission::Admitted(_) => None,
        };
        let executions = budget.executions(now);
        AgentStatus { hour, day, executions, breaker: phase, failures, retry_at }
    }

    /// Forgets what was used, how the service was doing, or both.
    ///
    /// A call still under way then counts only for what it exceeds its estimate by, and says nothing about the service.
    pub fn reset(&mut self, what: LimitReset) {
        if what != LimitReset::Breaker {
            self.budget.reset();
        }
        if what != LimitReset::Budget {
            let mut breaker = Breaker::resume(BreakerSettings::default(), std::mem::take(&mut self.breaker));
            breaker.reset();
            self.breaker = breaker.into_state();
        }
    }
}

impl AgentStatus {
    /// Returns whether every call of the agent is refused at the moment.
    #[must_use]
    pub fn refuses(&self) -> bool {
        self.retry_at.is_some() || self.hour.is_exhausted() || self.day.is_exhausted()
    }
}

impl Balance {
    /// Returns whether nothing is left.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.tokens_left == Cap::AtMost(0) || self.cost_left == Cap::AtMost(MicroUsd::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amount::Usage;
    use crate::breaker::CallOutcome;
    use crate::budget::Allowance;
    use crate::store::{CallVerdict, MemoryStore, SharedLimits, StateStore as _};
    use std::num::NonZeroU32;

    const NOW: Duration = Duration::from_secs(100);

    fn limits() -> AgentLimits {
        let mut limits = AgentLimits::default();
        limits.budget.per_hour = Allowance::tokens(1_000);
        limits.breaker.failure_threshold = NonZeroU32::MIN;
        limits
    }

    /// The state after some calls of 300 tokens each: whether they were settled, and how they went.
    fn after(calls: &[Option<CallOutcome>]) -> AgentState {
        let shared = SharedLimits::new(limits(), MemoryStore::new(|| NOW));
        for outcome in calls {
            let CallVerdict::Granted(permit) = shared.admit("bot", "task", Usage::tokens(300)) else {
                panic!("refused");
            };
            if let Some(outcome) = outcome {
                shared.settle(permit, Usage::tokens(200), *outcome).unwrap();
            }
        }
        let mut found = AgentState::default();
        shared.store().update("bot", &mut |state, _| found = state.clone()).unwrap();
        found
    }

    #[test]
    fn what_is_used_and_reserved_and_how_the_service_does() {
        let good = Some(CallOutcome::Success);
        for (calls, used, reserved, phase, refuses) in [
            (&[][..], 0, 0, BreakerPhase::Closed, false),
            (&[good, good, None], 400, 300, BreakerPhase::Closed, false),
            (&[good, None, None], 200, 600, BreakerPhase::Closed, false),
            (&[good, Some(CallOutcome::Failure)], 400, 0, BreakerPhase::Open, true),
        ] {
            let status = after(calls).status(&limits(), NOW);
            assert_eq!(
                (status.hour.used, status.hour.reserved),
                (Usage::tokens(used), Usage::tokens(reserved))
            );
            assert_eq!((status.breaker, status.refuses()), (phase, refuses));
            assert_eq!(status.executions.len(), usize::from(!calls.is_empty()));
        }
    }

    #[test]
    fn a_reset_forgets_what_it_is_asked_to_and_no_more() {
        for (what, used, phase) in [
            (LimitReset::All, 0, BreakerPhase::Closed),
            (LimitReset::Budget, 0, BreakerPhase::Open),
            (LimitReset::Breaker, 200, BreakerPhase::Closed),
        ] {
            let mut state = after(&[Some(CallOutcome::Failure)]);
            state.reset(what);
            let status = state.status(&limits(), NOW);
            assert_eq!((status.day.used, status.breaker), (Usage::tokens(used), phase), "{what:?}");
        }
    }

    /// A number that is given again would let the call from before settle that of another.
    #[test]
    fn a_call_from_before_a_reset_settles_nothing_of_one_after_it() {
        let store = MemoryStore::new(|| NOW);
        let shared = SharedLimits::new(limits(), store);
        let CallVerdict::Granted(before) = shared.admit("bot", "task", Usage::tokens(300)) else { panic!() };
        shared.store().update("bot", &mut |state, _| state.reset(LimitReset::All)).unwrap();
        let after = shared.admit("bot", "task", Usage::tokens(400));
        shared.settle(before, Usage::tokens(300), CallOutcome::Success).unwrap();
        let mut reserved = Usage::ZERO;
        shared
            .store()
            .update("bot", &mut |state, now| reserved = state.status(&limits(), now).hour.reserved)
            .unwrap();
        assert_eq!(reserved, Usage::tokens(400));
        drop(after);
    }
}
