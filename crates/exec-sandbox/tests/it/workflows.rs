//! What developers do all day, with the real tools: it works in a sandbox, and what it made is there afterwards. A row whose tool
//! this machine lacks says so and is left out.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "runs real tools, and prints missing ones"
)]

mod files;
mod git;
mod languages;
mod refused;

use std::fs;
use std::path::Path;
use std::process::Command;

use stockade_exec_sandbox::{End, HomeView, Limit, Outcome, RunError, SandboxBackend, SandboxSpec};

use crate::live::{Live, each};

/// One piece of work.
pub(crate) struct Workflow {
    /// A task of a user.
    pub(crate) name: &'static str,
    /// The programs that it takes.
    pub(crate) needs: &'static [&'static str],
    /// A script that makes the workspace what it is before, run outside.
    pub(crate) before: &'static str,
    /// The script in the sandbox. Each of its commands must succeed.
    pub(crate) inside: &'static str,
    /// A script that must succeed outside afterwards.
    pub(crate) after: &'static str,
    /// What the command gets more than usual.
    pub(crate) given: Given,
    /// What makes sandboxes in which it works.
    pub(crate) with: &'static [SandboxBackend],
}

/// What a command gets more than usual. Paths begin in the folder around the workspace.
#[derive(Clone, Copy)]
pub(crate) enum Given {
    Nothing,
    /// Something more to read.
    Read(&'static str),
    /// The tools at home, which takes longer.
    Tools,
    /// As much memory as it wants.
    AllMemory,
}

impl Workflow {
    pub(crate) const NEW: Self = Self {
        name: "",
        needs: &[],
        before: "true",
        inside: "true",
        after: "true",
        given: Given::Nothing,
        with: &[SandboxBackend::Native, SandboxBackend::Bwrap],
    };

    /// Names the tool that this machine lacks.
    fn lacks(&self) -> Option<&'static str> {
        let there = |tool: &str| {
            let found = Command::new("sh").args(["-c", "command -v \"$0\" > /dev/null", tool]).status();
            found.is_ok_and(|status| status.success())
        };
        self.needs.iter().copied().find(|tool| !there(tool))
    }

    /// Does it with one that makes sandboxes.
    fn run(&self, live: &Live, backend: SandboxBackend) -> Result<Outcome, RunError> {
        outside(live, self.before, self.name);
        let script = format!("exec 2>&1; set -eu\n{}", self.inside);
        live.run(&["sh", "-c", &script], |spec| {
            spec.backend = backend;
            spec.environment.set.extend(AUTHOR.iter().map(|(name, value)| ((*name).into(), (*value).into())));
            self.given.give(spec, &live.outside());
        })
    }
}

impl Given {
    fn give(self, spec: &mut SandboxSpec, around: &Path) {
        match self {
            Self::Nothing => {}
            Self::Read(path) => spec.read_only.push(around.join(path)),
            Self::Tools => spec.home = HomeView::Tools,
            Self::AllMemory => spec.limits.memory = Limit::Unlimited,
        }
    }
}

/// The author of commits, without the settings of the user that runs the tests.
const AUTHOR: &[(&str, &str)] = &[
    ("GIT_AUTHOR_NAME", "a"),
    ("GIT_AUTHOR_EMAIL", "a@example.org"),
    ("GIT_COMMITTER_NAME", "a"),
    ("GIT_COMMITTER_EMAIL", "a@example.org"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
];

/// Runs a script in the workspace, without a sandbox.
fn outside(live: &Live, script: &str, name: &str) {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("exec 2>&1; set -eu\n{script}")]).current_dir(live.workspace());
    let output = command.envs(AUTHOR.iter().copied()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{name}, outside: {said}");
}

/// All that make a sandbox with a view of its own.
fn views() -> Vec<SandboxBackend> {
    each().filter(|backend| *backend != SandboxBackend::Landlock).collect()
}

/// Does each row with each that makes sandboxes, and returns what went wrong.
pub(crate) fn all_work(rows: &[Workflow]) {
    let backends = views();
    let mut wrong = Vec::new();
    for row in rows {
        if let Some(tool) = row.lacks() {
            eprintln!("skipped: {}: no {tool} here", row.name);
            continue;
        }
        for backend in backends.iter().filter(|backend| row.with.contains(backend)) {
            let live = Live::bare();
            let outcome = row.run(&live, *backend).unwrap();
            if outcome.end != End::Exited(0) || !outcome.quarantine.is_empty() {
                let said = String::from_utf8_lossy(&outcome.output.stdout).into_owned();
                wrong.push(format!(
                    "{} ({backend:?}): {:?}, {:?}\n{said}",
                    row.name, outcome.end, outcome.quarantine
                ));
                continue;
            }
            outside(&live, row.after, row.name);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn workflow_rows_have_unique_names() {
    let tables = [git::ROWS, files::ROWS, languages::ROWS];
    let names: Vec<&str> = tables.iter().flat_map(|rows| rows.iter().map(|row| row.name)).collect();
    let distinct: std::collections::BTreeSet<&str> = names.iter().copied().collect();
    assert!(names.len() >= 60 && distinct.len() == names.len(), "{}", names.len());
    assert!(fs::exists("/bin/sh").unwrap());
}
