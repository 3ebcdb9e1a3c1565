//! Targets of the user's symlinks and settings, which are obeyed like the protected name itself. So are the symlinks on the way,
//! which could be redirected.

#![expect(clippy::disallowed_methods, reason = "follows links and settings of the user")]

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::{Path, PathBuf};

use stockade_git::{GitTarget, MAX_REPOSITORY_SETTINGS, git_settings, git_targets};

use super::entry::{At, at, read_below};
use super::found::Found;
use super::home_names::HomeNames;
use super::roots::{Root, named};
use super::walk::{Here, open_root};
use crate::host::{ProtectedEntry, ProtectionMode, Searched};

/// Maximum depth of included settings, and maximum number of targets.
const MAX_INCLUDES: usize = 10;
const MAX_TARGETS: usize = 1_000;

/// Maximum number of followed symlinks, as in the kernel.
const MAX_LINKS: usize = 40;

/// Collects the targets of symlinks and settings.
pub(crate) struct Targets<'r> {
    roots: &'r [Root],
    paths: BTreeSet<PathBuf>,
    /// Those of them that are hidden.
    hidden: BTreeSet<PathBuf>,
    /// Whether there are more than the maximum.
    is_cut: bool,
    /// Whether some settings could not be read, so that their targets are unknown.
    is_partial: bool,
}

impl<'r> Targets<'r> {
    pub(super) fn new(roots: &'r [Root]) -> Self {
        Self { roots, paths: BTreeSet::new(), hidden: BTreeSet::new(), is_cut: false, is_partial: false }
    }

    /// Adds the target of a symlink with a protected name.
    pub(super) fn of_a_link(&mut self, entry: &ProtectedEntry) {
        let crate::host::Entry::Link { to: Some(to), .. } = &entry.kind else { return };
        let Some(root) = self.roots.iter().find(|root| entry.path.starts_with(&root.name)) else { return };
        let path = root.path.join(entry.path.strip_prefix(&root.name).unwrap_or(&entry.path));
        let Some(around) = path.parent() else { return };
        match entry.mode {
            // Package managers recreate these symlinks, so only their targets are protected.
            ProtectionMode::Check => self.extend(resolve(&around.join(to)).and_then(|path| path.end)),
            _ => self.add(&around.join(to)),
        }
    }

    /// Adds the file that a symlink with the name of a secret leads to. It is hidden, under whatever name it lies.
    pub(super) fn of_a_secret(&mut self, link: &Path) {
        let Some(end) = resolve(link).and_then(|path| path.end) else { return };
        self.hidden.insert(end.clone());
        self.extend([end]);
    }

    /// Adds the targets of a repository's settings.
    pub(super) fn of_settings(&mut self, root: &Root, here: &Here<'_>) {
        let folder = root.path.join(here.path);
        for name in ["config", "config.worktree"] {
            let Some(text) = self.settings_in(here.folder, name.as_ref()) else { continue };
            // Relative paths refer to the worktree; in a bare repository, to the repository itself.
            let is_inner = folder.file_name().is_some_and(|name| name == ".git");
            let files = if is_inner { folder.parent().unwrap_or(&folder) } else { &folder };
            self.follow(&text, &folder, files, MAX_INCLUDES);
        }
    }

    /// Reads settings of git. A file that exists and cannot be read, or is too long, has unknown targets.
    fn settings_in(&mut self, folder: BorrowedFd<'_>, name: &OsStr) -> Option<Vec<u8>> {
        let text = read_below(folder, Path::new(name), MAX_REPOSITORY_SETTINGS);
        self.is_partial |= text.is_none() && at(folder, Path::new(name)).is_some();
        text
    }

    fn follow(&mut self, text: &[u8], folder: &Path, files: &Path, left: usize) {
        let Ok(settings) = git_settings(text) else { return };
        for (path, kind) in git_targets(&settings) {
            let path = at_home(path);
            match kind {
                GitTarget::Hooks => self.add(&files.join(path)),
                GitTarget::Program => self.add_program(&files.join(&path), path.components().count() > 1),
                GitTarget::Settings => {
                    let path = folder.join(path);
                    self.add(&path);
                    // Paths in symlinked settings are relative to the target of the symlink.
                    let end = resolve(&path).and_then(|path| path.end).filter(|_| left > 0);
                    let Some(path) = end else { continue };
                    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { continue };
                    let opened = open_root(folder).ok();
                    if let Some(more) = opened.and_then(|it| self.settings_in(it.as_fd(), name)) {
                        self.follow(&more, folder, files, left - 1);
                    }
                }
            }
        }
    }

    fn add(&mut self, path: &Path) {
        self.extend(resolve(path).into_iter().flat_map(|path| path.links.into_iter().chain(path.end)));
    }

    /// Adds targets in the searched directories. With more than the maximum, the command is refused.
    fn extend(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        let roots = self.roots;
        let is_within = |path: &PathBuf| roots.iter().any(|root| path.starts_with(&root.path));
        for path in paths.into_iter().filter(is_within) {
            if self.paths.len() >= MAX_TARGETS && !self.paths.contains(&path) {
                self.is_cut = true;
                return;
            }
            self.paths.insert(path);
        }
    }

