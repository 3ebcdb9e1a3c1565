//! Looks for names in a workspace that other programs obey, and for secrets.

#![expect(clippy::disallowed_methods, reason = "looks through the folders of a workspace")]

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::{self, DirEntry, FileType};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use stockade_names::{Name, fits, fold};

use crate::host::{Entry, ProtectedEntry, ProtectionMode, Searched, Stamp, Watched};
use crate::probe::kind;
use crate::protect::{Answer, IN_ANY_FOLDER, answer, in_a_repository};

/// How deep names are looked for, how many are read at most, and how many of one folder.
const DEPTH: usize = 3;
const NAMES: usize = 20_000;
const NAMES_OF_ONE_FOLDER: usize = 5_000;

/// How many folders are asked for each name of the table because they cannot be listed to their end. Those near the top come
/// first; a workspace with more of them is one that was looked at in part.
const MAX_UNLISTED: usize = 128;

/// How deep a folder is looked into all of which is reported.
const REPORTED_DEPTH: usize = 4;

/// Folders with very many files in which no repository of the user's own lies.
const NOT_ENTERED: &[&str] = &["node_modules", "target", ".venv", "venv", "__pycache__", ".cache"];

/// What lies in a workspace under names that count.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Found {
    /// What is protected or hidden, outer ones first.
    pub(crate) protected: Vec<ProtectedEntry>,
    /// What may change and is reported then.
    pub(crate) watched: Vec<Watched>,
    /// Whether everything was looked at.
    pub(crate) searched: Searched,
}

/// Returns what lies in a workspace under names that count. Folders near the top are looked at before deeper ones, so that one
/// with very many names hides little.
pub(crate) fn look(workspace: &Path) -> Found {
    let mut search = Search::new(workspace);
    search.run();
    search.found
}

struct Search<'w> {
    workspace: &'w Path,
    found: Found,
    names: usize,
    /// How many folders were not listed to their end.
    unlisted: usize,
    /// What is still to be looked into, and how deep it lies.
    folders: VecDeque<(PathBuf, usize)>,
}

impl<'w> Search<'w> {
    fn new(workspace: &'w Path) -> Self {
        let folders = VecDeque::from([(PathBuf::new(), 0)]);
        Self { workspace, found: Found::default(), names: 0, unlisted: 0, folders }
    }
}

