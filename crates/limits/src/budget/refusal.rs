//! Why a call is refused for its cost.

use std::fmt;
use std::time::Duration;

use super::window::WindowSpan;
use super::{MAX_EXECUTIONS, MAX_IN_FLIGHT};
use crate::amount::{MicroUsd, Usage};

/// Where usage is added up, in the order in which the caps are tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BudgetScope {
    /// One task, from its first call to its answer.
    #[cfg_attr(feature = "serde", serde(rename = "per-execution"))]
    Execution,
    /// The last sixty minutes.
    #[cfg_attr(feature = "serde", serde(rename = "per-hour"))]
    Hour,
    /// The last twenty-four hours.
    #[cfg_attr(feature = "serde", serde(rename = "per-day"))]
    Day,
}

/// What is added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Measure {
    /// Tokens read and written.
    Tokens,
    /// Millionths of a dollar.
    Cost,
}

/// Why a call must not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BudgetRefusal {
    /// A cap would be passed.
    Exhausted(Exhausted),
    /// More calls are in flight than are remembered.
    TooManyInFlight,
    /// More executions are open than are remembered.
    TooManyExecutions,
}

/// The cap that would be passed, and by what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exhausted {
    /// Whose cap it is.
    pub scope: BudgetScope,
    /// Tokens or money.
    pub measure: Measure,
    /// What is used, with what is reserved for calls in flight.
    pub used: u64,
    /// The part of `used` that is only reserved; it shrinks when those calls cost less.
    pub reserved: u64,
    /// What this call might cost.
    pub asked: u64,
    /// The cap.
    pub cap: u64,
    /// When the call would fit if nothing else is used, or nothing if waiting does not help.
    pub retry_at: Option<Duration>,
}

impl BudgetScope {
    /// All scopes, in the order in which they are tested.
    pub const ALL: [Self; 3] = [Self::Execution, Self::Hour, Self::Day];

    /// Returns the window over which usage counts in this scope; an execution has none.
    pub(super) const fn window(self) -> Option<WindowSpan> {
        match self {
            Self::Execution => None,
            Self::Hour => Some(WindowSpan::Hour),
            Self::Day => Some(WindowSpan::Day),
        }
    }

    /// Returns the name of the scope in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Execution => "per-execution",
            Self::Hour => "per-hour",
            Self::Day => "per-day",
        }
    }
}

impl Measure {
    pub(crate) const ALL: [Self; 2] = [Self::Tokens, Self::Cost];

    pub(crate) fn of(self, usage: Usage) -> u64 {
        match self {
            Self::Tokens => usage.tokens,
            Self::Cost => usage.cost.micros(),
        }
    }

    fn show(self, amount: u64) -> String {
        match self {
            Self::Tokens => amount.to_string(),
            Self::Cost => MicroUsd::new(amount).to_string(),
        }
    }

    const fn noun(self) -> &'static str {
        match self {
            Self::Tokens => "token",
            Self::Cost => "cost",
        }
    }
}

impl fmt::Display for BudgetRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exhausted(exhausted) => exhausted.fmt(f),
            Self::TooManyInFlight => write!(f, "{MAX_IN_FLIGHT} calls are in flight already"),
            Self::TooManyExecutions => write!(f, "{MAX_EXECUTIONS} executions are open already"),
        }
    }
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |amount| self.measure.show(amount);
        let (scope, noun) = (self.scope.name(), self.measure.noun());
        write!(f, "the {scope} {noun} budget of {} is exhausted: {} used", show(self.cap), show(self.used))?;
        if self.reserved > 0 {
            write!(f, " ({} of it reserved for calls in flight)", show(self.reserved))?;
        }
        write!(f, ", {} more asked for", show(self.asked))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_scope_usage_and_cap() {
        let refusal = Exhausted {
            scope: BudgetScope::Hour,
            measure: Measure::Cost,
            used: 4_500_000,
            reserved: 1_000_000,
            asked: 750_000,
            cap: 5_000_000,
            retry_at: None,
        };
        assert_eq!(
            BudgetRefusal::Exhausted(refusal).to_string(),
            "the per-hour cost budget of $5.00 is exhausted: $4.50 used ($1.00 of it reserved for calls in flight), \
             $0.75 more asked for"
        );
    }
}
