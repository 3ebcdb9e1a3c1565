//! Findings that were set aside by a list, and notes about the lists themselves.

use std::path::Path;

use serde::Serialize;
use stockade_scanner::{Finding, RuleChange, Severity};
use stockade_text::{escape, escape_path};

use super::fields::path_text;

/// Maximum number of rows.
const MAX_ROWS: usize = 1000;

/// A bounded list of findings that were set aside, with notes.
#[derive(Debug, Default)]
pub struct SetAside {
    /// The first rows.
    pub rows: Vec<SetAsideRow>,
    /// Number of rows, including those beyond the limit.
    pub total: usize,
    /// Number of findings that do not count.
    pub findings: usize,
    /// Number of rules that are off.
    pub rules_off: usize,
}

/// Why a finding does not count, or counts despite a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SetAsideKind {
    /// A row of a suppression list matches it.
    Suppressed,
    /// The baseline contains it.
    Known,
    /// Its suppression is for other content, or has expired: the finding counts.
    Stale,
    /// A list that was not named on the command line: it has no effect.
    Ignored,
    /// A rule that the configuration switches off: it is not searched.
    Off,
}

/// A finding that was set aside, or a note about a list, with place and reason.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SetAsideRow {
    /// The kind of the row.
    pub kind: SetAsideKind,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line_number: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<Severity>,
    reason: String,
    /// The path for display.
    #[serde(skip)]
    pub shown_path: String,
    /// The text beside the path.
    #[serde(skip)]
    pub told: String,
}

impl SetAsideRow {
    /// The row of one finding.
    pub fn of(path: &Path, finding: &Finding<'_>, kind: SetAsideKind, reason: String) -> Self {
        let name = match kind {
            SetAsideKind::Suppressed => "suppressed",
            SetAsideKind::Known => "known",
            SetAsideKind::Stale => "not suppressed",
            SetAsideKind::Ignored => "ignored",
            SetAsideKind::Off => "off",
        };
        let (rule, line) = (finding.rule_id, finding.line);
        let shown_path = format!("{}:{line}", escape_path(path));
        let told = format!("{} {name}: {}", escape(rule), escape(&reason));
        Self {
            kind,
            path: path_text(path).0.into_owned(),
            line_number: Some(line),
            rule_id: Some(rule.to_owned()),
            severity: Some(finding.severity),
            reason,
            shown_path,
            told,
        }
    }

    /// Makes the row of a rule that is off. The path is the place of that setting.
    pub fn of_rule(change: &RuleChange) -> Self {
        let reason = "off by the configuration: nothing is looked for by it".to_owned();
        Self {
            kind: SetAsideKind::Off,
            path: change.by.clone(),
            line_number: None,
            rule_id: Some(change.rule.clone()),
            severity: None,
            shown_path: escape(&change.by).into_owned(),
            told: format!("{} is {reason}", escape(&change.rule)),
            reason,
        }
    }

    /// Makes the row of a whole file, such as an ignored list.
    pub fn of_file(path: &Path, kind: SetAsideKind, reason: String) -> Self {
        let (shown_path, told) = (escape_path(path), escape(&reason).into_owned());
        let path = path_text(path).0.into_owned();
        Self { kind, path, line_number: None, rule_id: None, severity: None, reason, shown_path, told }
    }
}

impl SetAside {
    /// The list of these rows.
    pub fn of(rows: Vec<SetAsideRow>) -> Self {
        let mut all = Self::default();
        rows.into_iter().for_each(|row| all.push(row));
        all
    }

    /// Adds a row; beyond the limit, it is only counted.
    pub fn push(&mut self, row: SetAsideRow) {
        self.total += 1;
        self.findings += usize::from(matches!(row.kind, SetAsideKind::Suppressed | SetAsideKind::Known));
        self.rules_off += usize::from(row.kind == SetAsideKind::Off);
        if self.rows.len() < MAX_ROWS {
            self.rows.push(row);
        }
    }

    /// Returns a sentence with the numbers of set-aside findings and of rules that are off, if any.
    pub fn sum(&self) -> Option<String> {
        let count = |number, what: &str, end: &str| match number {
            0 => None,
            1 => Some(format!("1 {what}{end}")),
            many => Some(format!("{many} {what}s{end}")),
        };
        let parts = [count(self.findings, "finding", " set aside"), count(self.rules_off, "rule", " off")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// Whether nothing was set aside.
    pub const fn is_nothing(&self) -> bool {
        self.findings == 0 && self.rules_off == 0
    }

    /// Adds the rows of another list.
    pub fn append(&mut self, other: Self) {
        let unlisted = other.total - other.rows.len();
        let findings = self.findings + other.findings;
        other.rows.into_iter().for_each(|row| self.push(row));
        self.total += unlisted;
        self.findings = findings;
    }
}
