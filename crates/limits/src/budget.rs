//! How many tokens and how much money one agent may use: per execution, per hour and per day.

mod executions;
#[cfg(feature = "serde")]
mod file;
mod refusal;
mod trajectory;
mod window;

use std::collections::BTreeMap;
use std::time::Duration;

pub use self::refusal::{BudgetRefusal, BudgetScope, Exhausted, Measure};
pub use self::trajectory::{Trajectory, calls_left};

use self::executions::Executions;
use self::window::Window;
use crate::amount::{Cap, MicroUsd, Usage};
use crate::clock::Clock;
use crate::steps::Step;

/// The most calls of one agent that may be in flight together; each is remembered until it is settled.
pub const MAX_IN_FLIGHT: usize = 4_096;
/// The most executions of one agent that may be open together; one that was idle for a day is closed.
pub const MAX_EXECUTIONS: usize = 4_096;

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What an agent may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(from = "file::BudgetFile"))]
pub struct BudgetLimits {
    /// In one execution: one task, from its first call to its answer.
    pub per_execution: Allowance,
    /// In any sixty minutes, by all executions together.
    pub per_hour: Allowance,
    /// In any twenty-four hours, by all executions together.
    pub per_day: Allowance,
    /// How long a call may run before it counts as made at its full estimate.
    ///
    /// A process that dies between reserving and settling would otherwise hold its share forever.
    pub lease: Duration,
}

/// The caps of one scope. The unlimited case has a name; it is the default for money alone, whose price may be unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Tokens read and written.
    pub tokens: Cap<u64>,
    /// Money.
    pub cost: Cap<MicroUsd>,
}

/// The account of one agent: what it used, what is on its way, and what it may still use.
///
/// A call is *reserved* before it is made, at the most that it can cost, and *settled* afterwards at what it did cost.
/// What is reserved counts as used, so calls that run side by side can never overshoot a cap together.
///
/// ```
/// use std::time::Duration;
/// use stockade_limits::{Cap, Usage};
/// use stockade_limits::budget::{Allowance, Budget, BudgetLimits, Reserved};
///
/// let mut limits = BudgetLimits::default();
/// limits.per_execution.tokens = Cap::AtMost(10_000);
/// let mut budget = Budget::new(limits);
///
/// let now = Duration::from_secs(1);
/// let Reserved::Granted(first) = budget.reserve("task-1", Usage::tokens(8_000), now) else { panic!() };
/// let second = budget.reserve("task-1", Usage::tokens(8_000), now);
/// assert!(matches!(second, Reserved::Refused(_)), "the first call may still use its 8,000");
///
/// budget.settle(first, Usage::tokens(1_200), now);
/// let third = budget.reserve("task-1", Usage::tokens(8_000), now);
/// assert!(matches!(third, Reserved::Granted(_)));
/// ```
#[derive(Clone, Debug)]
pub struct Budget {
    limits: BudgetLimits,
    state: BudgetState,
}

/// Everything a [`Budget`] remembers, for keeping it across restarts. Its size is bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct BudgetState {
    clock: Clock,
    hour: Window,
    day: Window,
    executions: Executions,
    holds: BTreeMap<u64, Hold>,
    next_hold: u64,
}

/// A call that was reserved and not settled yet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", deny_unknown_fields))]
struct Hold {
    execution: String,
    usage: Usage,
    #[cfg_attr(feature = "serde", serde(with = "crate::millis"))]
    until: Duration,
}

/// The answer to [`Budget::reserve`].
#[derive(Debug)]
#[must_use]
pub enum Reserved {
    /// The call may be made; settle the reservation when it is over.
    Granted(Reservation),
    /// The call must not be made.
    Refused(BudgetRefusal),
}

/// A share of the budget that is kept for one call. It cannot be copied, so it is settled once.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a reservation that is never settled is charged in full when its lease ends"]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Reservation {
    id: u64,
    execution: String,
    usage: Usage,
}

impl Reservation {
    /// Returns what was kept.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Returns the same reservation for another attempt at the same change.
    pub(crate) fn again(&self) -> Self {
        Self { id: self.id, execution: self.execution.clone(), usage: self.usage }
    }
}

