//! What is counted: tokens and money, as integers that can be neither negative nor infinite.

use std::fmt;

/// An amount of money in millionths of a dollar.
///
/// Prices are given per million tokens, so a millionth of a dollar is what one token costs at one dollar per million.
/// Integers add up to the same total in any order, which floats do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct MicroUsd(u64);

/// Why a number of dollars is not an amount of money.
///
/// Written without a derive macro, as [`crate::store::StoreError`] is: without features, the crate has no dependencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AmountError {
    /// The number is NaN: neither more nor less than any cap, so it would pass all of them.
    NotANumber,
    /// The number is below zero: it would give back what was spent.
    Negative,
    /// The number is infinite, or more millionths than fit in 64 bits.
    TooLarge,
}

impl fmt::Display for AmountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotANumber => "not a number",
            Self::Negative => "below zero",
            Self::TooLarge => "too large",
        })
    }
}

impl std::error::Error for AmountError {}

impl MicroUsd {
    /// No money at all.
    pub const ZERO: Self = Self(0);

    /// Returns an amount of that many millionths of a dollar.
    #[must_use]
    pub const fn new(micros: u64) -> Self {
        Self(micros)
    }

    /// Returns the nearest amount to a number of dollars; what is more than nothing never becomes nothing.
    ///
    /// # Errors
    /// When the number is NaN, negative, or too large.
    pub fn from_dollars(dollars: f64) -> Result<Self, AmountError> {
        let micros = count_from_f64(dollars * 1e6)?;
        Ok(Self(if dollars > 0.0 { micros.max(1) } else { micros }))
    }

    /// Returns the amount in millionths of a dollar.
    #[must_use]
    pub const fn micros(self) -> u64 {
        self.0
    }

    /// Returns the amount in dollars, for showing.
    #[must_use]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

/// Returns the nearest count to a number from outside, refusing those that would cheat a comparison.
///
/// # Errors
/// When the number is NaN, negative, or does not fit in 64 bits.
pub fn count_from_f64(number: f64) -> Result<u64, AmountError> {
    if number.is_nan() {
        return Err(AmountError::NotANumber);
    }
    if number < 0.0 {
        return Err(AmountError::Negative);
    }
    if number >= u64::MAX as f64 {
        return Err(AmountError::TooLarge);
    }
    Ok(number.round() as u64)
}

impl fmt::Display for MicroUsd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dollars, micros) = (self.0 / 1_000_000, self.0 % 1_000_000);
        let decimals = format!("{micros:06}");
        let decimals = decimals.trim_end_matches('0');
        write!(f, "${dollars}.{decimals:0<2}")
    }
}

/// What a call costs: tokens, and money where the price is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", default, deny_unknown_fields))]
pub struct Usage {
    /// Tokens read and written.
    pub tokens: u64,
    /// Their price; zero where it is not known.
    pub cost: MicroUsd,
}

impl Usage {
    /// Neither tokens nor money.
    pub const ZERO: Self = Self { tokens: 0, cost: MicroUsd::ZERO };

    /// Returns that many tokens at an unknown price.
    #[must_use]
    pub const fn tokens(tokens: u64) -> Self {
        Self { tokens, cost: MicroUsd::ZERO }
    }

    /// Returns the sum; it stops at the largest number instead of wrapping around to a small one.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            cost: MicroUsd(self.cost.0.saturating_add(other.cost.0)),
        }
    }

    /// Returns what is left after taking `other` away, down to nothing.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            cost: MicroUsd(self.cost.0.saturating_sub(other.cost.0)),
        }
    }
}

/// The most that may be used, where there is a most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cap<T> {
    /// No limit; said in words, because no number means it.
    Unlimited,
    /// This much and not more. Nothing may be used under a cap of zero.
    AtMost(T),
}

impl<T: Ord> Cap<T> {
    /// Returns whichever allows less.
    #[must_use]
    pub fn lower(self, other: Self) -> Self {
        match (self, other) {
            (Self::AtMost(one), Self::AtMost(other)) => Self::AtMost(one.min(other)),
            (Self::Unlimited, cap) | (cap, Self::Unlimited) => cap,
        }
    }
}

/// Returns how many tokens a call may take at most: four characters a token, rounded up, and the longest answer.
///
/// ```
/// assert_eq!(stockade_limits::estimate_tokens(4_001, 500), 1_501);
/// ```
#[must_use]
pub const fn estimate_tokens(characters: u64, longest_answer: u64) -> u64 {
    characters.div_ceil(4).saturating_add(longest_answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_would_cheat_a_comparison_are_refused() {
        for (dollars, why) in [
            (f64::NAN, AmountError::NotANumber),
            (-0.000_001, AmountError::Negative),
            (f64::NEG_INFINITY, AmountError::Negative),
            (f64::INFINITY, AmountError::TooLarge),
            (1e300, AmountError::TooLarge),
        ] {
            assert_eq!(MicroUsd::from_dollars(dollars), Err(why), "{dollars}");
        }
    }

    #[test]
    fn dollars_are_rounded_to_the_nearest_millionth_and_never_to_nothing() {
        for (dollars, micros) in
            [(0.0, 0), (-0.0, 0), (0.003, 3_000), (1e-9, 1), (0.1 + 0.2, 300_000), (2.5, 2_500_000)]
        {
            assert_eq!(MicroUsd::from_dollars(dollars), Ok(MicroUsd(micros)), "{dollars}");
        }
    }

    #[test]
    fn money_is_shown_in_dollars() {
        for (micros, shown) in
            [(0, "$0.00"), (3_000, "$0.003"), (1, "$0.000001"), (2_500_000, "$2.50"), (12_000_000, "$12.00")]
        {
            assert_eq!(MicroUsd(micros).to_string(), shown);
        }
    }

    #[test]
    fn sums_stop_at_the_ends() {
        let most = Usage { tokens: u64::MAX, cost: MicroUsd(u64::MAX) };
        assert_eq!(most.plus(most), most);
        assert_eq!(Usage::tokens(1).minus(most), Usage::ZERO);
        assert_eq!(estimate_tokens(u64::MAX, u64::MAX), u64::MAX);
    }
}
