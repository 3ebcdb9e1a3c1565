//! Warning before a budget is spent, while an agent can still wrap up.

use super::{BudgetScope, Measure};

/// Calls before the average says anything.
const FEWEST_CALLS: u32 = 3;
/// How near a cap must be.
const NEAR: u64 = 2;

/// A cap that is at most two calls of average size away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trajectory {
    /// Whose cap it is.
    pub scope: BudgetScope,
    /// Tokens or money.
    pub measure: Measure,
    /// How many more calls of average size fit.
    pub calls_left: u64,
}

/// Returns how many more calls of average size fit under a cap, when that is two or fewer.
///
/// Nothing is said before the third call, or where calls cost nothing.
///
/// ```
/// use stockade_limits::budget::calls_left;
///
/// assert_eq!(calls_left(1_000, 600, 600, 3), Some(2));
/// assert_eq!(calls_left(1_000, 500, 500, 3), None);
/// assert_eq!(calls_left(1_000, 900, 900, 2), None, "two calls are no pace");
/// ```
#[must_use]
pub fn calls_left(cap: u64, used: u64, spent: u64, calls: u32) -> Option<u64> {
    if calls < FEWEST_CALLS {
        return None;
    }
    let remaining = u128::from(cap.saturating_sub(used));
    // remaining ÷ (spent ÷ calls), without rounding the average.
    let left = (remaining * u128::from(calls)).checked_div(u128::from(spent))?;
    u64::try_from(left).ok().filter(|left| *left <= NEAR)
}
