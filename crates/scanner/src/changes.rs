//! Rules that the operator has switched off, or whose severity the operator has changed.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::rule::Severity;

/// A change of one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleChange {
    /// The id of the rule.
    pub rule: String,
    /// The severity of its findings; `None` switches the rule off.
    pub severity: Option<Severity>,
    /// Origin of the change: the line of a file, a variable, an option. Each finding of the rule repeats it.
    pub by: String,
}

impl fmt::Display for RuleChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, severity, by } = self;
        match severity {
            None => write!(f, "{rule} is off: {by}"),
            Some(severity) => write!(f, "{rule} is {severity}: {by}"),
        }
    }
}

/// The changes of a scanner's rules, by rule number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes {
    of_rule: Arc<[Option<RuleChange>]>,
}

impl Changes {
    /// The last change of a rule counts. Changes of unknown rules have no effect.
    pub(crate) fn of<'r>(changes: &[RuleChange], ids: impl Iterator<Item = &'r str>) -> Self {
        if changes.is_empty() {
            return Self::default();
        }
        let named: HashMap<&str, &RuleChange> =
            changes.iter().map(|change| (change.rule.as_str(), change)).collect();
        Self { of_rule: ids.map(|id| named.get(id).copied().cloned()).collect() }
    }

    pub(crate) fn get(&self, rule: usize) -> Option<&RuleChange> {
        self.of_rule.get(rule).and_then(Option::as_ref)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &RuleChange> {
        self.of_rule.iter().flatten()
    }
}
