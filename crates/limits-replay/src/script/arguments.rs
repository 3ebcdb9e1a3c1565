//! Reading the arguments of an event.

use serde_json::Value;

use stockade_limits::{AmountError, MicroUsd, Usage, count_from_f64};

/// What an event lacks.
#[derive(Debug)]
pub(super) struct Needs(pub(super) &'static str);

pub(super) struct Arguments<'a> {
    values: &'a [Value],
}

impl<'a> Arguments<'a> {
    pub(super) fn new(values: &'a [Value]) -> Self {
        Self { values }
    }

    pub(super) fn value(&self, index: usize, needs: &'static str) -> Result<&'a Value, Needs> {
        self.values.get(index).ok_or(Needs(needs))
    }

    pub(super) fn text(&self, index: usize, needs: &'static str) -> Result<&'a str, Needs> {
        self.value(index, needs)?.as_str().ok_or(Needs(needs))
    }

    pub(super) fn text_or(&self, index: usize, default: &'static str) -> &'a str {
        self.values.get(index).and_then(Value::as_str).unwrap_or(default)
    }

    /// Reads a number; one that is not an amount is the inner error.
    pub(super) fn count(&self, index: usize, needs: &'static str) -> Result<Result<u64, AmountError>, Needs> {
        count(self.value(index, needs)?).ok_or(Needs(needs))
    }

    /// Reads a number of tokens, or `{"tokens": …, "costUsd": …}`.
    pub(super) fn usage(&self, index: usize) -> Result<Result<Usage, AmountError>, Needs> {
        const NEEDS: &str = "a number of tokens, or an object with `tokens` and `costUsd`";
        let value = self.value(index, NEEDS)?;
        let Some(object) = value.as_object() else {
            return Ok(count(value).ok_or(Needs(NEEDS))?.map(Usage::tokens));
        };
        let tokens = object.get("tokens").map_or(Some(Ok(0)), count).ok_or(Needs(NEEDS))?;
        let cost = object.get("costUsd").map_or(Some(0.0), number).ok_or(Needs(NEEDS))?;
        Ok(tokens.and_then(|tokens| Ok(Usage { tokens, cost: MicroUsd::from_dollars(cost)? })))
    }
}

/// Reads a count exactly where it is whole, and by way of a float where it is not.
pub(super) fn count(value: &Value) -> Option<Result<u64, AmountError>> {
    match value.as_u64() {
        Some(count) => Some(Ok(count)),
        None => number(value).map(count_from_f64),
    }
}

/// Reads a float. JSON has no word for what is not a number, so scripts write it as text.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value.as_str() {
        Some("NaN") => Some(f64::NAN),
        Some("Infinity") => Some(f64::INFINITY),
        Some("-Infinity") => Some(f64::NEG_INFINITY),
        _ => value.as_f64(),
    }
}
