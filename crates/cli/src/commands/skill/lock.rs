//! `stockade skill lock`: records skills in a lock file, and reports changes.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde::Serialize;
use stockade_guard::admission::lock::{NotLocked, SkillDrift, SkillLock};
use stockade_guard::admission::{FileOptions, find_skills};
use stockade_text::{escape, escape_path};

use super::SkillGate;
use crate::args::Format;
use crate::exit::Exit;
use crate::failure::{Failure, with_causes};
use crate::output::Output;
use stockade_text::to_printable_json;

pub(super) const MORE: &str = "\
Exit codes:
  0  all skills are locked
  1  at least one skill is malformed or blocked, and is not locked
  2  the command line or the lock file is wrong
  3  a skill could not be read

The lock file is JSON and is meant to be committed. It records every file of each skill with its digest, the tools that the skill
lists, the commands that it runs, the resources that it declares, and its findings. Review the diff before you commit it. 'skill check',
'skill admit' and 'run' read it with --lock. Without a path, the locked skills are locked again, and missing ones are removed.";

/// The result for one skill, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    path: String,
    /// `locked`, `same`, `gone`, `refused` or `unread`.
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<SkillDrift>,
}

#[derive(Serialize)]
struct Rows {
    skills: Vec<Row>,
}

/// Runs the command.
pub(super) fn run(gate: &SkillGate<'_>, paths: &[PathBuf], file: &Path) -> Result<Exit, Failure> {
    let unusable = |error: &_| Failure::usage(with_causes(error));
    let mut lock = SkillLock::read_or_begin(file).map_err(|error| unusable(&error))?;
    let mut rows = Vec::new();
    if paths.is_empty() {
        let gone = lock.forget_missing();
        rows.extend(gone.into_iter().map(|path| Row { path, result: "gone", why: None, change: None }));
        for path in lock.skills().map(|(path, _)| path).collect::<Vec<_>>() {
            rows.push(one(gate, &mut lock, &path));
        }
    }
    for path in paths {
        let found = find_skills(path, &FileOptions::default());
        rows.extend(found.skills.iter().map(|skill| one(gate, &mut lock, skill)));
        rows.extend(found.gaps.iter().map(|(place, gap)| unread(place, &gap.to_string())));
    }
    if rows.is_empty() {
        return Err(Failure::usage("no skills to lock")
            .with_help("lock a directory with skills: stockade skill lock skills/"));
    }
    lock.write().map_err(|error| unusable(&error))?;
    let exit = exit(&rows);
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&match gate.format {
        Format::Text => rows.iter().map(line).collect(),
        Format::Json => format!("{}\n", to_printable_json(&Rows { skills: rows })),
    });
    output.finish(exit)
}

fn one(gate: &SkillGate<'_>, lock: &mut SkillLock, path: &Path) -> Row {
    let row = |result, why, change| Row { path: escape_path(path), result, why, change };
    match lock.lock(path, gate.scanner, &gate.options) {
        Ok((change, _)) if change.is_none() => row("same", None, None),
        Ok((change, _)) => row("locked", Some(change.to_string()), Some(change)),
        Err(refused @ NotLocked::Refused { .. }) => row("refused", Some(refused.to_string()), None),
        Err(error) => unread(path, &error.to_string()),
    }
}

fn unread(path: &Path, why: &str) -> Row {
    Row { path: escape_path(path), result: "unread", why: Some(why.to_owned()), change: None }
}

fn line(row: &Row) -> String {
    let is_new = row.change.as_ref().is_some_and(|change| change.is_new);
    let why = row.why.as_deref().filter(|_| !is_new);
    let why = why.map(|why| format!(": {}", escape(why))).unwrap_or_default();
    format!("{} {}{why}\n", row.result, row.path)
}

/// A refusal takes precedence over unreadable skills.
fn exit(rows: &[Row]) -> Exit {
    let is_any = |result| rows.iter().any(|row| row.result == result);
    match (is_any("refused"), is_any("unread")) {
        (true, _) => Exit::Found,
        (false, true) => Exit::Incomplete,
        (false, false) => Exit::Clean,
    }
}
