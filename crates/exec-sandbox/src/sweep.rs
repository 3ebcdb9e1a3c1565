//! What appeared under a protected name is taken away, after the command and all that it started are gone.
//!
//! The folders were in the hands of the command, so no path in them is followed: each is gone through once more, each folder
//! opened from the one around it, and what is to go is moved from the folder that it was found in.

#![expect(clippy::disallowed_methods, reason = "looks whether what was reported is gone")]

mod judge;
mod known;
mod plans;
mod taking;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::host::{Entry, FileIdentity, ProtectedEntry, ProtectionMode, Searched, Watched};
use crate::known_links::KnownLinks;
use crate::outcome::{Changed, DroppedGroup};
use crate::quarantine::Taker;
use crate::quarantined::Quarantined;
use crate::workspace::links::{Astray, astray};
use crate::workspace::roots::Root;
use crate::workspace::targets::lying_at;
use crate::workspace::walk::{Here, open_root};
use crate::workspace::{MAX_WATCHED, Sink, search};
pub(crate) use judge::is_harmful;
pub(crate) use known::{Before, Company, Maker, same_kind};
pub(crate) use plans::armed;
use taking::RootTaking;

/// What was found after a command.
#[derive(Debug, Default)]
pub(crate) struct Swept {
    /// What was taken away.
    pub(crate) taken: Vec<Quarantined>,
    /// What had been taken away before, and was dropped for it.
    pub(crate) dropped: Vec<DroppedGroup>,
    /// What is reported when it has changed, as it is now.
    pub(crate) watched: Vec<Watched>,
    /// New links that lead out of the workspace, or to what others obey.
    pub(crate) links: Vec<Changed>,
    /// The files that have names of secrets.
    pub(crate) secrets: Vec<ProtectedEntry>,
    /// Whether everything was looked at.
    pub(crate) searched: Searched,
}

/// How many files with names of secrets are remembered.
const MAX_SECRETS: usize = 100_000;

/// How many links are listed, of those that do harm and of the others.
const MAX_LINKS: usize = 1_000;

impl Swept {
    /// Returns the files with names of secrets that were not hidden from the command: it made them, or they appeared before its
    /// eyes. What was hidden is known by what it is, wherever it was moved to.
    pub(crate) fn seen_secrets(&self, before: &[ProtectedEntry]) -> Vec<PathBuf> {
        let hidden = before.iter().filter(|entry| entry.mode == ProtectionMode::Hide);
        let hidden: BTreeSet<_> = hidden.map(|entry| key(&entry.stamp.file)).collect();
        let seen = self.secrets.iter().filter(|entry| !hidden.contains(&key(&entry.stamp.file)));
        seen.map(|entry| entry.path.clone()).collect()
    }

    /// Returns what is not as it was before.
    pub(crate) fn changed(&self, workspace: &Path, before: &[Watched]) -> Vec<Changed> {
        let taken: BTreeSet<&Path> = self.taken.iter().map(|taken| taken.path.as_path()).collect();
        let is_taken = |path: &Path| path.ancestors().any(|around| taken.contains(around));
        let then: BTreeMap<&Path, &Watched> = before.iter().map(|it| (it.path.as_path(), it)).collect();
        let now: BTreeSet<&Path> = self.watched.iter().map(|it| it.path.as_path()).collect();
        let made =
            self.watched.iter().filter(|it| then.get(it.path.as_path()) != Some(it) && !is_taken(&it.path));
        // One that was not come to this time may still be there.
        let is_gone = |then: &&Watched| {
            !now.contains(then.path.as_path()) && workspace.join(&then.path).symlink_metadata().is_err()
        };
        let gone = before.iter().filter(is_gone);
        let changed = made.chain(gone).map(|it| Changed::new(it.path.clone(), it.label.clone()));
        let links = self.links.iter().filter(|link| !is_taken(&link.path)).cloned();
        changed.chain(links).collect::<BTreeSet<Changed>>().into_iter().collect()
    }
}

/// Takes away what has a protected name now and did not before: to a folder below `state`, if there is one. `command` is what
/// ran meanwhile, as text for a person.
///
/// Where the command could make such names in no folders but those that it made itself, what is new in others is somebody else's, who
/// works in the same workspace. It stays, and is told of. Where it is known which links there were, new ones are told of.
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
        let new_links = NewLinks { known: links, found: &mut swept.links, count: [0; 2] };
        let sweeper =
            Sweeper { root, roots, before, maker, taking: &mut taking, watched, secrets, new_links };
        if search(root, sweeper) == Searched::InPart {
            swept.searched = Searched::InPart;
        }
        led_to(roots, root, before, &mut taking);
        swept.dropped.extend(taking.make_room());
    }
    swept
}

/// What settings and links of the user's lead to has names that nothing else tells of.
fn led_to(roots: &[Root], root: &Root, before: &Before<'_>, taking: &mut RootTaking<'_>) {
    for path in before.led_to() {
        // What lies in another folder has its whole path as a name.
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

/// New links that lead where writing through them does harm, or out of the workspace.
struct NewLinks<'s> {
    known: Option<&'s KnownLinks>,
    found: &'s mut Vec<Changed>,
    /// How many were found that do no harm, and that do.
    count: [usize; 2],
}

impl NewLinks<'_> {
    /// However many do no harm, one that does is listed.
    fn add(&mut self, changed: Changed) {
        let [harmless, harmful] = &mut self.count;
        let count = if changed.is_harmful { harmful } else { harmless };
        *count += 1;
        if *count <= MAX_LINKS {
            self.found.push(changed);
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
            match self.maker.is_somebody_else(here, &entry) {
                true => self.watched(Watched {
                    label: label_of(&entry.path),
                    path: entry.path,
                    stamp: entry.stamp,
                }),
                false => self.taking.take(here.folder, here.path, below, entry.path),
            }
        }
    }

    /// By its text, the place and the folders around, one that was there is known.
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
        for plan in armed(here, &root.name.join(here.path), self.before) {
            let path = root.name.join(here.path).join(&plan);
            self.taking.take(here.folder, here.path, &plan, path);
        }
    }
}

/// What a path means, in a few words.
fn label_of(path: &Path) -> String {
    let names = path.iter().map(|name| name.to_string_lossy());
    let row = stockade_names::obeyed(stockade_names::Root::Folder, names);
    row.map_or_else(|| "starts programs".to_owned(), stockade_names::Name::label)
}

fn key(file: &FileIdentity) -> (u64, u64) {
    (file.device, file.number)
}

/// Where something lies on this machine that has this name.
pub(crate) fn whole(roots: &[Root], path: &Path) -> PathBuf {
    let root = roots.iter().find(|root| root.name.as_os_str().is_empty());
    root.map_or_else(|| path.to_path_buf(), |root| root.path.join(path))
}
