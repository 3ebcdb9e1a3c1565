//! A budget as people write it in a configuration file.

use std::time::Duration;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Unexpected, Visitor};

use super::{Allowance, BudgetLimits};
use crate::amount::{Cap, MicroUsd};

/// Caps side by side: tokens as whole numbers, money in dollars, or the word `unlimited`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(super) struct BudgetFile {
    #[serde(alias = "maxTokens", deserialize_with = "tokens")]
    per_execution: Cap<u64>,
    #[serde(deserialize_with = "tokens")]
    per_hour: Cap<u64>,
    #[serde(deserialize_with = "tokens")]
    per_day: Cap<u64>,
    #[serde(alias = "maxCostUsd", deserialize_with = "dollars")]
    per_execution_usd: Cap<MicroUsd>,
    #[serde(deserialize_with = "dollars")]
    per_hour_usd: Cap<MicroUsd>,
    #[serde(deserialize_with = "dollars")]
    per_day_usd: Cap<MicroUsd>,
    #[serde(rename = "leaseMs", with = "crate::millis")]
    lease: Duration,
}

impl Default for BudgetFile {
    fn default() -> Self {
        let BudgetLimits { per_execution, per_hour, per_day, lease } = BudgetLimits::default();
        Self {
            per_execution: per_execution.tokens,
            per_hour: per_hour.tokens,
            per_day: per_day.tokens,
            per_execution_usd: per_execution.cost,
            per_hour_usd: per_hour.cost,
            per_day_usd: per_day.cost,
            lease,
        }
    }
}

impl From<BudgetFile> for BudgetLimits {
    fn from(file: BudgetFile) -> Self {
        Self {
            per_execution: Allowance { tokens: file.per_execution, cost: file.per_execution_usd },
            per_hour: Allowance { tokens: file.per_hour, cost: file.per_hour_usd },
            per_day: Allowance { tokens: file.per_day, cost: file.per_day_usd },
            lease: file.lease,
        }
    }
}

fn tokens<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cap<u64>, D::Error> {
    match deserializer.deserialize_any(CapVisitor { expected: "a whole number of tokens or `unlimited`" })? {
        Written::Unlimited => Ok(Cap::Unlimited),
        Written::Whole(tokens) => Ok(Cap::AtMost(tokens)),
        Written::Fraction(number) => Err(D::Error::invalid_value(
            Unexpected::Float(number),
            &"a whole number of tokens or `unlimited`",
        )),
    }
}

fn dollars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cap<MicroUsd>, D::Error> {
    let dollars = match deserializer.deserialize_any(CapVisitor { expected: "dollars or `unlimited`" })? {
        Written::Unlimited => return Ok(Cap::Unlimited),
        Written::Whole(dollars) => dollars as f64,
        Written::Fraction(dollars) => dollars,
    };
    MicroUsd::from_dollars(dollars).map(Cap::AtMost).map_err(D::Error::custom)
}

enum Written {
    Unlimited,
    Whole(u64),
    Fraction(f64),
}

struct CapVisitor {
    expected: &'static str,
}

impl Visitor<'_> for CapVisitor {
    type Value = Written;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Written, E> {
        Ok(Written::Whole(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Written, E> {
        let negative = |_| E::invalid_value(Unexpected::Signed(number), &self);
        u64::try_from(number).map(Written::Whole).map_err(negative)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Written, E> {
        Ok(Written::Fraction(number))
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Written, E> {
        match word {
            "unlimited" => Ok(Written::Unlimited),
            _ => Err(E::invalid_value(Unexpected::Str(word), &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<BudgetLimits, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_not_written_is_the_default() {
        assert_eq!(read("{}"), Ok(BudgetLimits::default()));
    }

    #[test]
    fn caps_are_numbers_or_a_word() {
        let limits =
            read(r#"{"maxTokens": 5000, "maxCostUsd": 1.5, "perHour": "unlimited", "perDayUsd": 20}"#);
        let limits = limits.unwrap();
        assert_eq!(limits.per_execution.tokens, Cap::AtMost(5_000));
        assert_eq!(limits.per_execution.cost, Cap::AtMost(MicroUsd::new(1_500_000)));
        assert_eq!(limits.per_hour.tokens, Cap::Unlimited);
        assert_eq!(limits.per_day.cost, Cap::AtMost(MicroUsd::new(20_000_000)));
    }

    #[test]
    fn what_would_lift_a_cap_by_accident_is_refused() {
        for (json, why) in [
            (r#"{"perHour": -1}"#, "expected a whole number of tokens or `unlimited`"),
            (r#"{"perHour": 1.5}"#, "expected a whole number of tokens or `unlimited`"),
            (r#"{"perHour": "NaN"}"#, "expected a whole number of tokens or `unlimited`"),
            (r#"{"perHour": null}"#, "expected a whole number of tokens or `unlimited`"),
            (r#"{"perDayUsd": -0.5}"#, "below zero"),
            (r#"{"perDayUsd": 1e300}"#, "too large"),
            (r#"{"perhour": 5}"#, "unknown field `perhour`"),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.contains(why), "{json}: {error}");
        }
    }
}