impl Search<'_> {
    fn run(&mut self) {
        while let Some((below, depth)) = self.folders.pop_front() {
            self.folder(&below, depth);
        }
    }

    /// Remembers a path if it exists. Links are remembered as such and never followed.
    fn note(&mut self, path: PathBuf, mode: ProtectionMode) -> Option<&Entry> {
        let full = self.workspace.join(&path);
        let data = fs::symlink_metadata(&full).ok()?;
        let kind = if data.is_symlink() {
            Entry::Link { to: fs::read_link(&full).ok(), resolved: None }
        } else {
            kind(&data)
        };
        self.found.protected.push(ProtectedEntry { path, kind, mode });
        self.found.protected.last().map(|entry| &entry.kind)
    }

    fn folder(&mut self, below: &Path, depth: usize) {
        let before = (self.found.protected.len(), self.found.watched.len());
        if self.names < NAMES {
            let listed = fs::read_dir(self.workspace.join(below));
            if listed.is_ok_and(|entries| self.entries(below, depth, entries)) {
                return;
            }
        } else {
            self.found.searched = Searched::InPart;
        }
        self.unlisted += 1;
        if self.unlisted <= MAX_UNLISTED {
            self.ask_for_each_name(below, before);
        } else {
            self.found.searched = Searched::InPart;
        }
    }

    /// Returns whether all of a folder was looked at.
    fn entries(&mut self, below: &Path, depth: usize, entries: fs::ReadDir) -> bool {
        for (count, entry) in entries.enumerate() {
            let Ok(entry) = entry else { return false };
            self.names += 1;
            if self.names > NAMES || count >= NAMES_OF_ONE_FOLDER {
                self.found.searched = Searched::InPart;
                return false;
            }
            self.entry(below, depth, &entry);
        }
        true
    }

    fn entry(&mut self, below: &Path, depth: usize, entry: &DirEntry) {
        let Ok(kind) = entry.file_type() else { return };
        let name = entry.file_name();
        let path = below.join(&name);
        if name.eq_ignore_ascii_case(".git") {
            self.repository(&path);
        } else if name == "HEAD" && !kind.is_dir() && self.is_bare(below) {
            self.parts(below);
        } else if kind.is_socket() {
            self.note(path, ProtectionMode::Hide);
        } else if self.named(&path, &name, kind)
            && kind.is_dir()
            && depth + 1 < DEPTH
            && !is_passed_over(&name)
        {
            self.folders.push_back((path, depth + 1));
        }
    }

    /// Does what the table says about a name, and returns whether there is more to look for below it.
    fn named(&mut self, path: &Path, name: &OsStr, kind: FileType) -> bool {
        let mut is_to_be_entered = true;
        for beginning in IN_ANY_FOLDER.with(&name.to_string_lossy()) {
            let paths = match beginning.rest {
                Some(rest) => self.below(path, rest),
                None if answer(beginning.name) == Some(Answer::Hide) && !kind.is_file() => Vec::new(),
                None => {
                    is_to_be_entered = false;
                    vec![path.to_path_buf()]
                }
            };
            paths.into_iter().for_each(|path| self.answer(beginning.name, path));
        }
        is_to_be_entered
    }

    fn answer(&mut self, name: &'static Name, path: PathBuf) {
        match answer(name) {
            Some(Answer::Protect) => drop(self.note(path, ProtectionMode::ReadOnly)),
            Some(Answer::Hide) => drop(self.note(path, ProtectionMode::Hide)),
            Some(Answer::Report) => self.watch(name, path, 0),
            None => {}
        }
    }

    /// What lies below a path as the rest of a pattern says. Only its last name may be a pattern itself.
    fn below(&self, path: &Path, rest: &str) -> Vec<PathBuf> {
        if !rest.contains('*') {
            return vec![path.join(rest)];
        }
        let (folder, last) = rest.rsplit_once('/').unwrap_or(("", rest));
        let folder = path.join(folder);
        let Ok(entries) = fs::read_dir(self.workspace.join(&folder)) else { return Vec::new() };
        let names = entries.flatten().take(NAMES_OF_ONE_FOLDER).map(|entry| entry.file_name());
        names
            .filter(|name| fits(&fold(&name.to_string_lossy()), last))
            .map(|name| folder.join(name))
            .collect()
    }

    /// Remembers how a file looks that is reported when it changes; of a folder, each file in it.
    fn watch(&mut self, name: &'static Name, path: PathBuf, depth: usize) {
        let Ok(data) = fs::symlink_metadata(self.workspace.join(&path)) else { return };
        if !data.is_dir() {
            self.found.watched.push(Watched { path, label: name.label(), stamp: stamp(&data) });
            return;
        }
        let Ok(entries) = fs::read_dir(self.workspace.join(&path)) else { return };
        for entry in entries.flatten() {
            self.names += 1;
            if depth >= REPORTED_DEPTH || self.names > NAMES {
                return;
            }
            self.watch(name, path.join(entry.file_name()), depth + 1);
        }
    }

    /// Asks for each name in a folder that cannot be listed, or not to its end: who may enter a folder obeys what lies in it.
    /// `before` says what was found before this folder.
    fn ask_for_each_name(&mut self, below: &Path, before: (usize, usize)) {
        let git = below.join(".git");
        if !self.is_noted(&git, before) {
            self.repository(&git);
        }
        for (name, path) in IN_ANY_FOLDER.paths().filter(|(_, path)| !path.contains('*')) {
            let path = below.join(path);
            let is_file = || self.workspace.join(&path).symlink_metadata().is_ok_and(|data| data.is_file());
            if !self.is_noted(&path, before) && (answer(name) != Some(Answer::Hide) || is_file()) {
                self.answer(name, path);
            }
        }
    }

    /// Whether a path is among what was found since: only what one folder holds is compared.
    fn is_noted(&self, path: &Path, (protected, watched): (usize, usize)) -> bool {
        let mut protected = self.found.protected.iter().skip(protected).map(|entry| &entry.path);
        let mut watched = self.found.watched.iter().skip(watched).map(|entry| &entry.path);
        protected.any(|noted| noted == path) || watched.any(|noted| noted == path)
    }

    /// A repository can be committed to, but not moved away, and what runs programs in it stays as it is. Where it is a
    /// file, that says where the repository is.
    fn repository(&mut self, path: &Path) {
        let mode =
            if self.workspace.join(path).is_file() { ProtectionMode::ReadOnly } else { ProtectionMode::Pin };
        let path = match self.note(path.to_path_buf(), mode) {
            Some(Entry::Folder) => Some(path.to_path_buf()),
            // The link itself is watched; what it leads to can only be written where that lies in the workspace as well.
            Some(Entry::Link { .. }) => self.led_to(path),
            _ => None,
        };
        if let Some(path) = path {
            self.parts(&path);
            self.worktrees(&path.join("worktrees"));
            self.modules(&path.join("modules"), 0);
        }
    }

    /// Where in the workspace a link leads.
    fn led_to(&self, path: &Path) -> Option<PathBuf> {
        let (root, real) =
            (fs::canonicalize(self.workspace).ok()?, fs::canonicalize(self.workspace.join(path)).ok()?);
        real.strip_prefix(root).ok().map(Path::to_path_buf)
    }

    /// What runs programs in a repository.
    fn parts(&mut self, path: &Path) {
        for (name, part) in in_a_repository() {
            self.answer(name, path.join(part));
        }
    }

    /// Whether git takes a folder for a repository although it is not called so. Links count: they need not lead anywhere.
    fn is_bare(&self, path: &Path) -> bool {
        let there = |name: &str| self.workspace.join(path).join(name).symlink_metadata().is_ok();
        there("refs") && (there("objects") || there("commondir"))
    }

    /// Repositories of submodules lie in that of the whole. Their names may have several parts.
    fn modules(&mut self, path: &Path, depth: usize) {
        let Ok(entries) = fs::read_dir(self.workspace.join(path)) else { return };
        for entry in entries.flatten().take(NAMES) {
            let below = path.join(entry.file_name());
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if self.is_bare(&below) {
                self.parts(&below);
                self.modules(&below.join("modules"), depth + 1);
            } else if depth < DEPTH {
                self.modules(&below, depth + 1);
            }
        }
    }

    /// Each worktree says where its repository is.
    fn worktrees(&mut self, path: &Path) {
        let Ok(entries) = fs::read_dir(self.workspace.join(path)) else { return };
        for entry in entries.flatten().take(NAMES) {
            for name in ["commondir", "config.worktree"] {
                self.note(path.join(entry.file_name()).join(name), ProtectionMode::ReadOnly);
            }
        }
    }
}

