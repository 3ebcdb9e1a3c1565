//! Writes down what there is before a command, and sweeps after it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::observe::Observer;
use crate::choices::ReviewMode;
use crate::enforcement::{Enforcement, Property};
use crate::host::{FileIdentity, ProtectedEntry};
use crate::journal::{self, Journal, Kept};
use crate::outcome::Changed;
use crate::plan::Plan;
use crate::quarantine::as_text;
use crate::quarantined::Quarantined;
use crate::spec::Protection;
use crate::sweep::{Before, Company, Maker, Swept, same_kind, sweep};
use crate::workspace::links::strays_in;
use crate::workspace::roots::roots;

/// What is swept after a command, written down before it.
pub(super) struct Sweeping {
    state: Option<PathBuf>,
    /// What there was; nothing where nothing is to be swept.
    kept: Option<Kept>,
    journal: Option<Journal>,
    /// Commands that run already, and what there was before them.
    others: Vec<(PathBuf, Kept)>,
    recovered: Vec<Quarantined>,
    /// Links that lay in the repository of a linked worktree.
    strays: BTreeSet<(PathBuf, PathBuf)>,
}

impl Sweeping {
    /// Sweeps after those that were killed before, and writes down what there is to sweep after this one.
    pub(super) fn begin(plan: &Plan, enforcement: &mut Enforcement) -> Self {
        let (workspace, others) = plan.guarded();
        // What is different in a view is judged before it is applied.
        let workspace = workspace.filter(|_| plan.review == ReviewMode::Off);
        let roots = roots(workspace, &others);
        let is_wanted = plan.protection == Protection::Names && !roots.is_empty();
        let state = crate::state::folder(&plan.mounts);
        let recovered = state.as_deref().map(journal::recover).unwrap_or_default();
        let kept = is_wanted.then(|| Kept {
            roots,
            command: as_text(&plan.program, &plan.arguments),
            entries: plan.protected.clone(),
            led_to: plan.led_to.clone(),
            plans: plan.git_plans.clone(),
            is_decided: plan.decides_names(),
        });
        let written = state.as_deref().zip(kept.as_ref());
        let journal = written.and_then(|(state, kept)| Journal::write(state, kept).ok());
        if is_wanted && journal.is_none() {
            let why =
                "there is no place at home to write a journal: what appears stays if this program is killed";
            enforcement.gap(Property::ProtectedNames, why);
        }
        let others = journal.as_ref().zip(kept.as_ref()).map(|(journal, kept)| journal.others(kept));
        let strays = strays_in(&plan.of_a_worktree());
        Self { state, kept, journal, others: others.unwrap_or_default(), recovered, strays }
    }

    /// Sweeps. The journal is gone only after that, and stays where something could not be moved.
    pub(super) fn end(mut self, plan: &Plan, observer: Option<&Observer>) -> (Vec<Quarantined>, Swept) {
        let mut quarantine = std::mem::take(&mut self.recovered);
        // What nobody looked at has not changed.
        let Some(kept) = &self.kept else {
            return (quarantine, Swept { watched: plan.watched.clone(), ..Swept::default() });
        };
        let company = self.company(kept);
        let known = kept.entries.iter().filter(|entry| self.is_the_users(entry));
        let before = Before::new(known, &kept.led_to, &kept.plans, company);
        let has_made = |folder: &FileIdentity| observer.is_some_and(|observer| observer.has_made(folder));
        let maker =
            if plan.decides_names() && observer.is_some() { Maker::Known(&has_made) } else { Maker::Unknown };
        let mut swept =
            sweep(&kept.roots, &before, Some(&plan.links), maker, self.state.as_deref(), &kept.command);
        let strays = strays_in(&plan.of_a_worktree());
        swept.links.extend(strays.difference(&self.strays).map(|(path, to)| Changed {
            path: path.clone(),
            label: format!("a link in a repository, by which git would write to {}", to.display()),
            is_harmful: true,
        }));
        if let Some(journal) = &mut self.journal {
            journal.end(kept);
            if swept.taken.iter().any(|one| one.moved_to.is_none()) {
                journal.keep();
            }
        }
        quarantine.extend(swept.taken.iter().cloned());
        (quarantine, swept)
    }

    fn company(&self, kept: &Kept) -> Company {
        // One whose names are decided replaces nothing.
        let replaces = |others: &[(PathBuf, Kept)]| others.iter().any(|(_, other)| !other.is_decided);
        let had = self
            .journal
            .as_ref()
            .is_none_or(|journal| journal.had_company(kept) || replaces(&journal.others(kept)));
        if had || replaces(&self.others) { Company::Others } else { Company::Alone }
    }

    /// Whether something was there before every command that ran already when this one began. What was not is one of theirs:
    /// that one takes it away at its end, and this one only if it is over and the thing is there again.
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
