//! Decides which changes are never applied: those under a protected name, and set-user-ID files. The rules are those of the sweep
//! after a command that wrote to the workspace directly.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;
use stockade_git::{MAX_REPOSITORY_SETTINGS, SettingsOf, git_settings, harmful_setting};

use super::at::Tree;
use super::change::{ChangeKind, FileChange, word};
use crate::host::{Entry, ProtectedEntry, ProtectionMode, Searched, Watched};
use crate::protect::{KEPT_FOR_US, is_ours};
use crate::sweep::{Before, Company, armed, is_harmful};
use crate::workspace::entry::read_below;
use crate::workspace::links::{Astray, astray};
use crate::workspace::roots::{Root, is_plainly_within};
use crate::workspace::walk::Here;
use crate::workspace::{Sink, search_open};

/// The protected files of a workspace when a command started.
#[derive(Debug, Clone, Default)]
pub(crate) struct Guarded {
    pub(crate) protected: Vec<ProtectedEntry>,
    pub(crate) git_targets: Vec<PathBuf>,
    pub(crate) plans: BTreeMap<PathBuf, Vec<String>>,
}

const OBEYED: &str = "other programs obey files with this name";
const KEPT: &str = "other programs obey it, so it stays unchanged";
const LED_TO: &str = "your settings or a symlink of yours refer to this path";
const STRAY: &str = "git would write through it to another file";
const ARMED: &str = "git would run programs because of it";
const FOREIGN_RIGHTS: &str =
    "it would run with the rights of its owner or group (set-user-ID or set-group-ID)";
const BECOMES: &str = "the directory would become a repository, and git would run existing files in it";
const UNREADABLE: &str = "a part of the overlay could not be read, so no change in it is trusted";

/// The paths of files that other programs obey.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// When the command started.
    pub(super) was: BTreeSet<PathBuf>,
    /// In the overlay, when it ended.
    pub(super) is: BTreeSet<PathBuf>,
}

impl Judged {
    /// Whether changes at a path were judged as obeyed by other programs.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.was.contains(path) || self.is.contains(path)
    }

    pub(super) fn was_there(&self, path: &Path) -> bool {
        self.was.contains(path)
    }
}

/// Refuses changes that are never applied, and returns the judged paths that other programs obey. `view` is the open overlay.
pub(super) fn refuse(
    changes: &mut [FileChange],
    guarded: &Guarded,
    workspace: &Path,
    view: OwnedFd,
) -> Judged {
    let was = guarded.protected.iter().map(|entry| &entry.path).chain(&guarded.git_targets);
    let mut judged = Judged { was: was.cloned().collect(), is: BTreeSet::new() };
    changes.iter_mut().for_each(|change| change.refused = by_kind(change).map(str::to_owned));
    let kept = guarded.protected.iter().filter(|entry| entry.mode != ProtectionMode::Check);
    for entry in kept.filter(|entry| entry.mode != ProtectionMode::Hide) {
        refuse_if(changes, &entry.path, KEPT, |change| {
            change.path == entry.path && change.kind != ChangeKind::Mode && takes_away(change, entry)
        });
    }
    for path in &guarded.git_targets {
        refuse_if(changes, path, LED_TO, |change| change.kind != ChangeKind::Deleted);
    }
    let root = Root { path: workspace.to_path_buf(), name: PathBuf::new() };
    let before = Before::new(&guarded.protected, &guarded.git_targets, &guarded.plans, Company::Alone);
    let Ok(workspace) = Tree::open(workspace) else {
        refuse_if(changes, Path::new(""), UNREADABLE, |_| true);
        return judged;
    };
    let sink =
        Judging { changes, before: &before, root: &root, workspace: &workspace, judged: &mut judged.is };
    if search_open(&root, view, sink) == Searched::InPart {
        refuse_if(changes, Path::new(""), UNREADABLE, |_| true);
    }
    judged
}

/// Whether a change removes a protected file, or replaces it by another type.
fn takes_away(change: &FileChange, entry: &ProtectedEntry) -> bool {
    change.kind == ChangeKind::Deleted
        || (entry.kind == Entry::Folder) != change.after.is_some_and(|look| look.is_folder())
}

/// Returns why a change is refused by its path and type alone.
fn by_kind(change: &FileChange) -> Option<&'static str> {
    if is_ours(&change.path) {
        return Some(KEPT_FOR_US);
    }
    let after = change.after?;
    match after.kind {
        FileType::RegularFile if after.mode & 0o6000 != 0 => Some(FOREIGN_RIGHTS),
        FileType::RegularFile | FileType::Directory | FileType::Symlink => None,
        other => Some(match word(other) {
            "named pipe" => "it is a named pipe without another end",
            "socket" => "it is a socket without a listener",
            _ => "it is a device or another special file",
        }),
    }
}

/// Refuses the selected changes at a path and below it.
pub(super) fn refuse_if(
    changes: &mut [FileChange],
    path: &Path,
    why: &str,
    is_meant: impl Fn(&FileChange) -> bool,
) {
    let from = changes.partition_point(|change| change.path.as_path() < path);
    let below = changes.iter_mut().skip(from).take_while(|change| change.path.starts_with(path));
    for change in below.filter(|change| change.refused.is_none()) {
        if is_meant(change) {
            change.refused = Some(why.to_owned());
        }
    }
}

/// Names by which git recognizes a repository.
const COMPLETES: &[&str] = &["HEAD", "commondir", "objects", "refs"];

