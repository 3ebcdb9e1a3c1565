//! Looks for protected names in a workspace.

#![expect(clippy::disallowed_methods, reason = "looks through the folders of a workspace")]

use std::collections::BTreeSet;
use std::fs::{self, DirEntry};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use crate::host::{Entry, ProtectedEntry, Searched, Treatment};
use crate::probe::kind;
use crate::protect::{IN_A_REPOSITORY, PROTECTED_NAMES, holds_secrets};

/// How deep repositories, secrets and sockets are looked for, and how many names are read at most.
const DEPTH: usize = 3;
const NAMES: usize = 20_000;

/// Folders with very many files in which no repository of the user's own lies.
const NOT_ENTERED: &[&str] = &["node_modules", "target", ".venv", "venv", "__pycache__", ".cache"];

/// Returns what has a protected name, outer ones first, and whether everything was looked at.
pub(crate) fn protected(workspace: &Path) -> (Vec<ProtectedEntry>, Searched) {
    let mut search = Search { workspace, found: Vec::new(), names: 0, searched: Searched::Fully };
    let (top, is_whole) = listed(workspace);
    let names = is_whole.then(|| top.iter().map(small_letters).collect());
    for name in PROTECTED_NAMES.iter().filter(|name| may_be_there(name.path, names.as_ref())) {
        search.note(PathBuf::from(name.path), name.treatment);
    }
    search.entries(Path::new(""), 0, top.into_iter());
    (search.found, search.searched)
}

/// What lies at the top of a workspace, and whether that is all: it may have too much, or not be listed.
fn listed(workspace: &Path) -> (Vec<DirEntry>, bool) {
    let Ok(entries) = fs::read_dir(workspace) else { return (Vec::new(), false) };
    let (mut listed, mut is_whole) = (Vec::new(), true);
    for entry in entries {
        match entry {
            Ok(_) | Err(_) if listed.len() > NAMES => return (listed, false),
            Ok(entry) => listed.push(entry),
            Err(_) => is_whole = false,
        }
    }
    (listed, is_whole)
}

fn small_letters(entry: &DirEntry) -> Vec<u8> {
    entry.file_name().as_bytes().to_ascii_lowercase()
}

/// Whether it is worth while to look: most names are missing in most workspaces. Some file systems take no note of case.
fn may_be_there(path: &str, top: Option<&BTreeSet<Vec<u8>>>) -> bool {
    let first = path.split('/').next().unwrap_or(path);
    top.is_none_or(|top| top.contains(&first.as_bytes().to_ascii_lowercase()))
}

struct Search<'w> {
    workspace: &'w Path,
    found: Vec<ProtectedEntry>,
    names: usize,
    searched: Searched,
}

impl Search<'_> {
    /// Remembers a path if it exists. Links are remembered as such and never followed.
    fn note(&mut self, path: PathBuf, treatment: Treatment) -> Option<&Entry> {
        let full = self.workspace.join(&path);
        let data = fs::symlink_metadata(&full).ok()?;
        let kind = if data.is_symlink() {
            Entry::Link { to: fs::read_link(&full).ok(), resolved: None }
        } else {
            kind(&data)
        };
        self.found.push(ProtectedEntry { path, kind, treatment });
        self.found.last().map(|entry| &entry.kind)
    }

    fn folder(&mut self, below: &Path, depth: usize) {
        let Ok(entries) = fs::read_dir(self.workspace.join(below)) else { return };
        self.entries(below, depth, entries.flatten());
    }

    fn entries(&mut self, below: &Path, depth: usize, entries: impl Iterator<Item = DirEntry>) {
        for entry in entries {
            self.names += 1;
            if self.names > NAMES {
                self.searched = Searched::InPart;
                return;
            }
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            let path = below.join(&name);
            if name.eq_ignore_ascii_case(".git") {
                self.repository(&path);
            } else if name == "HEAD" && kind.is_file() && self.is_bare(below) {
                self.parts(below);
            } else if kind.is_socket()
                || name.to_str().is_some_and(|name| holds_secrets(name) && kind.is_file())
            {
                self.note(path, Treatment::Hide);
            } else if kind.is_dir() && depth + 1 < DEPTH && !is_passed_over(&path) {
                self.folder(&path, depth + 1);
            }
        }
    }

    /// A repository can be committed to, but not moved away, and what runs programs in it stays as it is. Where it is a
    /// file, that says where the repository is.
    fn repository(&mut self, path: &Path) {
        let treatment =
            if self.workspace.join(path).is_file() { Treatment::ReadOnly } else { Treatment::Pin };
        let path = match self.note(path.to_path_buf(), treatment) {
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
        for name in IN_A_REPOSITORY {
            self.note(path.join(name), Treatment::ReadOnly);
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
                self.note(path.join(entry.file_name()).join(name), Treatment::ReadOnly);
            }
        }
    }
}

fn is_passed_over(path: &Path) -> bool {
    let top = path.components().count() == 1;
    let protected = top && PROTECTED_NAMES.iter().any(|name| Path::new(name.path) == path);
    protected
        || path.file_name().and_then(|name| name.to_str()).is_some_and(|name| NOT_ENTERED.contains(&name))
}