fn is_passed_over(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| NOT_ENTERED.contains(&name))
}

fn stamp(data: &fs::Metadata) -> Stamp {
    Stamp {
        file: (data.dev(), data.ino()),
        size: data.size(),
        modified: (data.mtime(), data.mtime_nsec()),
        changed: (data.ctime(), data.ctime_nsec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More names than are looked at, and more folders than are asked for each name.
    #[test]
    fn a_flood_of_folders_is_looked_at_in_part_and_costs_no_more_for_being_longer() {
        let workspace = tempfile::tempdir().unwrap();
        let make = |folder: &str| {
            for number in 0..4_000 {
                fs::create_dir(workspace.path().join(format!("{folder}{number}"))).unwrap();
            }
        };
        for folder in ["", "0/", "1/", "2/", "3/", "4/"] {
            make(folder);
        }
        fs::write(workspace.path().join(".envrc"), "x").unwrap();
        let mut search = Search::new(workspace.path());
        search.run();
        assert_eq!(search.found.searched, Searched::InPart);
        assert!(search.names <= NAMES + 1 && search.unlisted > MAX_UNLISTED);
        // What lies at the top is found whatever lies beside it.
        let found: Vec<&Path> = search.found.protected.iter().map(|entry| entry.path.as_path()).collect();
        assert_eq!(found, [Path::new(".envrc")]);
    }
}
