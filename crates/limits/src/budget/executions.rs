//! The totals of the executions that are open.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::amount::Usage;

/// One total for each execution, so that two tasks of one agent never reset or fill each other's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub(crate) struct Executions(pub(super) BTreeMap<String, ExecutionRow>);

/// Total of one open execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct ExecutionRow {
    /// Usage that was charged.
    pub usage: Usage,
    /// Number of calls that were charged.
    pub calls: u32,
    /// Whether its caller was warned that a cap is near.
    pub warned: bool,
    /// Number of steps taken.
    #[cfg_attr(feature = "serde", serde(default))]
    pub steps: u32,
    /// When it was last used, or the end of the longest lease of its calls.
    #[cfg_attr(feature = "serde", serde(with = "crate::millis"))]
    pub touched: Duration,
}

impl ExecutionRow {
    /// Keeps the execution open until a day after `at`.
    pub(super) fn touched_at(self, at: Duration) -> Self {
        Self { touched: self.touched.max(at), ..self }
    }
}
