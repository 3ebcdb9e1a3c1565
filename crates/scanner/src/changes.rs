//! Rules that whoever runs a scanner has switched off, or that count as worse or milder for them.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::rule::Severity;

/// What becomes of one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleChange {
    /// The id of the rule.
    pub rule: String,
    /// How bad a hit of it is; nothing for a rule that is off and finds nothing.
    pub severity: Option<Severity>,
    /// Who says so: the line of a file, a variable, an option. Each finding of the rule repeats it.
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

/// The same for each rule of a scanner, by its number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes {
    of_rule: Arc<[Option<RuleChange>]>,
}

impl Changes {
    /// Of several about one rule, the last holds. What is said of a rule that is not there says nothing.
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
