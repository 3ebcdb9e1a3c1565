//! The part of an agent's limits that every decision reads and writes: totals, counts, clocks and the circuit breaker.

use serde::{Deserialize, Serialize};
use stockade_limits::breaker::BreakerState;
use stockade_limits::budget::{WindowRow, WindowSpan};
use stockade_limits::{MicroUsd, Usage};

/// Totals of the rows of one agent, kept beside them, so that a decision does not add them up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Core {
    /// Latest time seen, in milliseconds since 1970.
    pub(super) clock: u64,
    pub(super) next_hold: u64,
    pub(super) holds: usize,
    pub(super) reserved: Sum,
    pub(super) executions: usize,
    pub(super) hour: WindowCore,
    pub(super) day: WindowCore,
    pub(super) breaker: BreakerState,
}

/// A window: the newest of its rows, to which most calls add, and what there is to know of the older ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct WindowCore {
    pub(super) total: Sum,
    pub(super) newest: Option<WindowRow>,
    /// Number of rows in the table.
    pub(super) older: u32,
    /// When the oldest row of the table ended, in milliseconds since 1970.
    pub(super) oldest: u64,
}

/// An exact sum of usages. [`Usage`] stops at the largest number, so nothing could be taken away from it again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sum {
    #[serde(with = "decimal")]
    tokens: u128,
    #[serde(with = "decimal")]
    cost: u128,
}

impl Core {
    pub(super) const fn window(&mut self, span: WindowSpan) -> &mut WindowCore {
        match span {
            WindowSpan::Hour => &mut self.hour,
            WindowSpan::Day => &mut self.day,
        }
    }
}

impl Sum {
    pub(super) fn add(&mut self, usage: Usage) {
        self.tokens = self.tokens.saturating_add(usage.tokens.into());
        self.cost = self.cost.saturating_add(usage.cost.micros().into());
    }

    pub(super) fn take(&mut self, usage: Usage) {
        self.tokens = self.tokens.saturating_sub(usage.tokens.into());
        self.cost = self.cost.saturating_sub(usage.cost.micros().into());
    }

    pub(super) fn usage(self) -> Usage {
        let clamp = |sum| u64::try_from(sum).unwrap_or(u64::MAX);
        Usage { tokens: clamp(self.tokens), cost: MicroUsd::new(clamp(self.cost)) }
    }
}

/// Numbers that JSON readers may not hold are written as text.
mod decimal {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(number: &u128, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(number)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
        <std::borrow::Cow<'de, str>>::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
