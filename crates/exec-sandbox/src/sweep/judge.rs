//! Decides whether a new file with a protected name is harmful. Files that git and other tools create are allowed if they run
//! no program.

#![expect(clippy::disallowed_methods, reason = "looks where links and settings lead that a command left")]

use std::ffi::{OsStr, OsString};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use stockade_files::real_path;
use stockade_git::{GitSetting, MAX_REPOSITORY_SETTINGS, SettingsOf, harmful_setting};

use super::known::Before;
use crate::host::{Entry, ProtectedEntry, ProtectionMode};
use crate::protect::{is_interpreter_of_the_system, names_programs_of_the_system};
use crate::workspace::entry::{at, list_below, read_below};
use crate::workspace::is_repository;
use crate::workspace::roots::{Root, is_plainly_within};
use crate::workspace::walk::{Here, open_root};

/// Maximum size of a file that names a repository.
const MAX_POINTER: usize = 8 << 10;

/// Whether a new file is harmful. New secrets and sockets are not, because the command created them itself.
pub(crate) fn is_harmful(
    roots: &[Root],
    root: &Root,
    before: &Before<'_>,
    here: &Here<'_>,
    below: &Path,
    entry: &ProtectedEntry,
) -> bool {
    if entry.mode == ProtectionMode::Hide {
        return false;
    }
    let judge = Judge { roots, here, below, folder: root.path.join(here.path) };
    let name = below.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_in_a_repository =
        here.path.file_name().is_some_and(|name| name == ".git") || judge.is_in_a_repository();
    match (&entry.kind, name) {
        (Entry::Folder, ".git") => false,
        (Entry::File, ".git") => !judge.leads_to_a_repository(Some("gitdir: ")),
        (Entry::File, ".gitmodules") => judge.has_harmful_settings(SettingsOf::Submodules),
        (Entry::File, "hgrc") => judge.has_harmful_settings(SettingsOf::Mercurial),
        (kind, "python" | "python3") => !judge.is_interpreter(kind),
        (Entry::File, "pyvenv.cfg") => !judge.names_interpreters(),
        _ if !is_in_a_repository => true,
        (Entry::Folder, "hooks") => judge.has_live_hooks(),
        (Entry::File, "config" | "config.worktree") => judge.has_harmful_settings(SettingsOf::Repository),
        (Entry::File, "commondir") => !judge.leads_to_a_repository(None),
        (Entry::File, "gitdir") => !judge.names_something_within(),
        // In an existing repository, it would add objects from an untrusted directory.
        (Entry::File, "alternates") => before.has(&root.name.join(here.path)),
        _ => true,
    }
}

/// Whether git uses a repository already: it belongs to a worktree or a submodule of another one.
fn is_in_use(path: &Path) -> bool {
    let names: Vec<&OsStr> = path.iter().collect();
    let is_inner = |pair: &[&OsStr]| match pair {
        [first, second] => *first == ".git" && (*second == "worktrees" || *second == "modules"),
        _ => false,
    };
    names.windows(2).any(is_inner)
}

struct Judge<'j> {
    roots: &'j [Root],
    here: &'j Here<'j>,
    below: &'j Path,
    /// The path of the current directory.
    folder: PathBuf,
}

