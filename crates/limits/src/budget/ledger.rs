//! The rows of an account, which a store may keep one by one.

use std::time::Duration;

use super::executions::ExecutionRow;
use super::hold::HoldRow;
use super::window::{WindowRow, WindowSpan};
use crate::amount::Usage;

/// Storage of one account, row by row: its clock, its calls in flight, its executions and its windows.
///
/// The account reads and writes only the rows that a decision needs, so that the cost of a decision does not depend on how
/// many others there are. Totals and counts must be kept beside the rows, or be as cheap as if they were.
/// [`BudgetState`](super::BudgetState) is the implementation in memory.
///
/// A method cannot fail. An implementation on a database remembers its first error, returns any value, and discards the
/// decision with all changes.
pub trait Ledger {
    /// Returns the latest time that the account has seen.
    fn clock(&self) -> Duration;
    /// Sets the latest time.
    fn set_clock(&mut self, now: Duration);

    /// Returns a number that no call has had, and none will have again.
    fn next_hold(&mut self) -> u64;
    /// Returns the number of calls in flight.
    fn holds(&mut self) -> usize;
    /// Adds a call in flight.
    fn insert_hold(&mut self, id: u64, hold: HoldRow);
    /// Removes a call in flight.
    fn remove_hold(&mut self, id: u64) -> Option<HoldRow>;
    /// Returns the numbers of the calls whose lease ended at `now` or before, in their order.
    fn due(&mut self, now: Duration) -> Vec<u64>;
    /// Returns what is reserved for all calls in flight.
    fn reserved(&mut self) -> Usage;
    /// Returns what is reserved for the calls of one execution.
    fn reserved_by(&mut self, execution: &str) -> Usage;

    /// Returns the number of open executions.
    fn executions(&mut self) -> usize;
    /// Returns an open execution.
    fn execution(&mut self, name: &str) -> Option<ExecutionRow>;
    /// Opens an execution, or changes an open one.
    fn set_execution(&mut self, name: &str, row: ExecutionRow);
    /// Closes an execution.
    fn remove_execution(&mut self, name: &str);
    /// Closes the executions that were not used since `start`.
    fn drop_idle_since(&mut self, start: Duration);

    /// Adds usage to a window at `now`, which is never earlier than what was added before: to its newest row if
    /// [`WindowRow::joined`] says so, else in a row of its own.
    fn record(&mut self, span: WindowSpan, now: Duration, usage: Usage);
    /// Removes the rows of a window that [ended](WindowRow::last) before `start`.
    fn drop_before(&mut self, span: WindowSpan, start: Duration);
    /// Returns the sum of the rows of a window.
    fn total(&mut self, span: WindowSpan) -> Usage;
    /// Returns the oldest row of a window.
    fn oldest(&mut self, span: WindowSpan) -> Option<WindowRow>;
    /// Returns the rows of a window, oldest first.
    fn rows(&mut self, span: WindowSpan) -> Vec<WindowRow>;
}
