//! The decisions of a budget, on whatever keeps its rows.

use std::time::Duration;

use super::ledger::Ledger;
use super::window::{WindowSpan, fits_at};
use super::{
    Balance, BudgetLimits, BudgetRefusal, BudgetScope, Exhausted, HoldRow, MAX_EXECUTIONS, MAX_IN_FLIGHT,
    Measure, Reservation, Reserved, Settled, Trajectory, calls_left,
};
use crate::amount::{Cap, MicroUsd, Usage};
use crate::steps::Step;

/// The account of an agent at a moment.
pub(crate) struct Account<'l, L> {
    limits: &'l BudgetLimits,
    ledger: &'l mut L,
    now: Duration,
}

impl<'l, L: Ledger> Account<'l, L> {
    /// Moves an account on to `now`: drops what left the windows and charges the calls whose lease has ended.
    pub(crate) fn at(limits: &'l BudgetLimits, ledger: &'l mut L, now: Duration) -> Self {
        // Time that is set back is not believed, see `Clock`.
        let now = ledger.clock().max(now);
        ledger.set_clock(now);
        let mut account = Self { limits, ledger, now };
        for id in account.ledger.due(now) {
            // One by one, so that what was reserved counts until it is charged.
            if let Some(hold) = account.ledger.remove_hold(id) {
                account.charge(&hold.execution, hold.usage);
            }
        }
        for span in WindowSpan::ALL {
            account.ledger.drop_before(span, now.saturating_sub(span.length()));
        }
        // By then the cap of the day has forgotten them, too.
        account.ledger.drop_idle_since(now.saturating_sub(WindowSpan::Day.length()));
        account
    }

    /// Returns the rows, at that moment.
    pub(crate) const fn ledger(&self) -> &L {
        self.ledger
    }

    /// Returns whether a call would be granted, without reserving anything.
    pub(crate) fn check(&mut self, execution: &str, estimate: Usage) -> Result<(), BudgetRefusal> {
        if self.ledger.holds() >= MAX_IN_FLIGHT {
            return Err(BudgetRefusal::TooManyInFlight);
        }
        if !self.has_room_for(execution) {
            return Err(BudgetRefusal::TooManyExecutions);
        }
        match BudgetScope::ALL.into_iter().find_map(|scope| self.exhausted(scope, execution, estimate)) {
            Some(exhausted) => Err(BudgetRefusal::Exhausted(exhausted)),
            None => Ok(()),
        }
    }

    /// Keeps a share for a call, or refuses it.
    pub(crate) fn reserve(&mut self, execution: &str, estimate: Usage) -> Reserved {
        if let Err(refusal) = self.check(execution, estimate) {
            return Reserved::Refused(refusal);
        }
        let id = self.ledger.next_hold();
        let until = self.now.saturating_add(self.limits.lease);
        self.ledger.insert_hold(id, HoldRow { execution: execution.to_owned(), usage: estimate, until });
        let row = self.ledger.execution(execution).unwrap_or_default();
        self.ledger.set_execution(execution, row.touched_at(until));
        Reserved::Granted(Reservation { id, execution: execution.to_owned(), usage: estimate })
    }

    /// Charges what a reserved call did cost, and frees the rest of its share.
    pub(crate) fn settle(&mut self, id: u64, execution: &str, estimate: Usage, actual: Usage) -> Settled {
        // When the lease ended before, the estimate is charged already; only what exceeds it is new.
        let held = self.ledger.remove_hold(id).is_some();
        let overrun = actual.minus(estimate);
        let charge = if held { actual } else { overrun };
        Settled { overrun, warning: self.charge(execution, charge) }
    }

    /// Frees a share whose call was never made.
    pub(crate) fn cancel(&mut self, id: u64) {
        self.ledger.remove_hold(id);
    }

    /// Charges a call that was made without a reservation.
    pub(crate) fn record(&mut self, execution: &str, usage: Usage) -> Settled {
        Settled { overrun: Usage::ZERO, warning: self.charge(execution, usage) }
    }

    /// Returns how many steps an execution has taken.
    pub(crate) fn steps(&mut self, execution: &str) -> u32 {
        self.ledger.execution(execution).map_or(0, |row| row.steps)
    }

