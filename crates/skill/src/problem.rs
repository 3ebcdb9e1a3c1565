//! What is wrong with a skill, besides what the scanner finds.

use std::fmt;

use serde::Serialize;
use stockade_text::TextPosition;

use super::dialect::Dialect;

/// The most problems that are listed.
const MAX_LISTED: usize = 200;

/// How much a problem matters, from the mildest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProblemLevel {
    /// This dialect does not mind.
    Ignored,
    /// The author may want to mend it.
    Note,
    /// Somebody should look at it before the skill is used.
    Warning,
    /// The skill cannot be used.
    Error,
}

/// Something that is wrong with a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SkillProblem {
    /// How much it matters in this dialect.
    pub level: ProblemLevel,
    /// The name of the rule, which never changes its meaning.
    pub rule: &'static str,
    /// The file.
    pub path: String,
    /// The line, from 1.
    #[serde(rename = "lineNumber")]
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// How to mend it.
    #[serde(rename = "remediation")]
    pub fix: String,
}

/// A position in a file of a skill.
#[derive(Debug, Clone, Copy)]
pub struct FilePosition<'p> {
    /// What to call the file.
    pub path: &'p str,
    /// The position in it.
    pub at: TextPosition,
}

/// Collects what is wrong with a skill, each problem as bad as its dialect takes it.
#[derive(Debug)]
pub struct SkillProblems {
    dialect: Dialect,
    /// Whether a note is an error, and what nobody looked at.
    strict: bool,
    list: Vec<SkillProblem>,
    worst: ProblemLevel,
    attacks: bool,
}

impl SkillProblems {
    /// Returns a collector without problems. `strict` makes an error of what the dialect merely notes, and of what
    /// nobody looked at.
    #[must_use]
    pub const fn new(dialect: Dialect, strict: bool) -> Self {
        Self { dialect, strict, list: Vec::new(), worst: ProblemLevel::Ignored, attacks: false }
    }

    /// Adds a problem, unless this dialect does not mind. More than anybody reads are counted and not kept.
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

    /// Returns the dialect that the skill is read in.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Whether an error is what the skill would do, and not merely how it is written.
    #[must_use]
    pub const fn attacks(&self) -> bool {
        self.attacks
    }

    /// Returns the problems, the worst first, and how bad the worst of all is.
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

    /// Every rule that the sources name has its row.
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
