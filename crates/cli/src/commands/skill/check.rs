//! `stockade skill check`: the full report on one skill, or one line for each skill of a collection.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde::Serialize;
use stockade_guard::admission::{Admission, FileOptions, SkillFolders, SkillSource, admit, find_skills};
use stockade_text::{escape, escape_path};

use super::{SkillGate, row};
use crate::args::Format;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::skill_text::{self, Tally};
use stockade_text::to_printable_json;

/// A skill that could not be read, for programs.
#[derive(Serialize)]
struct Unread<'a> {
    path: &'a str,
    verdict: &'static str,
    error: &'a str,
}

pub(super) fn run(gate: &SkillGate<'_>, paths: &[PathBuf]) -> Result<Exit, Failure> {
    let mut check = Check { gate, output: Output::new(), rows: 0, tally: Tally::default() };
    for path in paths {
        if check.path(path)?.is_break() {
            break;
        }
    }
    check.end()
}

struct Check<'c> {
    gate: &'c SkillGate<'c>,
    output: Output,
    rows: usize,
    tally: Tally,
}

impl Check<'_> {
    fn path(&mut self, path: &Path) -> Result<ControlFlow<()>, Failure> {
        let found = skills_at(path);
        let is_collection = found.skills.iter().any(|skill| skill != path)
            || found.gaps.iter().any(|(place, _)| place != path);
        if is_collection {
            return Ok(self.collection(&found));
        }
        let admission = self.gate.look(path)?;
        self.tally.count(&admission);
        let shown = escape_path(path);
        let styles = self.gate.styles;
        Ok(self.show(|| skill_text::report(&shown, &admission, styles), || row(&shown, &admission, None)))
    }

    /// Checks every skill: an unreadable one does not hide the results of others.
    fn collection(&mut self, found: &SkillFolders) -> ControlFlow<()> {
        let others = std::mem::take(&mut self.tally);
        let mut flow = found.skills.iter().try_for_each(|path| self.member(path));
        if flow.is_continue() {
            flow = found.gaps.iter().try_for_each(|(path, gap)| self.unread(path, &gap.to_string()));
        }
        let total = skill_text::total(self.tally, self.gate.styles);
        self.tally.add(others);
        match self.gate.format {
            Format::Text if flow.is_continue() => self.output.write(&total),
            _ => flow,
        }
    }

    fn member(&mut self, path: &Path) -> ControlFlow<()> {
        match admit(&SkillSource::Path(path), self.gate.scanner, &self.gate.options) {
            Ok(admission) => {
                self.tally.count(&admission);
                let (shown, styles) = (escape_path(path), self.gate.styles);
                self.show(|| skill_text::line(&shown, &admission, styles), || row(&shown, &admission, None))
            }
            Err(error) => self.unread(path, &error.gap.to_string()),
        }
    }

    fn unread(&mut self, path: &Path, error: &str) -> ControlFlow<()> {
        self.tally.unread += 1;
        let (path, error) = (&escape_path(path), &escape(error));
        let styles = self.gate.styles;
        self.show(
            || skill_text::unread_line(path, error, styles),
            || to_printable_json(&Unread { path, verdict: "unread", error }),
        )
    }

    fn show(&mut self, text: impl FnOnce() -> String, json: impl FnOnce() -> String) -> ControlFlow<()> {
        let printed = match self.gate.format {
            Format::Text => text(),
            Format::Json => format!("{}{}", if self.rows == 0 { BEGIN } else { ",\n" }, json()),
        };
        self.rows += 1;
        self.output.write(&printed)
    }

    fn end(mut self) -> Result<Exit, Failure> {
        if self.gate.format == Format::Json {
            let begin = if self.rows == 0 { BEGIN } else { "" };
            let _: ControlFlow<()> = self.output.write(&format!("{begin}\n]}}\n"));
        }
        self.output.finish(self.tally.exit())
    }
}

const BEGIN: &str = "{\"skills\":[\n";

/// Returns the skills at a path: the path itself, or the skills below it. Standard input is one skill.
fn skills_at(path: &Path) -> SkillFolders {
    match path == Path::new("-") {
        true => SkillFolders::default(),
        false => find_skills(path, &FileOptions::default()),
    }
}

impl Tally {
    fn count(&mut self, admission: &Admission) {
        match admission {
            Admission::Accepted(_) => self.accepted += 1,
            Admission::Flagged(_) => self.flagged += 1,
            Admission::Malformed(_) => self.malformed += 1,
            _ => self.blocked += 1,
        }
    }

    const fn add(&mut self, other: Self) {
        self.accepted += other.accepted;
        self.flagged += other.flagged;
        self.malformed += other.malformed;
        self.blocked += other.blocked;
        self.unread += other.unread;
    }

    /// Returns the worst result. Findings take precedence over unreadable skills.
    const fn exit(&self) -> Exit {
        match self {
            Self { flagged: 0, malformed: 0, blocked: 0, unread: 0, .. } => Exit::Clean,
            Self { flagged: 0, malformed: 0, blocked: 0, .. } => Exit::Incomplete,
            _ => Exit::Found,
        }
    }
}
