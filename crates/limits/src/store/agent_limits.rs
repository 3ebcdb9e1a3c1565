//! The limits of one agent.

use crate::breaker::BreakerSettings;
use crate::budget::BudgetLimits;

/// What an agent is held to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", default, deny_unknown_fields))]
pub struct AgentLimits {
    /// What it may use.
    pub budget: BudgetLimits,
    /// When its service is left alone.
    pub breaker: BreakerSettings,
    /// How many steps one execution may take; no bound where nothing is said.
    pub max_steps: Option<u32>,
}

impl AgentLimits {
    /// Returns limits that allow nothing that either does not allow.
    #[must_use]
    pub fn narrowed_by(self, other: Self) -> Self {
        Self {
            budget: self.budget.narrowed_by(other.budget),
            breaker: self.breaker.narrowed_by(other.breaker),
            max_steps: self.max_steps.into_iter().chain(other.max_steps).min(),
        }
    }
}