    /// Adds a word of a setting that may be a program: an existing file, or a missing one if it is written as a path.
    fn add_program(&mut self, path: &Path, is_a_path: bool) {
        let is_meant = fs::metadata(path).map_or(is_a_path, |found| found.is_file());
        if is_meant {
            self.add(path);
        }
    }

    /// Adds existing targets to the protected files, and missing ones to those that must not be created.
    pub(super) fn add_to(self, found: &mut Found) {
        if self.is_cut {
            found.searched = Searched::TooMany;
        }
        if self.is_partial {
            found.searched = found.searched.max(Searched::InPart);
        }
        for path in self.paths {
            let Some(name) = named(self.roots, &path).filter(|name| !name.as_os_str().is_empty()) else {
                continue;
            };
            let is_root = self.roots.iter().any(|root| root.path == path);
            let is_hidden = self.hidden.contains(&path);
            let is_known = |entry: &ProtectedEntry| {
                entry.path == name && !(is_hidden && entry.mode != ProtectionMode::Hide)
            };
            if is_root || found.protected.iter().any(is_known) {
                continue;
            }
            if let Some((lying, around)) = lying_at(self.roots, &path) {
                found.protected.push(ProtectedEntry {
                    path: name.clone(),
                    kind: lying.kind,
                    mode: if is_hidden { ProtectionMode::Hide } else { ProtectionMode::ReadOnly },
                    stamp: lying.stamp,
                    around,
                });
            }
            found.git_targets.push(name);
        }
    }
}

/// Adds the targets of the user's own settings: hooks of each found repository, included settings and programs.
pub(crate) fn add_hooks(roots: &[Root], found: &mut Found, hooks: &[PathBuf]) {
    if hooks.is_empty() {
        return;
    }
    let mut targets = Targets::new(roots);
    // Those in every repository are relative; the others apply wherever git runs.
    hooks.iter().filter(|path| path.is_absolute()).for_each(|path| targets.add(path));
    for top in found.protected.iter().filter(|entry| entry.path.ends_with(".git")) {
        let top = top.path.parent().unwrap_or(Path::new(""));
        let Some(root) = roots.iter().find(|root| top.starts_with(&root.name)) else { continue };
        let top = root.path.join(top.strip_prefix(&root.name).unwrap_or(top));
        hooks.iter().for_each(|hooks| targets.add(&top.join(at_home(&hooks.to_string_lossy()))));
    }
    targets.add_to(found);
    found.protected.sort_by_cached_key(|entry| (entry.path.components().count(), entry.path.clone()));
}

/// Adds the files that names of the home lead to.
pub(crate) fn add_home(roots: &[Root], found: &mut Found, home: &HomeNames) {
    if home.is_empty() {
        return;
    }
    let mut targets = Targets::new(roots);
    for (path, mode) in &home.links {
        match mode {
            ProtectionMode::Hide => targets.of_a_secret(path),
            _ => targets.add(path),
        }
    }
    targets.add_to(found);
    super::other_names::add_files(roots, found, home.files.iter().copied());
    super::in_order(&mut found.protected);
}

/// Looks up a path in one of these directories, with the hash of its parent directories.
pub(crate) fn lying_at(roots: &[Root], path: &Path) -> Option<(super::entry::Lying, u64)> {
    let root = roots.iter().find(|root| path.starts_with(&root.path))?;
    let below = path.strip_prefix(&root.path).ok()?;
    let folder = open_root(&root.path).ok()?;
    let around = super::walk::around(0, folder.as_fd(), below)?;
    match at(folder.as_fd(), below)? {
        At::There(lying) => Some((lying, around)),
        At::BehindALink(..) => None,
    }
}

/// Expands `~/` to the home.
fn at_home(path: &str) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(below) => std::env::home_dir().unwrap_or_default().join(below),
        None => PathBuf::from(path),
    }
}

/// A path that was resolved.
pub(super) struct ResolvedPath {
    /// The paths of the symlinks in it.
    links: Vec<PathBuf>,
    /// The target, existing or not; nothing if it depends on a missing directory.
    pub(super) end: Option<PathBuf>,
}

