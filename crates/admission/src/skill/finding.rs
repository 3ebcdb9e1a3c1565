//! Scanner findings in a skill, detached from the scanned text.

use std::collections::HashSet;

use serde::Serialize;
use stockade_scanner::{Finding, FindingGroup, ScanReport, Severity};

/// Maximum number of listed findings.
const MAX_FINDINGS: usize = 1000;

/// A finding of the scanner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SkillFinding {
    /// The file.
    pub path: String,
    /// The rule.
    pub rule_id: String,
    /// Its severity.
    pub severity: Severity,
    /// The configuration line that changed the severity of its rule, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_by: Option<String>,
    /// Description of the rule.
    pub description: String,
    /// The first characters of the matched text.
    pub matched_text: String,
    /// The line, from 1; if it cannot be determined, the first line of the text.
    #[serde(rename = "lineNumber")]
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The reading in which it was found.
    pub reading: Reading,
    /// Why the rule applies here: the variant of the attack.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The command that completes the attack, if another one does: it runs what the matched one downloads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_by: Option<SkillFindingStep>,
    /// The remedy.
    #[serde(rename = "remediation")]
    pub remedy: String,
    /// Findings of other rules about the same attack, none of them more severe.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Self>,
}

/// A command elsewhere in the file that belongs to an attack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SkillFindingStep {
    /// The first characters of the command.
    pub text: String,
    /// The line, from 1.
    #[serde(rename = "lineNumber")]
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// The reading of a text in which something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Reading {
    /// The text as written.
    Written,
    /// The text after cleaning.
    Cleaned,
    /// As a front matter value, without its quotes and escapes.
    Value,
    /// As a command that a shell would run.
    Command,
    /// As the message that invisible characters encode.
    Hidden,
}

impl Reading {
    /// Returns a word for display.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Written => "as written",
            Self::Cleaned => "after cleaning",
            Self::Value => "in a value of the head",
            Self::Command => "in a command",
            Self::Hidden => "in invisible characters",
        }
    }
}

/// Bounded collection of findings. It keeps the worst, and of equal ones the first: a flood of mild findings hides
/// nothing.
#[derive(Debug, Default)]
pub(crate) struct WorstFindings {
    critical: Vec<SkillFinding>,
    milder: Vec<SkillFinding>,
    /// Whether any were dropped.
    cut: bool,
}

impl WorstFindings {
    pub(crate) fn push(&mut self, finding: SkillFinding) {
        let list = match finding.severity {
            Severity::Critical => &mut self.critical,
            Severity::Warn => &mut self.milder,
        };
        if list.len() < MAX_FINDINGS {
            list.push(finding);
        } else {
            self.cut = true;
        }
    }

    /// Returns the findings, worst first, and whether any were dropped.
    pub(crate) fn end(self) -> (Vec<SkillFinding>, bool) {
        let Self { critical: mut list, milder, mut cut } = self;
        let room = MAX_FINDINGS - list.len();
        cut |= milder.len() > room;
        list.extend(milder.into_iter().take(room));
        (list, cut)
    }
}

/// Collects findings of several readings.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    list: WorstFindings,
    /// Known findings, so that a second reading adds only new ones.
    seen: HashSet<(String, String, String)>,
    worst: Option<Severity>,
    cut: bool,
}

impl Findings {
    /// Adds the new findings of a report. The text has `lines_before` lines before it in its file.
    pub(crate) fn add(&mut self, report: &ScanReport<'_>, path: &str, lines_before: usize, reading: Reading) {
        self.cut |= report.truncated;
        for group in report.groups() {
            self.push(kept(&group, path, lines_before, reading));
        }
    }

    /// Adds findings that were collected before.
    pub(crate) fn extend(&mut self, findings: Vec<SkillFinding>, cut: bool) {
        self.cut |= cut;
        findings.into_iter().for_each(|finding| self.push(finding));
    }

    fn push(&mut self, mut finding: SkillFinding) {
        self.worst = self.worst.max(Some(finding.severity));
        let is_new = self.is_new(&finding);
        finding.also.retain(|other| self.is_new(other));
        if is_new {
            self.list.push(finding);
        } else {
            // The attack is known, and another rule found it in this reading alone.
            finding.also.into_iter().for_each(|other| self.list.push(other));
        }
    }

    /// Whether a finding is to be listed. A repetition in the text is a second finding; a repetition by a second reading is not.
    fn is_new(&mut self, finding: &SkillFinding) -> bool {
        let SkillFinding { path, rule_id, matched_text, reading, .. } = finding;
        let key = (path.clone(), rule_id.clone(), matched_text.clone());
        self.seen.insert(key) || *reading == Reading::Written
    }

    pub(crate) const fn worst(&self) -> Option<Severity> {
        self.worst
    }

    /// Returns the findings, worst first, and whether there were more.
    pub(crate) fn end(self) -> (Vec<SkillFinding>, bool) {
        let (list, cut) = self.list.end();
        (list, cut || self.cut)
    }
}

/// Detaches the findings of an attack from their text.
pub(crate) fn kept(
    group: &FindingGroup<'_, '_>,
    path: &str,
    lines_before: usize,
    reading: Reading,
) -> SkillFinding {
    let also = group.others.iter().map(|other| detached(other, path, lines_before, reading)).collect();
    SkillFinding { also, ..detached(group.main, path, lines_before, reading) }
}

/// Detaches a finding from its text.
pub(crate) fn detached(
    finding: &Finding<'_>,
    path: &str,
    lines_before: usize,
    reading: Reading,
) -> SkillFinding {
    SkillFinding {
        path: path.to_owned(),
        rule_id: finding.rule_id.to_owned(),
        severity: finding.severity,
        changed_by: finding.changed.map(str::to_owned),
        description: finding.description.to_owned(),
        matched_text: finding.matched_text.to_owned(),
        line: finding.line + lines_before,
        column: finding.column,
        reading,
        why: finding.why.to_owned(),
        completed_by: finding.completed_by.as_ref().map(|step| SkillFindingStep {
            text: step.text.to_owned(),
            line: step.line + lines_before,
            column: step.column,
        }),
        remedy: finding.remedy.to_owned(),
        also: Vec::new(),
    }
}
