//! How many tokens and how much money one agent may use: per execution, per hour and per day.

mod account;
mod executions;
#[cfg(feature = "serde")]
mod file;
mod hold;
mod ledger;
mod refusal;
mod trajectory;
mod window;

use std::collections::BTreeMap;
use std::time::Duration;

pub use self::executions::ExecutionRow;
pub use self::hold::HoldRow;
pub use self::ledger::Ledger;
pub use self::refusal::{BudgetRefusal, BudgetScope, Exhausted, Measure};
pub use self::trajectory::{Trajectory, calls_left};
pub use self::window::{WindowRow, WindowSpan};

pub(crate) use self::account::Account;
use self::executions::Executions;
use self::window::Window;
use crate::amount::{Cap, MicroUsd, Usage};
use crate::clock::Clock;
use crate::steps::Step;

/// The most calls of one agent that may be in flight together; each is remembered until it is settled.
pub const MAX_IN_FLIGHT: usize = 4_096;
/// The most executions of one agent that may be open together; one that was idle for a day is closed.
pub const MAX_EXECUTIONS: usize = 4_096;

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
    holds: BTreeMap<u64, HoldRow>,
    next_hold: u64,
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

    /// Returns the number of the call, by which it is settled.
    pub(crate) const fn id(&self) -> u64 {
        self.id
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
        self.at(now).check(execution, estimate)
    }

    /// Keeps a share for a call that may cost up to `estimate`, or refuses it.
    pub fn reserve(&mut self, execution: &str, estimate: Usage, now: Duration) -> Reserved {
        self.at(now).reserve(execution, estimate)
    }

    /// Charges what a reserved call did cost, and frees the rest of its share.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "takes the reservation away, so that it is settled once"
    )]
    pub fn settle(&mut self, reservation: Reservation, actual: Usage, now: Duration) -> Settled {
        let Reservation { id, execution, usage } = &reservation;
        self.at(now).settle(*id, execution, *usage, actual)
    }

    /// Frees a share whose call was never made.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "takes the reservation away, so that it is settled once"
    )]
    pub fn cancel(&mut self, reservation: Reservation, now: Duration) {
        self.at(now).cancel(reservation.id);
    }

    /// Charges a call that was made without a reservation. It cannot be refused, since it has happened.
    pub fn record(&mut self, execution: &str, usage: Usage, now: Duration) -> Settled {
        self.at(now).record(execution, usage)
    }

    /// Returns how many steps an execution has taken.
    pub fn steps(&mut self, execution: &str, now: Duration) -> u32 {
        self.at(now).steps(execution)
    }

    /// Counts a step of an execution, if one of `most` is left. An execution that cannot be remembered has none.
    pub fn take_step(&mut self, execution: &str, most: u32, now: Duration) -> Step {
        self.at(now).take_step(execution, most)
    }

    /// Closes an execution: its own total is forgotten, while the hour and the day keep what it used.
    pub fn end(&mut self, execution: &str) {
        self.state.remove_execution(execution);
    }

    /// Returns what is used and left in each scope.
    pub fn balances(&mut self, execution: &str, now: Duration) -> [Balance; 3] {
        let mut account = self.at(now);
        BudgetScope::ALL.map(|scope| account.balance(scope, execution))
    }

    /// Returns what is used and left in each open execution, by name.
    pub fn executions(&mut self, now: Duration) -> Vec<(String, Balance)> {
        let mut account = self.at(now);
        let names = account.ledger().executions.0.keys().cloned().collect::<Vec<_>>();
        let balances = names.into_iter().map(|name| {
            let balance = account.balance(BudgetScope::Execution, &name);
            (name, balance)
        });
        balances.collect()
    }

    /// Moves on to `now`.
    fn at(&mut self, now: Duration) -> Account<'_, BudgetState> {
        Account::at(&self.limits, &mut self.state, now)
    }
}

impl BudgetState {
    const fn window(&mut self, span: WindowSpan) -> &mut Window {
        match span {
            WindowSpan::Hour => &mut self.hour,
            WindowSpan::Day => &mut self.day,
        }
    }
}

/// Keeps the rows in memory. Totals are summed up when they are asked for.
impl Ledger for BudgetState {
    fn clock(&self) -> Duration {
        self.clock.latest()
    }

    fn set_clock(&mut self, now: Duration) {
        self.clock.advance(now);
    }

    fn next_hold(&mut self) -> u64 {
        let id = self.next_hold;
        self.next_hold = id.wrapping_add(1);
        id
    }

    fn holds(&mut self) -> usize {
        self.holds.len()
    }

    fn insert_hold(&mut self, id: u64, hold: HoldRow) {
        self.holds.insert(id, hold);
    }

    fn remove_hold(&mut self, id: u64) -> Option<HoldRow> {
        self.holds.remove(&id)
    }

    fn due(&mut self, now: Duration) -> Vec<u64> {
        self.holds.iter().filter(|(_, hold)| hold.until <= now).map(|(id, _)| *id).collect()
    }

    fn reserved(&mut self) -> Usage {
        self.holds.values().fold(Usage::ZERO, |sum, hold| sum.plus(hold.usage))
    }

    fn reserved_by(&mut self, execution: &str) -> Usage {
        let own = self.holds.values().filter(|hold| hold.execution == execution);
        own.fold(Usage::ZERO, |sum, hold| sum.plus(hold.usage))
    }

    fn executions(&mut self) -> usize {
        self.executions.0.len()
    }

    fn execution(&mut self, name: &str) -> Option<ExecutionRow> {
        self.executions.0.get(name).copied()
    }

    fn set_execution(&mut self, name: &str, row: ExecutionRow) {
        match self.executions.0.get_mut(name) {
            Some(kept) => *kept = row,
            None => drop(self.executions.0.insert(name.to_owned(), row)),
        }
    }

    fn remove_execution(&mut self, name: &str) {
        self.executions.0.remove(name);
    }

    fn drop_idle_since(&mut self, start: Duration) {
        self.executions.0.retain(|_, row| row.touched >= start);
    }

    fn record(&mut self, span: WindowSpan, now: Duration, usage: Usage) {
        self.window(span).record(now, usage, span);
    }

    fn drop_before(&mut self, span: WindowSpan, start: Duration) {
        self.window(span).drop_before(start);
    }

    fn total(&mut self, span: WindowSpan) -> Usage {
        self.window(span).total()
    }

    fn oldest(&mut self, span: WindowSpan) -> Option<WindowRow> {
        self.window(span).oldest()
    }

    fn rows(&mut self, span: WindowSpan) -> Vec<WindowRow> {
        self.window(span).rows()
    }
}
