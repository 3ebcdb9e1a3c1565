//! The sweep: moves new files with protected names to the quarantine, after all processes of the command are gone.
//!
//! The command controlled the directories, so paths in them are not trusted: each directory is opened from its parent's
//! descriptor, and a file is moved from the directory in which it was found.

#![expect(clippy::disallowed_methods, reason = "looks whether what was reported is gone")]

mod judge;
mod known;
mod plans;
mod taking;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsStr;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::host::{
    Entry, FileIdentity, KnownLinks, ProtectedEntry, ProtectionMode, Searched, Stamp, Watched,
};
use crate::outcome::{Changed, DroppedGroup};
use crate::quarantine::Taker;
use crate::quarantined::Quarantined;
use crate::workspace::links::{Astray, astray};
use crate::workspace::review_inputs::review_inputs;
use crate::workspace::roots::Root;
use crate::workspace::stated_files::{LABEL as HIDDEN, hidden_changes};
use crate::workspace::targets::lying_at;
use crate::workspace::walk::{Here, open_root};
use crate::workspace::{MAX_WATCHED, Sink, search};
pub(crate) use judge::is_harmful;
pub(crate) use known::{Before, Company, Maker, same_kind};
pub(crate) use plans::armed;
use taking::RootTaking;

/// The result of a sweep.
#[derive(Debug, Default)]
pub(crate) struct Swept {
    /// Quarantined files.
    pub(crate) taken: Vec<Quarantined>,
    /// Older quarantined files that were deleted to stay within the limits.
    pub(crate) dropped: Vec<DroppedGroup>,
    /// Files whose changes are reported, in their current state.
    pub(crate) watched: Vec<Watched>,
    /// New symlinks that resolve to a path outside of the workspace, or to a file that other programs obey.
    pub(crate) links: Vec<Changed>,
    /// Files with the name of a secret.
    pub(crate) secrets: Vec<ProtectedEntry>,
    /// Whether every directory could be read.
    pub(crate) searched: Searched,
}

/// Maximum number of recorded secret files.
const MAX_SECRETS: usize = 100_000;

/// Maximum number of listed symlinks, for harmful and harmless ones each.
const MAX_LINKS: usize = 1_000;

impl Swept {
    /// Returns the secret files that were not hidden from the command: it created them, or they appeared during the run. Hidden
    /// ones are recognized by identity, even if they were renamed.
    pub(crate) fn seen_secrets(&self, before: &[ProtectedEntry]) -> Vec<PathBuf> {
        let hidden = before.iter().filter(|entry| entry.mode == ProtectionMode::Hide);
        // With the creation time: a file system may give the number of a replaced file to the new one.
        let hidden: HashSet<FileIdentity> = hidden.map(|entry| entry.stamp.file).collect();
        let seen = self.secrets.iter().filter(|entry| !hidden.contains(&entry.stamp.file));
        seen.map(|entry| entry.path.clone()).collect()
    }

    /// Returns the changed files.
    pub(crate) fn changed(&self, workspace: &Path, before: &[Watched]) -> Vec<Changed> {
        let taken: BTreeSet<&Path> = self.taken.iter().map(|taken| taken.path.as_path()).collect();
        let is_taken = |path: &Path| path.ancestors().any(|around| taken.contains(around));
        let then: BTreeMap<&Path, &Watched> = before.iter().map(|it| (it.path.as_path(), it)).collect();
        let now: BTreeSet<&Path> = self.watched.iter().map(|it| it.path.as_path()).collect();
        // By the state alone: a file may have two names in the table, and so two labels.
        let is_as_before =
            |it: &&Watched| then.get(it.path.as_path()).is_some_and(|then| then.stamp == it.stamp);
        let mut told = BTreeSet::new();
        let made = self.watched.iter().filter(|it| !is_as_before(it) && !is_taken(&it.path));
        let made = made.filter(|it| told.insert(it.path.as_path()));
        // A file that this sweep could not reach may still exist.
        let is_gone = |then: &&Watched| {
            !now.contains(then.path.as_path()) && workspace.join(&then.path).symlink_metadata().is_err()
        };
        let gone = before.iter().filter(is_gone);
        let changed = made.chain(gone).map(|it| Changed::new(it.path.clone(), it.label.clone()));
        let links = self.links.iter().filter(|link| !is_taken(&link.path)).cloned();
        // Where a symlink leads matters more than what its name is.
        let linked: BTreeSet<&Path> = self.links.iter().map(|link| link.path.as_path()).collect();
        let changed = changed.filter(|changed| !linked.contains(changed.path.as_path()));
        changed.chain(links).collect::<BTreeSet<Changed>>().into_iter().collect()
    }
}

