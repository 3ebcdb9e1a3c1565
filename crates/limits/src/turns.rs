//! A budget that the user gives one answer ("+500k"), and when going on is not worth it.

use std::fmt;

/// How much of the target is enough, in hundredths.
const ENOUGH_PERCENT: u128 = 90;
/// A turn that brings fewer tokens than this brings little.
const SMALL_TURN: u64 = 500;
/// How often an answer is continued at most.
const MAX_CONTINUATIONS: u32 = 3;
/// The smallest and the largest budget that a message can ask for.
const DIRECTIVE: std::ops::RangeInclusive<u64> = 10_000..=10_000_000;

/// Decides after each turn whether an answer should be continued towards a target.
///
/// ```
/// use stockade_limits::turns::{TurnBudget, TurnVerdict};
///
/// let mut turns = TurnBudget::new(500_000);
/// assert_eq!(turns.check(200_000), TurnVerdict::Continue);
/// assert_eq!(turns.check(450_000), TurnVerdict::BudgetReached);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct TurnBudget {
    target: u64,
    written: u64,
    continuations: u32,
    /// How many turns in a row, up to the last one, brought little.
    small_turns: u32,
}

/// The answer to [`TurnBudget::check`]: one way to go on, three reasons to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum TurnVerdict {
    /// The target is not reached: go on.
    Continue,
    /// The answer was continued three times already.
    MaxContinuations,
    /// Nine tenths of the target are written.
    BudgetReached,
    /// Two turns in a row brought little.
    DiminishingReturns,
}

impl TurnVerdict {
    /// Returns whether the answer should be continued.
    #[must_use]
    pub const fn goes_on(self) -> bool {
        matches!(self, Self::Continue)
    }

    /// Returns the name of the reason in reports.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Continue => "under_budget",
            Self::MaxContinuations => "max_continuations",
            Self::BudgetReached => "budget_reached",
            Self::DiminishingReturns => "diminishing_returns",
        }
    }
}

impl fmt::Display for TurnVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Continue => "the target is not reached",
            Self::MaxContinuations => "the answer was continued three times",
            Self::BudgetReached => "nine tenths of the target are written",
            Self::DiminishingReturns => "two turns in a row brought little",
        })
    }
}

impl TurnBudget {
    /// Returns a budget of that many tokens of output. A target of zero is reached at once.
    #[must_use]
    pub const fn new(target: u64) -> Self {
        Self { target, written: 0, continuations: 0, small_turns: 0 }
    }

    /// Returns the target.
    #[must_use]
    pub const fn target(&self) -> u64 {
        self.target
    }

    /// Returns which part of the target is written; 1 is all of it.
    #[must_use]
    pub fn utilization(&self) -> f64 {
        if self.target == 0 {
            return 1.0;
        }
        self.written as f64 / self.target as f64
    }

    /// Takes note of how many tokens the answer has in all, and decides whether to go on.
    pub fn check(&mut self, written: u64) -> TurnVerdict {
        let is_small = written.saturating_sub(self.written) < SMALL_TURN;
        self.written = written;
        self.small_turns = if is_small { self.small_turns.saturating_add(1) } else { 0 };
        if self.continuations >= MAX_CONTINUATIONS {
            return TurnVerdict::MaxContinuations;
        }
        if u128::from(written) * 100 >= u128::from(self.target) * ENOUGH_PERCENT {
            return TurnVerdict::BudgetReached;
        }
        if self.continuations > 0 && self.small_turns >= 2 {
            return TurnVerdict::DiminishingReturns;
        }
        self.continuations += 1;
        TurnVerdict::Continue
    }
}

/// A budget found in a user's message, and the message without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnDirective<'t> {
    /// The target in tokens.
    pub target: u64,
    /// The rest of the message, trimmed.
    pub message: &'t str,
}

/// Finds `+500k` or `+2m` as the first or the last word of a message.
///
/// Between other words it is part of a sentence ("I earned +500k last year"). Budgets below ten thousand or above ten
/// million tokens are not taken.
///
/// ```
/// let directive = stockade_limits::turns::turn_directive("Write the report. +500k").unwrap();
/// assert_eq!((directive.target, directive.message), (500_000, "Write the report."));
/// ```
#[must_use]
pub fn turn_directive(message: &str) -> Option<TurnDirective<'_>> {
    let message = message.trim();
    let (first, after) = message.split_once(char::is_whitespace).unwrap_or((message, ""));
    if let Some(target) = parse_target(first) {
        return Some(TurnDirective { target, message: after.trim_start() });
    }
    let (before, last) = message.rsplit_once(char::is_whitespace)?;
    parse_target(last).map(|target| TurnDirective { target, message: before.trim_end() })
}

fn parse_target(word: &str) -> Option<u64> {
    let word = word.strip_prefix('+')?;
    let (digits, unit) = match word.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => (word.strip_suffix(['m', 'M'])?, 1_000_000),
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let target = digits.parse::<u64>().ok()?.checked_mul(unit)?;
    DIRECTIVE.contains(&target).then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_turn_is_never_too_small() {
        let mut turns = TurnBudget::new(500_000);
        assert_eq!(turns.check(0), TurnVerdict::Continue);
        assert_eq!(turns.check(10), TurnVerdict::DiminishingReturns);
    }

    #[test]
    fn one_large_turn_starts_the_count_of_small_ones_anew() {
        let mut turns = TurnBudget::new(500_000);
        let verdicts = [100, 2_000, 2_100].map(|written| turns.check(written));
        assert_eq!(verdicts, [TurnVerdict::Continue; 3]);
        assert_eq!(turns.check(2_200), TurnVerdict::MaxContinuations);
    }

    #[test]
    fn nothing_divides_by_zero_or_overflows() {
        assert_eq!(TurnBudget::new(0).check(0), TurnVerdict::BudgetReached);
        assert_eq!(TurnBudget::new(u64::MAX).check(u64::MAX), TurnVerdict::BudgetReached);
        assert!(TurnBudget::new(0).utilization().is_finite());
    }

    #[test]
    fn a_directive_stands_at_an_end_of_the_message() {
        for (message, found) in [
            ("+500k write it", Some((500_000, "write it"))),
            ("  write it +2M  ", Some((2_000_000, "write it"))),
            ("+500k", Some((500_000, ""))),
            ("I earned +500k last year", None),
            ("+500kg of sand", None),
            ("+k", None),
            ("+-5k", None),
            ("+9k too small", None),
            ("+11m too large", None),
            ("+99999999999999999999m", None),
            ("", None),
        ] {
            let directive = turn_directive(message).map(|d| (d.target, d.message));
            assert_eq!(directive, found, "{message:?}");
        }
    }
}