/// Resolves a path whose end may be missing; nothing for a symlink loop.
pub(super) fn resolve(path: &Path) -> Option<ResolvedPath> {
    let parts = |path: &Path| path.iter().rev().map(OsString::from).collect::<Vec<OsString>>();
    let (mut left, mut real, mut links) = (parts(path), PathBuf::new(), Vec::new());
    let mut is_missing = false;
    while let Some(part) = left.pop() {
        match part.as_encoded_bytes() {
            b"." => continue,
            b".." if is_missing => return Some(ResolvedPath { links, end: None }),
            b".." => drop(real.pop()),
            _ => real.push(&part),
        }
        if let Ok(to) = fs::read_link(&real) {
            links.push(real.clone());
            if links.len() > MAX_LINKS {
                return None;
            }
            real.pop();
            left.extend(parts(&to));
        } else {
            is_missing = is_missing || real.symlink_metadata().is_err();
        }
    }
    Some(ResolvedPath { links, end: Some(real) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{look, roots::roots};
    use std::os::unix::fs::symlink;

    #[test]
    fn targets_of_git_settings_are_protected() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in [".git/objects", ".git/refs", "shared/hooks", "cfg", "app"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let text = "[core]\nhooksPath = team/hooks\n[include]\npath = ../team.cfg\npath = /etc/gitconfig\n";
        fs::write(root.join(".git/config"), text).unwrap();
        fs::write(root.join("team.cfg"), "[include]\npath = more.cfg\n").unwrap();
        symlink("../shared/hooks", root.join(".git/hooks")).unwrap();
        symlink("../cfg", root.join("app/.claude")).unwrap();
        let found = look(&roots(Some(&root), &[]));
        let paths: Vec<&str> = found.protected.iter().filter_map(|entry| entry.path.to_str()).collect();
        let expected =
            [".git", "cfg", "team.cfg", ".git/config", ".git/hooks", "app/.claude", "shared/hooks"];
        assert_eq!(paths, expected);
        let git_targets: Vec<&str> = found.git_targets.iter().filter_map(|path| path.to_str()).collect();
        assert_eq!(git_targets, ["cfg", "more.cfg", "shared/hooks", "team/hooks", "team.cfg"]);
    }
    #[test]
    fn symlinks_on_the_way_to_git_targets_are_protected() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in [".git", "real/claude", "tools", "src"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        fs::write(root.join("tools/watch"), "").unwrap();
        fs::write(root.join("clean.py"), "").unwrap();
        symlink("cfg/claude", root.join(".claude")).unwrap();
        symlink("real", root.join("cfg")).unwrap();
        let text = "[core]\nfsmonitor = tools/watch\n[filter \"x\"]\nclean = python3 'clean.py' --in=src\n[diff \"y\"]\n\
                    textconv = built/show\n[user]\nname = clean.py\n[alias]\nx = !git -C src status missing\n";
        fs::write(root.join(".git/config"), text).unwrap();
        let found = look(&roots(Some(&root), &[]));
        let git_targets: Vec<&str> = found.git_targets.iter().filter_map(|path| path.to_str()).collect();
        assert_eq!(git_targets, ["built/show", "cfg", "clean.py", "real/claude", "tools/watch"]);
        symlink("circle", root.join("circle")).unwrap();
        assert!(resolve(&root.join("circle/x")).is_none());
        assert!(resolve(&root.join("missing/../x")).is_some_and(|path| path.end.is_none()));
    }
    /// More targets than can be protected: none is left out silently.
    #[test]
    fn settings_that_are_too_long_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let git = root.join(".git");
        for name in ["objects", "refs"] {
            fs::create_dir_all(git.join(name)).unwrap();
        }
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let long = format!("#{}\n[core]\nhooksPath = h\n", "x".repeat(MAX_REPOSITORY_SETTINGS));
        let searched = |config: &str, included: &str| {
            fs::write(git.join("config"), config).unwrap();
            fs::write(root.join("more"), included).unwrap();
            look(&roots(Some(&root), &[])).searched
        };
        let includes = "[include]\npath = ../more\n";
        assert_eq!(searched("", ""), Searched::Fully);
        assert_eq!(searched(&long, ""), Searched::InPart);
        assert_eq!(searched(includes, "[core]\n"), Searched::Fully);
        assert_eq!(searched(includes, &long), Searched::InPart);
        fs::remove_file(root.join("more")).unwrap();
        assert_eq!(look(&roots(Some(&root), &[])).searched, Searched::Fully);
    }

    #[test]
    fn a_flood_of_targets_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join(".git")).unwrap();
        let lines: String = (0..=MAX_TARGETS).map(|number| format!("path = ../{number}\n")).collect();
        fs::write(root.join(".git/config"), format!("[include]\n{lines}")).unwrap();
        let found = look(&roots(Some(&root), &[]));
        assert_eq!((found.searched, found.git_targets.len()), (Searched::TooMany, MAX_TARGETS));
        fs::write(root.join(".git/config"), "[include]\npath = ../1\n").unwrap();
        assert_eq!(look(&roots(Some(&root), &[])).searched, Searched::Fully);
    }
    /// `core.hooksPath = .githooks` in the user's settings applies to every repository.
    #[test]
    fn hooks_of_every_repository_are_protected_or_may_not_appear() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in [".git", ".team", "vendor/lib/.git", "plain"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        let roots = roots(Some(&root), &[]);
        let mut found = look(&roots);
        add_hooks(&roots, &mut found, &[".team".into(), root.join("plain"), "/usr/share/hooks".into()]);
        let read_only = found.protected.iter().filter(|entry| entry.mode == ProtectionMode::ReadOnly);
        let paths: Vec<&str> = read_only.filter_map(|entry| entry.path.to_str()).collect();
        assert_eq!(paths, [".team", "plain"]);
        let git_targets: Vec<&str> = found.git_targets.iter().filter_map(|path| path.to_str()).collect();
        assert_eq!(git_targets, [".team", "plain", "vendor/lib/.team"]);
    }
}