    /// Counts a step of an execution, if one of `most` is left.
    pub(crate) fn take_step(&mut self, execution: &str, most: u32) -> Step {
        if self.steps(execution) >= most || !self.has_room_for(execution) {
            return Step::Complete { limit: most };
        }
        let mut row = self.ledger.execution(execution).unwrap_or_default().touched_at(self.now);
        row.steps = row.steps.saturating_add(1);
        self.ledger.set_execution(execution, row);
        Step::Taken { step: row.steps, left: most.saturating_sub(row.steps) }
    }

    /// Returns what is used and left in a scope.
    pub(crate) fn balance(&mut self, scope: BudgetScope, execution: &str) -> Balance {
        let (used, reserved) = (self.used(scope, execution), self.reserved(scope, execution));
        let counted = used.plus(reserved);
        let allowance = self.limits.of(scope);
        let left = |measure| allowance.cap(measure).map(|cap| cap.saturating_sub(measure.of(counted)));
        Balance {
            scope,
            used,
            reserved,
            tokens_left: left(Measure::Tokens).map_or(Cap::Unlimited, Cap::AtMost),
            cost_left: left(Measure::Cost).map_or(Cap::Unlimited, |cost| Cap::AtMost(MicroUsd::new(cost))),
            frees_at: scope.window().and_then(|span| self.ledger.oldest(span).map(|row| row.leaves_at(span))),
        }
    }

    fn has_room_for(&mut self, execution: &str) -> bool {
        self.ledger.executions() < MAX_EXECUTIONS || self.ledger.execution(execution).is_some()
    }

    fn charge(&mut self, execution: &str, usage: Usage) -> Option<Trajectory> {
        if usage != Usage::ZERO {
            for span in WindowSpan::ALL {
                self.ledger.record(span, self.now, usage);
            }
        }
        let mut row = self.ledger.execution(execution).unwrap_or_default().touched_at(self.now);
        row.usage = row.usage.plus(usage);
        row.calls = row.calls.saturating_add(1);
        self.ledger.set_execution(execution, row);
        // A warning is given once for each execution.
        let warning = if row.warned { None } else { self.trajectory(execution, row.usage, row.calls) };
        if warning.is_some() {
            row.warned = true;
            self.ledger.set_execution(execution, row);
        }
        warning
    }

    /// Returns the first cap that this execution is about to reach.
    fn trajectory(&mut self, execution: &str, spent: Usage, calls: u32) -> Option<Trajectory> {
        let mut nearest: Option<Trajectory> = None;
        for scope in BudgetScope::ALL {
            let used = self.used(scope, execution).plus(self.reserved(scope, execution));
            for measure in Measure::ALL {
                let Some(cap) = self.limits.of(scope).cap(measure) else { continue };
                let Some(calls_left) = calls_left(cap, measure.of(used), measure.of(spent), calls) else {
                    continue;
                };
                if nearest.is_none_or(|nearest| calls_left < nearest.calls_left) {
                    nearest = Some(Trajectory { scope, measure, calls_left });
                }
            }
        }
        nearest
    }

    fn exhausted(&mut self, scope: BudgetScope, execution: &str, estimate: Usage) -> Option<Exhausted> {
        let (used, reserved) = (self.used(scope, execution), self.reserved(scope, execution));
        let (measure, cap) = Measure::ALL.into_iter().find_map(|measure| {
            let cap = self.limits.of(scope).cap(measure)?;
            let counted = measure.of(used.plus(reserved));
            // At the cap nothing is left, even for a caller who does not know what the call will cost.
            let fits = counted < cap && counted.saturating_add(measure.of(estimate)) <= cap;
            (!fits).then_some((measure, cap))
        })?;
        let (counted, asked) = (measure.of(used.plus(reserved)), measure.of(estimate));
        let retry_at = scope
            .window()
            .and_then(|span| fits_at(&self.ledger.rows(span), span, measure, (counted, asked, cap)));
        Some(Exhausted {
            scope,
            measure,
            used: counted,
            reserved: measure.of(reserved),
            asked,
            cap,
            retry_at,
        })
    }

    fn used(&mut self, scope: BudgetScope, execution: &str) -> Usage {
        match scope.window() {
            None => self.ledger.execution(execution).map_or(Usage::ZERO, |row| row.usage),
            Some(span) => self.ledger.total(span),
        }
    }

    fn reserved(&mut self, scope: BudgetScope, execution: &str) -> Usage {
        match scope {
            BudgetScope::Execution => self.ledger.reserved_by(execution),
            BudgetScope::Hour | BudgetScope::Day => self.ledger.reserved(),
        }
    }
}