/// What there is to know after a call was charged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settled {
    /// By how much the call cost more than was reserved for it. It is charged all the same.
    pub overrun: Usage,
    /// Said once for each execution: at its pace so far, a cap is at most two calls away.
    pub warning: Option<Trajectory>,
}

/// What is used and what is left in one scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Balance {
    /// Where this was counted.
    pub scope: BudgetScope,
    /// What was settled.
    pub used: Usage,
    /// What is reserved for calls in flight.
    pub reserved: Usage,
    /// What may still be reserved.
    pub tokens_left: Cap<u64>,
    /// What may still be reserved.
    pub cost_left: Cap<MicroUsd>,
    /// When the oldest part of what was used leaves the window, if there is any.
    pub frees_at: Option<Duration>,
}

impl Default for BudgetLimits {
    fn default() -> Self {
        Self {
            per_execution: Allowance::tokens(2_000_000),
            per_hour: Allowance::tokens(10_000_000),
            per_day: Allowance::tokens(100_000_000),
            lease: Duration::from_secs(15 * 60),
        }
    }
}

impl BudgetLimits {
    /// Returns the caps that both have, whichever is lower.
    #[must_use]
    pub fn narrowed_by(self, other: Self) -> Self {
        let lower = |one: Allowance, other: Allowance| Allowance {
            tokens: one.tokens.lower(other.tokens),
            cost: one.cost.lower(other.cost),
        };
        Self {
            per_execution: lower(self.per_execution, other.per_execution),
            per_hour: lower(self.per_hour, other.per_hour),
            per_day: lower(self.per_day, other.per_day),
            lease: self.lease.min(other.lease),
        }
    }

    /// Returns the caps of a scope.
    #[must_use]
    pub fn of(&self, scope: BudgetScope) -> Allowance {
        match scope {
            BudgetScope::Execution => self.per_execution,
            BudgetScope::Hour => self.per_hour,
            BudgetScope::Day => self.per_day,
        }
    }
}

impl BudgetState {
    /// Forgets what was used and reserved. Reservations from before are known no more, and their numbers not given again.
    pub fn reset(&mut self) {
        *self = Self { clock: self.clock, next_hold: self.next_hold, ..Self::default() };
    }
}

impl Allowance {
    /// Returns a cap on tokens and none on money.
    #[must_use]
    pub const fn tokens(tokens: u64) -> Self {
        Self { tokens: Cap::AtMost(tokens), cost: Cap::Unlimited }
    }

    fn cap(self, measure: Measure) -> Option<u64> {
        match (measure, self.tokens, self.cost) {
            (Measure::Tokens, Cap::AtMost(tokens), _) => Some(tokens),
            (Measure::Cost, _, Cap::AtMost(cost)) => Some(cost.micros()),
            (Measure::Tokens, Cap::Unlimited, _) | (Measure::Cost, _, Cap::Unlimited) => None,
        }
    }
}

impl Budget {
    /// Opens an account on which nothing was used.
    #[must_use]
    pub fn new(limits: BudgetLimits) -> Self {
        Self::resume(limits, BudgetState::default())
    }

    /// Opens an account with what it used before. The limits may have changed meanwhile: the new ones hold.
    #[must_use]
    pub fn resume(limits: BudgetLimits, state: BudgetState) -> Self {
        Self { limits, state }
    }

    /// Returns what the account remembers.
    #[must_use]
    pub fn state(&self) -> &BudgetState {
        &self.state
    }

    /// Closes the account and returns what it remembers.
    #[must_use]
    pub fn into_state(self) -> BudgetState {
        self.state
    }

    /// Returns whether a call of this size would be granted now, without reserving anything.
    ///
    /// # Errors
    /// The refusal. An estimate of zero asks whether anything is left at all.
    pub fn check(&mut self, execution: &str, estimate: Usage, now: Duration) -> Result<(), BudgetRefusal> {
        self.tick(now);
        if self.state.holds.len() >= MAX_IN_FLIGHT {
            return Err(BudgetRefusal::TooManyInFlight);
        }
        if !self.state.executions.has_room_for(execution) {
            return Err(BudgetRefusal::TooManyExecutions);
        }
        match BudgetScope::ALL.into_iter().find_map(|scope| self.exhausted(scope, execution, estimate)) {
            Some(exhausted) => Err(BudgetRefusal::Exhausted(exhausted)),
            None => Ok(()),
        }
    }