/// Quarantines files that have a protected name and did not exist before, below `state` if it is given. `command` is the command
/// as text, for the record.
///
/// Where names are decided at the system call, the command can create protected names only in directories that it created itself.
/// New files elsewhere then belong to another program that works in the same workspace: they stay, and are reported. If `links`
/// is given, new symlinks are reported.
pub(crate) fn sweep(
    roots: &[Root],
    before: &Before<'_>,
    links: Option<&KnownLinks>,
    maker: Maker<'_>,
    state: Option<&Path>,
    command: &str,
) -> Swept {
    let mut swept = Swept::default();
    for root in roots {
        let Ok(folder) = open_root(&root.path) else {
            swept.searched = Searched::InPart;
            continue;
        };
        let whose = Taker { state, workspace: &root.path, root: &folder, command };
        let mut taking = RootTaking::new(whose, &mut swept.taken);
        let (watched, secrets) = (&mut swept.watched, &mut swept.secrets);
        let mut is_cut = false;
        let new_links =
            NewLinks { known: links, found: &mut swept.links, count: [0; 2], is_cut: &mut is_cut };
        let sweeper =
            Sweeper { root, roots, before, maker, taking: &mut taking, watched, secrets, new_links };
        if search(root, sweeper) == Searched::InPart {
            swept.searched = Searched::InPart;
        }
        git_targets(roots, root, before, &mut taking);
        // A full list may lack changes, and the result reports that not everything was searched.
        if is_cut || swept.watched.len() >= MAX_WATCHED || swept.secrets.len() >= MAX_SECRETS {
            swept.searched = Searched::InPart;
        }
        swept.dropped.extend(taking.make_room());
    }
    swept
}

/// Sweeps the targets of the user's settings and symlinks, whose names are not in the table.
fn git_targets(roots: &[Root], root: &Root, before: &Before<'_>, taking: &mut RootTaking<'_>) {
    for path in before.git_targets() {
        // Files in another writable directory have their absolute path as name.
        let is_here = path.starts_with(&root.name) && path.is_absolute() == root.name.is_absolute();
        let below = path.strip_prefix(&root.name).unwrap_or(path);
        let Some((lying, around)) = is_here.then(|| lying_at(roots, &root.path.join(below))).flatten() else {
            continue;
        };
        let mode = ProtectionMode::ReadOnly;
        let now =
            ProtectedEntry { path: path.to_path_buf(), kind: lying.kind, mode, stamp: lying.stamp, around };
        if !before.knows(&now) {
            taking.take_from_the_root(below, path.to_path_buf());
        }
    }
}

struct Sweeper<'s, 't> {
    root: &'s Root,
    roots: &'s [Root],
    before: &'s Before<'s>,
    maker: Maker<'s>,
    taking: &'s mut RootTaking<'t>,
    watched: &'s mut Vec<Watched>,
    secrets: &'s mut Vec<ProtectedEntry>,
    new_links: NewLinks<'s>,
}

/// New symlinks through which a write is harmful, or that resolve to a path outside of the workspace.
struct NewLinks<'s> {
    known: Option<&'s KnownLinks>,
    found: &'s mut Vec<Changed>,
    /// Number of harmless and of harmful ones.
    count: [usize; 2],
    /// Whether more were found than are listed.
    is_cut: &'s mut bool,
}