struct Judging<'j> {
    changes: &'j mut [FileChange],
    before: &'j Before<'j>,
    root: &'j Root,
    workspace: &'j Tree,
    judged: &'j mut BTreeSet<PathBuf>,
}

impl Judging<'_> {
    /// Whether a change at a path or below it would be applied.
    fn is_touched(&self, path: &Path) -> bool {
        let from = self.changes.partition_point(|change| change.path.as_path() < path);
        let below = self.changes.iter().skip(from).take_while(|change| change.path.starts_with(path));
        below.into_iter().any(|change| change.kind != ChangeKind::Deleted)
    }

    fn is_new(&self, path: &Path) -> bool {
        let found = self.changes.binary_search_by(|change| change.path.as_path().cmp(path));
        found
            .ok()
            .and_then(|at| self.changes.get(at))
            .is_some_and(|change| change.kind == ChangeKind::Created)
    }

    /// Returns why a change with a protected name is refused.
    fn why(&self, here: &Here<'_>, below: &Path, entry: &ProtectedEntry) -> Option<String> {
        if entry.mode == ProtectionMode::Hide || entry.mode == ProtectionMode::Pin {
            return None;
        }
        if self.is_new(&entry.path) {
            let roots = std::slice::from_ref(self.root);
            return is_harmful(roots, self.root, self.before, here, below, entry).then(|| OBEYED.to_owned());
        }
        match self.settings(&entry.path) {
            Some(kind) if entry.kind == Entry::File => self.harmful(here, below, &entry.path, kind),
            _ => Some(KEPT.to_owned()),
        }
    }

    /// Refuses changes that turn a directory into a repository in which git would obey existing files.
    fn becomes(&mut self, here: &Here<'_>, below: &Path, entry: &ProtectedEntry) {
        let roots = std::slice::from_ref(self.root);
        if is_harmful(roots, self.root, self.before, here, below, entry) {
            self.refuse_to_complete(here);
        }
    }

    fn refuse_to_complete(&mut self, here: &Here<'_>) {
        for name in COMPLETES {
            refuse_if(self.changes, &here.path.join(name), BECOMES, |change| {
                change.kind != ChangeKind::Deleted
            });
        }
    }

    /// Returns the kind of git settings in a file, if it is one that git itself writes.
    fn settings(&self, path: &Path) -> Option<SettingsOf> {
        match path.file_name().and_then(|name| name.to_str())? {
            "config" | "config.worktree" => Some(SettingsOf::Repository),
            ".gitmodules" => Some(SettingsOf::Submodules),
            _ => None,
        }
    }

    /// Returns why new settings would run a program.
    fn harmful(&self, here: &Here<'_>, below: &Path, path: &Path, kind: SettingsOf) -> Option<String> {
        let around = self.root.path.join(here.path).join(below.parent().unwrap_or(Path::new("")));
        let (folder, name) = self.workspace.parent(path).ok()?;
        let before = read_below(std::os::fd::AsFd::as_fd(&*folder), Path::new(name), MAX_REPOSITORY_SETTINGS);
        let before = before.and_then(|text| git_settings(&text).ok()).unwrap_or_default();
        let roots = std::slice::from_ref(self.root);
        let is_within = |path: &str| !path.starts_with('-') && is_plainly_within(roots, &around, path);
        let Some(text) = read_below(here.folder, below, MAX_REPOSITORY_SETTINGS) else {
            return Some(KEPT.to_owned());
        };
        let setting = harmful_setting(kind, &text, &before, is_within)?;
        Some(format!("git may run a program because of its setting {setting}"))
    }
}

impl Sink for Judging<'_> {
    fn protected(&mut self, here: &Here<'_>, below: &Path, entry: ProtectedEntry) {
        self.judged.insert(entry.path.clone());
        if self.is_touched(&entry.path) {
            if let Some(why) = self.why(here, below, &entry) {
                refuse_if(self.changes, &entry.path, &why, |change| change.kind != ChangeKind::Deleted);
            }
        } else if !self.before.has(&entry.path) && entry.mode != ProtectionMode::Hide {
            self.becomes(here, below, &entry);
        }
    }

    fn stray(&mut self, here: &Here<'_>, _: &Path, entry: ProtectedEntry) {
        self.judged.insert(entry.path.clone());
        if self.is_touched(&entry.path) {
            refuse_if(self.changes, &entry.path, STRAY, |change| change.kind != ChangeKind::Deleted);
        } else if !self.before.has(&entry.path) {
            self.refuse_to_complete(here);
        }
    }

    fn link(&mut self, here: &Here<'_>, name: &OsStr, to: &Path) {
        let path = here.path.join(name);
        if self.is_touched(&path) {
            let roots = std::slice::from_ref(self.root);
            let astray = astray(roots, &self.root.path.join(here.path), name, to);
            if let Some(Astray { label, .. }) = astray.filter(|astray| astray.is_harmful) {
                refuse_if(self.changes, &path, &label, |change| change.kind != ChangeKind::Deleted);
            }
        }
    }

    fn watched(&mut self, _: Watched) {}

    fn repository(&mut self, root: &Root, here: &Here<'_>) {
        for plan in armed(here, &root.name.join(here.path), self.before) {
            let path = here.path.join(plan);
            refuse_if(self.changes, &path, ARMED, |change| change.kind != ChangeKind::Deleted);
        }
    }
}
