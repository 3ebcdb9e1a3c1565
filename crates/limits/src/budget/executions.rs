//! The totals of the executions that are open.

use std::collections::BTreeMap;
use std::time::Duration;

use super::MAX_EXECUTIONS;
use crate::amount::Usage;

/// One total for each execution, so that two tasks of one agent never reset or fill each other's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub(crate) struct Executions(BTreeMap<String, Spent>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", deny_unknown_fields))]
pub(crate) struct Spent {
    pub(crate) usage: Usage,
    pub(crate) calls: u32,
    pub(crate) warned: bool,
    /// The steps that it has taken.
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) steps: u32,
    #[cfg_attr(feature = "serde", serde(with = "crate::millis"))]
    touched: Duration,
}

impl Executions {
    pub(crate) fn get(&self, execution: &str) -> Option<&Spent> {
        self.0.get(execution)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(crate) fn has_room_for(&self, execution: &str) -> bool {
        self.0.len() < MAX_EXECUTIONS || self.0.contains_key(execution)
    }

    /// Keeps an execution open until a day after `at`.
    pub(crate) fn touch(&mut self, execution: &str, at: Duration) -> &mut Spent {
        let spent = self.0.entry(execution.to_owned()).or_default();
        spent.touched = spent.touched.max(at);
        spent
    }

    pub(crate) fn record(&mut self, execution: &str, usage: Usage, now: Duration) {
        let spent = self.touch(execution, now);
        spent.usage = spent.usage.plus(usage);
        spent.calls = spent.calls.saturating_add(1);
    }

    pub(crate) fn mark_warned(&mut self, execution: &str) {
        if let Some(spent) = self.0.get_mut(execution) {
            spent.warned = true;
        }
    }

    pub(crate) fn end(&mut self, execution: &str) {
        self.0.remove(execution);
    }

    /// Forgets executions that were not used since `start`: by then the day's cap has forgotten them too.
    pub(crate) fn drop_idle_since(&mut self, start: Duration) {
        self.0.retain(|_, spent| spent.touched >= start);
    }
}