    /// Keeps a share for a call that may cost up to `estimate`, or refuses it.
    pub fn reserve(&mut self, execution: &str, estimate: Usage, now: Duration) -> Reserved {
        if let Err(refusal) = self.check(execution, estimate, now) {
            return Reserved::Refused(refusal);
        }
        let now = self.state.clock.advance(now);
        let id = self.state.next_hold;
        self.state.next_hold = id.wrapping_add(1);
        let until = now.saturating_add(self.limits.lease);
        self.state.holds.insert(id, Hold { execution: execution.to_owned(), usage: estimate, until });
        self.state.executions.touch(execution, until);
        Reserved::Granted(Reservation { id, execution: execution.to_owned(), usage: estimate })
    }

    /// Charges what a reserved call did cost, and frees the rest of its share.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "takes the reservation away, so that it is settled once"
    )]
    pub fn settle(&mut self, reservation: Reservation, actual: Usage, now: Duration) -> Settled {
        self.tick(now);
        // When the lease ended before, the estimate is charged already; only what exceeds it is new.
        let held = self.state.holds.remove(&reservation.id).is_some();
        let overrun = actual.minus(reservation.usage);
        let charge = if held { actual } else { overrun };
        Settled { overrun, ..self.charge(&reservation.execution, charge, now) }
    }

    /// Frees a share whose call was never made.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "takes the reservation away, so that it is settled once"
    )]
    pub fn cancel(&mut self, reservation: Reservation, now: Duration) {
        self.tick(now);
        self.state.holds.remove(&reservation.id);
    }

    /// Charges a call that was made without a reservation. It cannot be refused, since it has happened.
    pub fn record(&mut self, execution: &str, usage: Usage, now: Duration) -> Settled {
        self.tick(now);
        self.charge(execution, usage, now)
    }

    /// Returns how many steps an execution has taken.
    pub fn steps(&mut self, execution: &str, now: Duration) -> u32 {
        self.tick(now);
        self.state.executions.get(execution).map_or(0, |spent| spent.steps)
    }

    /// Counts a step of an execution, if one of `most` is left. An execution that cannot be remembered has none.
    pub fn take_step(&mut self, execution: &str, most: u32, now: Duration) -> Step {
        self.tick(now);
        let now = self.state.clock.advance(now);
        let taken = self.state.executions.get(execution).map_or(0, |spent| spent.steps);
        if taken >= most || !self.state.executions.has_room_for(execution) {
            return Step::Complete { limit: most };
        }
        let spent = self.state.executions.touch(execution, now);
        spent.steps = taken.saturating_add(1);
        Step::Taken { step: spent.steps, left: most.saturating_sub(spent.steps) }
    }

    /// Closes an execution: its own total is forgotten, while the hour and the day keep what it used.
    pub fn end(&mut self, execution: &str) {
        self.state.executions.end(execution);
    }

    /// Returns what is used and left in each scope.
    pub fn balances(&mut self, execution: &str, now: Duration) -> [Balance; 3] {
        self.tick(now);
        BudgetScope::ALL.map(|scope| self.balance(scope, execution))
    }

    /// Returns what is used and left in each open execution, by name.
    pub fn executions(&mut self, now: Duration) -> Vec<(String, Balance)> {
        self.tick(now);
        let names = self.state.executions.names();
        names.map(|name| (name.to_owned(), self.balance(BudgetScope::Execution, name))).collect()
    }

    /// Moves on to `now`: drops what left the windows and charges the calls whose lease has ended.
    fn tick(&mut self, now: Duration) {
        let now = self.state.clock.advance(now);
        let due: Vec<u64> =
            self.state.holds.iter().filter(|(_, hold)| hold.until <= now).map(|(id, _)| *id).collect();
        for id in due {
            if let Some(hold) = self.state.holds.remove(&id) {
                self.charge(&hold.execution, hold.usage, now);
            }
        }
        self.state.hour.drop_before(now.saturating_sub(HOUR));
        self.state.day.drop_before(now.saturating_sub(DAY));
        self.state.executions.drop_idle_since(now.saturating_sub(DAY));
    }

    fn charge(&mut self, execution: &str, usage: Usage, now: Duration) -> Settled {
        let now = self.state.clock.advance(now);
        self.state.hour.record(now, usage, HOUR);
        self.state.day.record(now, usage, DAY);
        self.state.executions.record(execution, usage, now);
        let warning = self.trajectory(execution);
        if warning.is_some() {
            self.state.executions.mark_warned(execution);
        }
        Settled { overrun: Usage::ZERO, warning }
    }

    /// Returns the first cap that this execution is about to reach, unless it was told before.
    fn trajectory(&self, execution: &str) -> Option<Trajectory> {
        let spent = self.state.executions.get(execution).filter(|spent| !spent.warned)?;
        let mut nearest: Option<Trajectory> = None;
        for (scope, measure) in BudgetScope::ALL.into_iter().flat_map(|s| Measure::ALL.map(|m| (s, m))) {
            let Some(cap) = self.limits.of(scope).cap(measure) else { continue };
            let used = measure.of(self.used(scope, execution).plus(self.reserved(scope, execution)));
            let Some(calls_left) = calls_left(cap, used, measure.of(spent.usage), spent.calls) else {
                continue;
            };
            if nearest.is_none_or(|nearest| calls_left < nearest.calls_left) {
                nearest = Some(Trajectory { scope, measure, calls_left });
            }
        }
        nearest
    }

    fn exhausted(&self, scope: BudgetScope, execution: &str, estimate: Usage) -> Option<Exhausted> {
        let used = self.used(scope, execution);
        let reserved = self.reserved(scope, execution);
        Measure::ALL.into_iter().find_map(|measure| {
            let cap = self.limits.of(scope).cap(measure)?;
            let counted = measure.of(used.plus(reserved));
            let asked = measure.of(estimate);
            // At the cap nothing is left, even for a caller who does not know what the call will cost.
            if counted < cap && counted.saturating_add(asked) <= cap {
                return None;
            }
            let retry_at = match scope {
                BudgetScope::Execution => None,
                BudgetScope::Hour => self.state.hour.fits_at(measure, counted, asked, cap, HOUR),
                BudgetScope::Day => self.state.day.fits_at(measure, counted, asked, cap, DAY),
            };
            let reserved = measure.of(reserved);
            Some(Exhausted { scope, measure, used: counted, reserved, asked, cap, retry_at })
        })
    }

    fn balance(&self, scope: BudgetScope, execution: &str) -> Balance {
        let used = self.used(scope, execution);
        let reserved = self.reserved(scope, execution);
        let counted = used.plus(reserved);
        let allowance = self.limits.of(scope);
        let left = |measure| allowance.cap(measure).map(|cap| cap.saturating_sub(measure.of(counted)));
        Balance {
            scope,
            used,
            reserved,
            tokens_left: left(Measure::Tokens).map_or(Cap::Unlimited, Cap::AtMost),
            cost_left: left(Measure::Cost).map_or(Cap::Unlimited, |cost| Cap::AtMost(MicroUsd::new(cost))),
            frees_at: match scope {
                BudgetScope::Execution => None,
                BudgetScope::Hour => self.state.hour.frees_at(HOUR),
                BudgetScope::Day => self.state.day.frees_at(DAY),
            },
        }
    }

    fn used(&self, scope: BudgetScope, execution: &str) -> Usage {
        match scope {
            BudgetScope::Execution => {
                self.state.executions.get(execution).map_or(Usage::ZERO, |spent| spent.usage)
            }
            BudgetScope::Hour => self.state.hour.total(),
            BudgetScope::Day => self.state.day.total(),
        }
    }

    fn reserved(&self, scope: BudgetScope, execution: &str) -> Usage {
        let counts = |hold: &&Hold| scope != BudgetScope::Execution || hold.execution == execution;
        self.state.holds.values().filter(counts).fold(Usage::ZERO, |sum, hold| sum.plus(hold.usage))
    }
}
