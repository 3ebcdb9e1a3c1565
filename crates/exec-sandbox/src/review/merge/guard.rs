//! Sweeps after a merge, as after a command. Changes of two layers can be harmless alone and run a program together: one
//! creates a repository in a directory, and the other one creates settings there. Each was only judged with the files that
//! existed when its command ended.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use super::journal::{Op, Step};
use crate::host::{ProtectedEntry, ProtectionMode};
use crate::journal::{self, Journal, Snapshot};
use crate::quarantined::{LeftBy, Quarantined};
use crate::review::change::{ChangeKind, FileChange};
use crate::review::judge::{Judged, refuse_if};
use crate::review::layer::ReviewLayer;
use crate::sweep::{Before, Company, Maker, sweep};
use crate::workspace::look;
use crate::workspace::roots::roots;

const SINCE: &str = "other programs obey it since the command ended";
const SINCE_BEGUN: &str = "other programs obey it since the command started";

/// The obeyed files of a workspace before a merge. If this program is killed, the next one sweeps.
pub(super) struct Guard<'g> {
    state: &'g Path,
    op: Op,
    judged: Judged,
    snapshot: Snapshot,
    journal: Journal,
    recovered: Vec<Quarantined>,
}

impl<'g> Guard<'g> {
    pub(super) fn begin(state: &'g Path, layer: &ReviewLayer, op: Op) -> io::Result<Self> {
        Self::knowing(state, layer, op, |_, _| true)
    }

    /// The same for an interrupted merge, whose already applied files do not count as existing.
    pub(super) fn go_on(
        state: &'g Path,
        layer: &ReviewLayer,
        (op, steps): (Op, &[Step]),
        changes: &[FileChange],
    ) -> io::Result<Self> {
        let brings = steps.iter().filter(|step| step.comes.is_some());
        let brought: BTreeMap<&Path, ChangeKind> = brings
            .filter_map(|step| changes.get(step.number))
            .map(|change| (change.path.as_path(), change.kind))
            .collect();
        Self::knowing(state, layer, op, |path, judged| {
            brought.get(path).is_none_or(|kind| match op {
                Op::Apply => *kind != ChangeKind::Created && judged.has(path),
                Op::Undo => judged.was_there(path),
            })
        })
    }

    fn knowing(
        state: &'g Path,
        layer: &ReviewLayer,
        op: Op,
        is_known: impl Fn(&Path, &Judged) -> bool,
    ) -> io::Result<Self> {
        // Files of commands with a killed supervisor must not count as existing.
        let recovered = journal::recover(state);
        let judged = layer.judged()?;
        let roots = roots(Some(layer.workspace()), &[]);
        let found = look(&roots);
        let entries = found.protected.into_iter().filter(|entry| is_known(&entry.path, &judged));
        let snapshot = Snapshot {
            roots,
            command: layer.command().to_owned(),
            entries: entries.map(as_judged).collect(),
            git_targets: found.git_targets,
            plans: found.plans,
            is_decided: true,
        };
        let journal = Journal::write(state, &snapshot)?;
        Ok(Self { state, op, judged, snapshot, journal, recovered })
    }

    /// Refuses changes of paths that other programs obey now and did not when they were judged.
    pub(super) fn refuse(&self, changes: &mut [FileChange]) {
        let is_obeyed =
            |entry: &&ProtectedEntry| !matches!(entry.mode, ProtectionMode::Hide | ProtectionMode::Pin);
        let obeyed = self.snapshot.entries.iter().filter(is_obeyed).map(|entry| &entry.path);
        for path in obeyed.chain(&self.snapshot.git_targets) {
            match self.op {
                Op::Apply if !self.judged.has(path) => {
                    refuse_if(changes, path, SINCE, |change| change.kind != ChangeKind::Deleted);
                }
                Op::Undo if !self.judged.was_there(path) => {
                    refuse_if(changes, path, SINCE_BEGUN, |change| change.kind != ChangeKind::Created);
                }
                Op::Apply | Op::Undo => {}
            }
        }
    }

    /// Quarantines new harmful files. Also returns those of commands with a killed supervisor.
    pub(super) fn end(mut self) -> Vec<Quarantined> {
        if self.op == Op::Undo {
            self.know_what_came_back();
        }
        let Snapshot { roots, command, entries, git_targets, plans, .. } = &self.snapshot;
        let before = Before::new(entries, git_targets, plans, Company::Alone);
        let mut taken = sweep(roots, &before, None, Maker::Unknown, Some(self.state), command).taken;
        if taken.iter().any(|one| one.moved_to.is_none()) {
            self.journal.keep();
        }
        taken.append(&mut self.recovered);
        taken
    }

    /// Ends without a sweep. Returns quarantined files of commands with a killed supervisor.
    pub(super) fn leave(self) -> Vec<Quarantined> {
        self.recovered
    }

    /// Adds restored files that were obeyed when the command started: they are the user's.
    fn know_what_came_back(&mut self) {
        let known: BTreeSet<&Path> = self.snapshot.entries.iter().map(|entry| entry.path.as_path()).collect();
        let is_back =
            |entry: &ProtectedEntry| self.judged.was_there(&entry.path) && !known.contains(&*entry.path);
        let back: Vec<_> = look(&self.snapshot.roots).protected.into_iter().filter(is_back).collect();
        self.snapshot.entries.extend(back);
    }
}

/// Returns an entry for a replacement, which was judged together with the replaced file.
fn as_judged(entry: ProtectedEntry) -> ProtectedEntry {
    match entry.mode {
        ProtectionMode::Check => ProtectedEntry { mode: ProtectionMode::ReadOnly, ..entry },
        _ => entry,
    }
}

/// Returns why a file was quarantined.
pub(super) fn why_taken(taken: &Quarantined) -> String {
    let why = match taken.left_by {
        LeftBy::EarlierCommand => {
            "its command was interrupted, and other programs would run a program because of it"
        }
        LeftBy::ThisCommand => {
            "together with existing files, other programs would run a program because of it"
        }
    };
    match (&taken.id, &taken.moved_to) {
        (Some(id), _) => format!("{why}; quarantined as `{id}`"),
        (None, Some(place)) => format!("{why}; moved to {}", place.display()),
        (None, None) => format!("{why}, and it could not be quarantined: inspect and delete it"),
    }
}