impl NewLinks<'_> {
    /// Adds a symlink. Harmful ones are counted separately, so that many harmless ones cannot hide one.
    fn add(&mut self, changed: Changed) {
        let [harmless, harmful] = &mut self.count;
        let count = if changed.is_harmful { harmful } else { harmless };
        *count += 1;
        match *count <= MAX_LINKS {
            true => self.found.push(changed),
            false => *self.is_cut = true,
        }
    }
}

impl Sink for Sweeper<'_, '_> {
    fn protected(&mut self, here: &Here<'_>, below: &Path, entry: ProtectedEntry) {
        let is_secret = entry.mode == ProtectionMode::Hide && entry.kind == Entry::File;
        if is_secret && self.secrets.len() < MAX_SECRETS {
            self.secrets.push(entry.clone());
        }
        if !self.before.knows(&entry) && is_harmful(self.roots, self.root, self.before, here, below, &entry) {
            match self.maker.is_another_program(here, &entry) {
                true => self.watched(Watched {
                    label: label_of(&entry.path),
                    path: entry.path,
                    stamp: entry.stamp,
                }),
                false => self.taking.take(here.folder, here.path, below, entry.path),
            }
        }
    }

    /// A stray symlink. An existing one is recognized by its target, its path and its parent directories.
    fn stray(&mut self, here: &Here<'_>, name: &Path, entry: ProtectedEntry) {
        if !self.before.knows(&entry) {
            self.taking.take(here.folder, here.path, name, entry.path);
        }
    }

    fn link(&mut self, here: &Here<'_>, name: &OsStr, to: &Path) {
        let path = self.root.name.join(here.path).join(name);
        if self.new_links.known.is_none_or(|known| known.has(&path, to)) {
            return;
        }
        if self.taking.leads_to_a_plain_file(&here.path.join(name)) {
            return;
        }
        let folder = self.root.path.join(here.path);
        if let Some(Astray { is_harmful, label }) = astray(self.roots, &folder, name, to) {
            self.new_links.add(Changed { path, label, is_harmful });
        }
    }

    fn watched(&mut self, watched: Watched) {
        if self.watched.len() < MAX_WATCHED {
            self.watched.push(watched);
        }
    }

    fn repository(&mut self, root: &Root, here: &Here<'_>) {
        let folder = root.name.join(here.path);
        for plan in armed(here, &folder, self.before) {
            let path = folder.join(&plan);
            self.taking.take(here.folder, here.path, &plan, path);
        }
        // How a new repository is read was never known to the user otherwise.
        if self.before.had_repository(&folder) {
            review_inputs(here, &folder).into_iter().for_each(|watched| self.watched(watched));
            self.hidden_changes(root, here);
        }
    }
}

impl Sweeper<'_, '_> {
    /// Reports files that changed although the index of their repository says otherwise.
    fn hidden_changes(&mut self, root: &Root, here: &Here<'_>) {
        let top = here.path.parent().filter(|_| here.path.ends_with(".git"));
        let (Some(top), Some(since)) = (top, self.before.since) else { return };
        let Ok(folder) = open_root(&root.path.join(top)) else { return };
        for path in hidden_changes(here, folder.as_fd(), since) {
            let path = root.name.join(top).join(OsStr::from_bytes(&path));
            let stamp = Stamp { size: 1, ..Stamp::default() };
            self.watched(Watched { path, label: HIDDEN.to_owned(), stamp });
        }
    }
}

/// Returns what a path is, in a few words.
fn label_of(path: &Path) -> String {
    let names = path.iter().map(|name| name.to_string_lossy());
    let row = stockade_names::obeyed(stockade_names::Root::Folder, names);
    row.map_or_else(|| "starts programs".to_owned(), stockade_names::Name::label)
}

/// Returns the absolute path of a name.
pub(crate) fn whole(roots: &[Root], path: &Path) -> PathBuf {
    let root = roots.iter().find(|root| root.name.as_os_str().is_empty());
    root.map_or_else(|| path.to_path_buf(), |root| root.path.join(path))
}
