//! What the scanner finds in a skill, kept beyond the text that it was found in.

use std::collections::HashSet;

use serde::Serialize;
use stockade_scanner::{Finding, ScanReport, Severity};

/// The most findings that are listed.
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
    /// How bad it is.
    pub severity: Severity,
    /// Who says that its rule is as bad as this, if that is not the rule itself: a line of a configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_by: Option<String>,
    /// What it means.
    pub description: String,
    /// The text that matched, its first characters.
    pub matched_text: String,
    /// The line, from 1; where that cannot be told, the line on which the text begins that was read.
    #[serde(rename = "lineNumber")]
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// As what the text was read.
    pub reading: Reading,
    /// What to do about it.
    #[serde(rename = "remediation")]
    pub remedy: String,
}

/// As what a text was read when something was found in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Reading {
    /// As it is written.
    Written,
    /// As it is after cleaning.
    Cleaned,
    /// As a value of the head, without the quotes and escapes that it is written with.
    Value,
    /// As a command that a shell would run.
    Command,
    /// As the message that invisible characters spell.
    Hidden,
}

impl Reading {
    /// Returns a word for people.
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

/// Findings up to a number. Where there are more, the worst of them are kept, and of those the first: a flood of mild ones hides
/// nothing.
#[derive(Debug, Default)]
pub(crate) struct WorstFindings {
    critical: Vec<SkillFinding>,
    milder: Vec<SkillFinding>,
    /// Whether any were left out.
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

    /// Returns the findings, the worst first, and whether any were left out.
    pub(crate) fn end(self) -> (Vec<SkillFinding>, bool) {
        let Self { critical: mut list, milder, mut cut } = self;
        let room = MAX_FINDINGS - list.len();
        cut |= milder.len() > room;
        list.extend(milder.into_iter().take(room));
        (list, cut)
    }
}

/// What was found so far.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    list: WorstFindings,
    /// What has been seen, so that a second reading only adds what is new.
    seen: HashSet<(String, String, String)>,
    worst: Option<Severity>,
    cut: bool,
}

impl Findings {
    /// Adds what is new in a report on a text that has `lines_before` more lines before it in its file.
    pub(crate) fn add(&mut self, report: &ScanReport<'_>, path: &str, lines_before: usize, reading: Reading) {
        self.cut |= report.truncated;
        for finding in &report.findings {
            self.push(kept(finding, path, lines_before, reading));
        }
    }

    /// Adds findings that were kept before.
    pub(crate) fn extend(&mut self, findings: Vec<SkillFinding>, cut: bool) {
        self.cut |= cut;
        findings.into_iter().for_each(|finding| self.push(finding));
    }

    fn push(&mut self, finding: SkillFinding) {
        self.worst = self.worst.max(Some(finding.severity));
        let SkillFinding { path, rule_id, matched_text, reading, .. } = &finding;
        let key = (path.clone(), rule_id.clone(), matched_text.clone());
        // What is written twice is found twice; what is read twice is not.
        let new = self.seen.insert(key) || *reading == Reading::Written;
        if new {
            self.list.push(finding);
        }
    }

    pub(crate) const fn worst(&self) -> Option<Severity> {
        self.worst
    }

    /// Returns the findings, the worst first, and whether there were more.
    pub(crate) fn end(self) -> (Vec<SkillFinding>, bool) {
        let (list, cut) = self.list.end();
        (list, cut || self.cut)
    }
}

/// Keeps a finding beyond its text.
pub(crate) fn kept(finding: &Finding<'_>, path: &str, lines_before: usize, reading: Reading) -> SkillFinding {
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
        remedy: finding.remedy.to_owned(),
    }
}