impl Judge<'_> {
    fn is_in_a_repository(&self) -> bool {
        self.here.names.is_some_and(|names| {
            is_repository(|name| names.iter().any(|entry| entry.name.eq_ignore_ascii_case(name)))
        })
    }

    fn text(&self, most: usize) -> Option<String> {
        String::from_utf8(read_below(self.here.folder, self.below, most)?).ok()
    }

    /// Returns the parent directory of the judged file.
    fn around(&self) -> PathBuf {
        self.folder.join(self.below.parent().unwrap_or(Path::new("")))
    }

    fn is_within(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(&root.path))
    }

    /// Whether a file names a repository in a directory that this sweep checks as well.
    fn leads_to_a_repository(&self, begin: Option<&str>) -> bool {
        let text = self.text(MAX_POINTER);
        let path = text.as_deref().and_then(|text| text.trim_end().strip_prefix(begin.unwrap_or_default()));
        let path = path.and_then(|path| real_path(&self.around().join(path)).ok());
        path.is_some_and(|path| {
            let is_one = self.is_repository_within(&path) && self.shares_one_within(&path);
            // A worktree's directory names the repository that it lies in.
            let is_around = begin.is_none() && self.folder.starts_with(&path);
            is_one && (is_around || is_in_use(&path) || !self.is_armed(&path))
        })
    }

    /// Whether git would run a program of a repository: by a setting, or by a hook. Projects have such repositories among their
    /// fixtures, where git only finds them if something leads to them.
    fn is_armed(&self, path: &Path) -> bool {
        let Ok(folder) = open_root(path) else { return true };
        let none: [GitSetting; 0] = [];
        let is_within = |to: &str| !to.starts_with('-') && is_plainly_within(self.roots, path, to);
        let has_harmful = |name: &str| {
            at(folder.as_fd(), Path::new(name)).is_some()
                && read_below(folder.as_fd(), Path::new(name), MAX_REPOSITORY_SETTINGS).is_none_or(|text| {
                    harmful_setting(SettingsOf::Repository, &text, &none, is_within).is_some()
                })
        };
        let hooks = list_below(folder.as_fd(), Path::new("hooks"));
        let is_live = |name: &OsString| !name.as_encoded_bytes().ends_with(b".sample");
        has_harmful("config") || has_harmful("config.worktree") || hooks.iter().any(is_live)
    }

    fn is_repository_within(&self, path: &Path) -> bool {
        self.is_within(path) && is_repository(|name| path.join(name).symlink_metadata().is_ok())
    }

    /// Whether a repository's `commondir` is missing, or names a repository that this sweep checks as well.
    fn shares_one_within(&self, path: &Path) -> bool {
        let shared = path.join("commondir");
        if shared.symlink_metadata().is_err() {
            return true;
        }
        let text = open_root(path)
            .ok()
            .and_then(|folder| read_below(folder.as_fd(), Path::new("commondir"), MAX_POINTER));
        let text = text.and_then(|text| String::from_utf8(text).ok());
        let shared = text.and_then(|text| real_path(&path.join(text.trim_end())).ok());
        shared.is_some_and(|shared| self.is_repository_within(&shared))
    }

    fn names_something_within(&self) -> bool {
        let text = self.text(MAX_POINTER);
        text.is_some_and(|text| is_plainly_within(self.roots, &self.around(), text.trim_end()))
    }

    fn has_harmful_settings(&self, kind: SettingsOf) -> bool {
        let none: [GitSetting; 0] = [];
        let around = self.around();
        let is_within = |path: &str| !path.starts_with('-') && is_plainly_within(self.roots, &around, path);
        let text = read_below(self.here.folder, self.below, MAX_REPOSITORY_SETTINGS);
        text.is_none_or(|text| harmful_setting(kind, &text, &none, is_within).is_some())
    }

    fn has_live_hooks(&self) -> bool {
        let names = list_below(self.here.folder, self.below);
        names.iter().any(|name| !name.as_encoded_bytes().ends_with(b".sample"))
    }

    /// Whether an interpreter is a symlink to one of the system or the user that no command can have written.
    fn is_interpreter(&self, kind: &Entry) -> bool {
        let Entry::Link { to: Some(to), .. } = kind else { return false };
        is_interpreter_of_the_system(to) || self.is_python(&self.around().join(to))
    }

    fn is_python(&self, path: &Path) -> bool {
        let Ok(real) = real_path(path) else { return false };
        let name = real.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        (name.starts_with("python") || name.starts_with("pypy")) && self.is_of_the_machine(&real)
    }

    /// Whether a command cannot have created a path: it is neither writable nor in a private directory of the sandbox.
    fn is_of_the_machine(&self, real: &Path) -> bool {
        const OWN: &[&str] = &["/tmp", "/var/tmp", "/dev", "/proc", "/run"];
        !self.is_within(real) && !OWN.iter().any(|own| real.starts_with(own))
    }

    /// Whether the settings of a virtual environment only name interpreters that no command can have written.
    fn names_interpreters(&self) -> bool {
        let Some(text) = self.text(MAX_REPOSITORY_SETTINGS) else { return false };
        if names_programs_of_the_system(&text) {
            return true;
        }
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        let mut pairs = pairs.map(|(name, value)| (name.trim(), Path::new(value.trim())));
        pairs.all(|(name, value)| match name {
            "home" => real_path(Path::new(value)).is_ok_and(|real| self.is_of_the_machine(&real)),
            "executable" | "base-executable" => self.is_python(value),
            _ => true,
        })
    }
}
