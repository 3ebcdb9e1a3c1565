//! Problems of a skill, besides the scanner's findings.

use std::fmt;

use serde::Serialize;
use stockade_text::TextPosition;

use super::dialect::Dialect;

/// Maximum number of listed problems.
const MAX_LISTED: usize = 200;

/// Severity of a problem, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProblemLevel {
    /// Ignored in this dialect.
    Ignored,
    /// The author may want to fix it.
    Note,
    /// To be reviewed before the skill is used.
    Warning,
    /// The skill cannot be used.
    Error,
}

/// A problem of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SkillProblem {
    /// Severity in this dialect.
    pub level: ProblemLevel,
    /// Stable name of the rule; its meaning never changes.
    pub rule: &'static str,
    /// The file.
    pub path: String,
    /// The line, from 1.
    #[serde(rename = "lineNumber")]
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// Description of the problem.
    pub message: String,
    /// How to fix it.
    #[serde(rename = "remediation")]
    pub fix: String,
}

/// A position in a file of a skill.
#[derive(Debug, Clone, Copy)]
pub struct FilePosition<'p> {
    /// Display name of the file.
    pub path: &'p str,
    /// Position in the file.
    pub at: TextPosition,
}

/// Collects the problems of a skill, each with the severity of its dialect.
#[derive(Debug)]
pub struct SkillProblems {
    dialect: Dialect,
    /// Whether notes and unexamined parts are errors.
    strict: bool,
    list: Vec<SkillProblem>,
    worst: ProblemLevel,
    attacks: bool,
}

impl SkillProblems {
    /// Creates an empty collector. With `strict`, notes and unexamined parts become errors.
    #[must_use]
    pub const fn new(dialect: Dialect, strict: bool) -> Self {
        Self { dialect, strict, list: Vec::new(), worst: ProblemLevel::Ignored, attacks: false }
    }

    /// Adds a problem, unless this dialect ignores it. Beyond the limit, problems are only counted.
    pub fn add(
        &mut self,
        rule: &'static str,
        position: FilePosition<'_>,
        message: impl fmt::Display,
        fix: impl fmt::Display,
    ) {
        let level = match self.dialect.level(rule) {
            ProblemLevel::Ignored => return,
            ProblemLevel::Note if self.strict => ProblemLevel::Error,
            ProblemLevel::Warning if self.strict && Dialect::is_unseen(rule) => ProblemLevel::Error,
            level => level,
        };
        self.worst = self.worst.max(level);
        self.attacks |= level == ProblemLevel::Error && Dialect::is_attack(rule);
        if self.list.len() < MAX_LISTED {
            let FilePosition { path, at } = position;
            self.list.push(SkillProblem {
                level,
                rule,
                path: path.to_owned(),
                line: at.line,
                column: at.column,
                message: message.to_string(),
                fix: fix.to_string(),
            });
        }
    }

    /// Returns the dialect in which the skill is read.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Whether an error concerns the skill's behaviour rather than its form.
    #[must_use]
    pub const fn attacks(&self) -> bool {
        self.attacks
    }

    /// Returns the problems, worst first, and the worst severity.
    #[must_use]
    pub fn end(mut self) -> (Vec<SkillProblem>, ProblemLevel) {
        self.list.sort_by_key(|problem| std::cmp::Reverse(problem.level));
        (self.list, self.worst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_cut_and_the_worst_still_counts() {
        let mut problems = SkillProblems::new(Dialect::AgentSkills, false);
        let position = FilePosition { path: "SKILL.md", at: TextPosition::START };
        for _ in 0..1000 {
            problems.add("unknown-key", position, "x", "y");
        }
        problems.add("duplicate-key", position, "x", "y");
        let (list, worst) = problems.end();
        assert_eq!((list.len(), worst), (MAX_LISTED, ProblemLevel::Error));
    }

    /// Every rule that the sources mention has its row.
    #[test]
    fn every_rule_has_its_levels() {
        let sources = [include_str!("read.rs"), include_str!("surface.rs")];
        let mut seen = 0;
        for source in sources {
            let calls = [".add(", ".problem("]
                .map(|call| source.match_indices(call).map(|(at, call)| at + call.len()));
            for at in calls.into_iter().flatten() {
                let rest = source.get(at..).unwrap_or_default().trim_start();
                let Some(rule) = rest.strip_prefix('"').and_then(|rest| rest.split('"').next()) else {
                    continue;
                };
                assert!(Dialect::rules().any(|known| known == rule), "{rule}");
                seen += 1;
            }
        }
        assert!(seen > 12, "only {seen} rules were found in the sources");
    }
}
