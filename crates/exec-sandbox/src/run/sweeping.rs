//! Records the state before a command, and sweeps after it.

use std::path::PathBuf;

use super::observe::Observer;
use crate::choices::ReviewMode;
use crate::enforcement::{Enforcement, Property};
use crate::host::{FileIdentity, ProtectedEntry, Searched};
use crate::journal::{self, Journal, Snapshot};
use crate::moment::moment;
use crate::outcome::Changed;
use crate::plan::Plan;
use crate::quarantined::Quarantined;
use crate::refusal::as_text;
use crate::spec::Protection;
use crate::sweep::{Before, Company, Maker, Swept, same_kind, sweep};
use crate::workspace::links::{Strays, strays_in};
use crate::workspace::roots::roots;

/// The sweep of a command, from its start to its end.
pub(super) struct Sweeping {
    state: Option<PathBuf>,
    /// When it began, in seconds since 1970.
    second: u32,
    /// The state before the command; nothing if no sweep is needed.
    saved: Option<Snapshot>,
    journal: Option<Journal>,
    /// Other running commands, with the state before each.
    others: Vec<(PathBuf, Snapshot)>,
    /// Existing symlinks in the repository of a linked worktree.
    strays: Strays,
}

impl Sweeping {
    /// Records the state before this command.
    pub(super) fn begin(plan: &Plan, enforcement: &mut Enforcement) -> Self {
        let (workspace, others) = plan.guarded();
        // Changes in an overlay are judged by the review before they are applied.
        let workspace = workspace.filter(|_| plan.review == ReviewMode::Off);
        let roots = roots(workspace, &others);
        let is_wanted = plan.protection == Protection::Names && !roots.is_empty();
        let state = crate::state::folder(&plan.mounts);
        // File systems count by a coarser clock.
        let second = u32::try_from(moment() / 1_000_000_000).unwrap_or(u32::MAX).saturating_sub(1);
        let saved = is_wanted.then(|| Snapshot {
            roots,
            command: as_text(&plan.program, &plan.arguments),
            entries: plan.protected.clone(),
            git_targets: plan.git_targets.clone(),
            plans: plan.git_plans.clone(),
            is_decided: plan.decides_names(),
        });
        let written = state.as_deref().zip(saved.as_ref());
        // On the disk before the command starts, so that a later run can sweep if this program is killed.
        let journal = written.and_then(|(state, saved)| Journal::write(state, saved).ok());
        if is_wanted && journal.is_none() {
            let why = "no journal can be written at home: new protected names stay if this program is killed";
            enforcement.gap(Property::ProtectedNames, why);
        }
        // Other commands only matter for files that existed before.
        let known = saved.as_ref().filter(|saved| !saved.entries.is_empty());
        let others = journal.as_ref().zip(known).map(|(journal, saved)| journal.others(saved));
        let strays = strays_in(&plan.of_a_worktree());
        if strays.searched != Searched::Fully {
            let why =
                "some symlinks in the repository of the worktree are unknown, so new ones are not recognised";
            enforcement.gap(Property::ProtectedNames, why);
        }
        Self { state, second, saved, journal, others: others.unwrap_or_default(), strays }
    }

    /// Sweeps. The journal file is deleted afterwards, unless a file could not be moved.
    pub(super) fn end(mut self, plan: &Plan, observer: Option<&Observer>) -> (Vec<Quarantined>, Swept) {
        // Without a sweep, no changes are reported.
        let Some(saved) = &self.saved else {
            return (Vec::new(), Swept { watched: plan.watched.clone(), ..Swept::default() });
        };
        // It only matters for files that existed before.
        let company = if saved.entries.is_empty() { Company::Alone } else { self.company(saved) };
        let known = saved.entries.iter().filter(|entry| self.is_the_users(entry));
        let before = Before::new(known, &saved.git_targets, &saved.plans, company).since(self.second);
        // Without an observer, any directory may be the command's, and the sweep quarantines more.
        let has_made = |folder: &FileIdentity| observer.is_some_and(|observer| observer.has_made(folder));
        let maker =
            if plan.decides_names() && observer.is_some() { Maker::Known(&has_made) } else { Maker::Unknown };
        let mut swept =
            sweep(&saved.roots, &before, Some(&plan.links), maker, self.state.as_deref(), &saved.command);
        let strays = strays_in(&plan.of_a_worktree());
        swept.searched = swept.searched.max(strays.searched);
        swept.links.extend(strays.found.difference(&self.strays.found).map(|(path, to)| Changed {
            path: path.clone(),
            label: format!("a symlink in a repository through which git would write to {}", to.display()),
            is_harmful: true,
        }));
        if let Some(journal) = &mut self.journal {
            journal.end(saved);
            if swept.taken.iter().any(|one| one.moved_to.is_none()) {
                // The next run tries again to move the file.
                journal.keep();
            }
        }
        (swept.taken.clone(), swept)
    }

    fn company(&self, saved: &Snapshot) -> Company {
        // A command whose names are decided cannot replace existing files.
        let replaces = |others: &[(PathBuf, Snapshot)]| others.iter().any(|(_, other)| !other.is_decided);
        let had = self
            .journal
            .as_ref()
            .is_none_or(|journal| journal.had_company(saved) || replaces(&journal.others(saved)));
        if had || replaces(&self.others) { Company::Others } else { Company::Alone }
    }

    /// Whether a file existed before every command that was already running when this one started. Otherwise one of them created
    /// it, and quarantines it at its end. This command only does so if the other one has ended and the file exists again.
    fn is_the_users(&self, entry: &ProtectedEntry) -> bool {
        self.others.iter().all(|(journal, other)| {
            let is_known = other.entries.iter().any(|known| {
                known.path == entry.path
                    && same_kind(&known.kind, &entry.kind)
                    && known.stamp.file == entry.stamp.file
            });
            is_known || journal::runs(journal)
        })
    }
}
