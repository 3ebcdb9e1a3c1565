//! What appeared under a protected name is taken away, after the command and all that it started are gone.
//!
//! The workspace was in the hands of the command, so no path in it is followed: each is opened below the workspace without
//! links, and moved by its descriptor.

#![expect(clippy::disallowed_methods, reason = "moves what a command left under protected names")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

use crate::host::{Entry, ProtectedEntry, ProtectionMode, Searched, Watched};
use crate::outcome::{Changed, DroppedGroup};
use crate::protect::{is_interpreter_of_the_system, names_programs_of_the_system};
use crate::quarantine::{Taken, Taker, Taking};
use crate::workspace::{Found, look};
use crate::{LeftBy, Quarantined};

/// Settings that a new repository may have. Everything else could name a program to run.
const HARMLESS_SETTINGS: &[&str] = &[
    "core.repositoryformatversion",
    "core.filemode",
    "core.bare",
    "core.logallrefupdates",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "core.autocrlf",
    "user.name",
    "user.email",
    "init.defaultbranch",
    "remote.url",
    "remote.fetch",
    "branch.remote",
    "branch.merge",
    "extensions.objectformat",
    "pull.rebase",
    // Where a clone of Mercurial came from.
    "paths.default",
];

/// Longest settings of a new repository that are read.
const MAX_LENGTH: u64 = 64 << 10;

/// What was found after a command.
#[derive(Debug, Default)]
pub(crate) struct Swept {
    /// What was taken away.
    pub(crate) taken: Vec<Quarantined>,
    /// What had been taken away before, and was dropped for it.
    pub(crate) dropped: Vec<DroppedGroup>,
    /// What is reported when it has changed, as it is now.
    pub(crate) watched: Vec<Watched>,
    /// Whether everything was looked at.
    pub(crate) searched: Searched,
}

impl Swept {
    /// Returns what is not as it was before.
    pub(crate) fn changed(&self, workspace: &Path, before: &[Watched]) -> Vec<Changed> {
        let is_taken = |path: &Path| self.taken.iter().any(|taken| path.starts_with(&taken.path));
        let made = self.watched.iter().filter(|now| !before.contains(now) && !is_taken(&now.path));
        // One that was not come to this time may still be there.
        let is_gone = |then: &&Watched| {
            let is_here = self.watched.iter().any(|now| now.path == then.path);
            !is_here && workspace.join(&then.path).symlink_metadata().is_err()
        };
        let gone = before.iter().filter(is_gone);
        let changed: BTreeSet<Changed> =
            made.chain(gone).map(|it| Changed { path: it.path.clone(), label: it.label.clone() }).collect();
        changed.into_iter().collect()
    }
}

/// Takes away what has a protected name now and did not before: to a folder below `state`, if there is one. `command` is what
/// ran meanwhile, as text for a person.
pub(crate) fn sweep(
    workspace: &Path,
    before: &[ProtectedEntry],
    state: Option<&Path>,
    command: &str,
) -> Swept {
    let known: BTreeMap<&Path, &Entry> =
        before.iter().map(|entry| (entry.path.as_path(), &entry.kind)).collect();
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let Ok(root) = openat2(CWD, workspace, flags, Mode::empty(), resolve) else { return Swept::default() };
    let Found { protected: now, watched, searched } = look(workspace);
    let taking = Taking::new(Taker { state, workspace, root: &root, command });
    let mut sweeper = Sweeper { root: &root, workspace, taking, taken: Vec::new() };
    // What lies deeper first: a folder that is taken away takes it along.
    for entry in now.iter().rev() {
        if known.get(entry.path.as_path()) != Some(&&entry.kind) && sweeper.is_harmful(entry, before) {
            sweeper.take(&entry.path);
        }
    }
    Swept { dropped: sweeper.taking.make_room(), taken: sweeper.taken, watched, searched }
}

struct Sweeper<'w> {
    root: &'w OwnedFd,
    workspace: &'w Path,
    taking: Taking<'w>,
    taken: Vec<Quarantined>,
}

impl Sweeper<'_> {
    /// Secrets and sockets that are new are the command's own. In a repository that is new, hooks that git brings and plain
    /// settings are fine.
    fn is_harmful(&self, entry: &ProtectedEntry, before: &[ProtectedEntry]) -> bool {
        if entry.mode == ProtectionMode::Hide {
            return false;
        }
        if let Some(harmless) = self.is_of_the_system(entry) {
            return !harmless;
        }
        let repository =
            entry.path.ancestors().find(|path| path.file_name().is_some_and(|name| name == ".git"));
        // One that is not called so has no settings that a command could have changed: those it had are protected.
        let Some(repository) = repository else { return self.is_harmful_in_a_new_one(entry) };
        let is_new = !before.iter().any(|known| known.path == repository && known.kind == Entry::Folder);
        let name = entry.path.file_name().unwrap_or_default();
        match (&entry.kind, name.to_str()) {
            (Entry::Folder, Some(".git")) => !is_new,
            (Entry::File, Some(".git")) => !self.is_worktree(&entry.path),
            (Entry::File, Some("commondir")) => !self.leads_to_its_repository(&entry.path),
            (Entry::Folder, Some("hooks")) => self.has_live_hooks(&entry.path),
            (Entry::File, Some("config")) if is_new => !self.is_plain(&entry.path),
            (Entry::File, Some("alternates")) if is_new => false,
            _ => true,
        }
    }

    fn is_harmful_in_a_new_one(&self, entry: &ProtectedEntry) -> bool {
        let name = entry.path.file_name().unwrap_or_default();
        match (&entry.kind, name.to_str()) {
            (Entry::Folder, Some("hooks")) => self.has_live_hooks(&entry.path),
            (Entry::File, Some("config" | "hgrc")) => !self.is_plain(&entry.path),
            _ => true,
        }
    }

    /// Whether a part of a virtual environment names programs of the system only; nothing for what is no such part.
    fn is_of_the_system(&self, entry: &ProtectedEntry) -> Option<bool> {
        match entry.path.file_name()?.to_str()? {
            "python" | "python3" => Some(match &entry.kind {
                Entry::Link { to: Some(to), .. } => is_interpreter_of_the_system(to),
                _ => false,
            }),
            "pyvenv.cfg" => {
                Some(self.read(&entry.path).is_some_and(|text| names_programs_of_the_system(&text)))
            }
            _ => None,
        }
    }

    fn open(&self, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        Ok(openat2(self.root, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve)?)
    }

    /// Whether a file says that the repository of this folder is one that lies in the workspace, where it is protected.
    fn is_worktree(&self, path: &Path) -> bool {
        let text = self.read(path);
        let place = text.as_deref().and_then(|text| text.trim_end().strip_prefix("gitdir: "));
        let place = place.and_then(|place| Path::new(place).strip_prefix(self.workspace).ok());
        place.is_some_and(|place| self.leads_to_its_repository(&place.join("commondir")))
    }

    /// Whether this is the file of a worktree that names the repository that it lies in.
    fn leads_to_its_repository(&self, path: &Path) -> bool {
        let above = |level: usize| path.ancestors().nth(level).and_then(Path::file_name);
        let in_its_place =
            above(2).is_some_and(|name| name == "worktrees") && above(3).is_some_and(|name| name == ".git");
        in_its_place && self.read(path).is_some_and(|text| text.trim_end() == "../..")
    }

    fn has_live_hooks(&self, path: &Path) -> bool {
        let Ok(folder) = self.open(path, OFlags::RDONLY | OFlags::DIRECTORY) else { return true };
        let Ok(entries) = rustix::fs::Dir::read_from(&folder) else { return true };
        entries.flatten().any(|entry| {
            let name = entry.file_name().to_bytes();
            !matches!(name, b"." | b"..") && !name.ends_with(b".sample")
        })
    }

    /// Returns the text of a file that is not too long.
    fn read(&self, path: &Path) -> Option<String> {
        let file = self.open(path, OFlags::RDONLY | OFlags::NONBLOCK).ok()?;
        let mut text = String::new();
        File::from(file).take(MAX_LENGTH + 1).read_to_string(&mut text).ok()?;
        (text.len() as u64 <= MAX_LENGTH).then_some(text)
    }

    fn is_plain(&self, path: &Path) -> bool {
        let names = self.read(path).and_then(|text| settings(&text));
        names.is_some_and(|names| names.iter().all(|name| HARMLESS_SETTINGS.contains(&name.as_str())))
    }

    fn take(&mut self, path: &Path) {
        let taken = self.move_away(path).ok();
        let (moved_to, id) = taken.map_or((None, None), |taken| (Some(taken.place), taken.id));
        self.taken.push(Quarantined { path: path.to_path_buf(), moved_to, id, left_by: LeftBy::ThisCommand });
    }

    fn move_away(&mut self, path: &Path) -> io::Result<Taken> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let from = self.open(parent, OFlags::PATH | OFlags::DIRECTORY)?;
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        self.taking.take(&from, name, path)
    }
}

/// A number that no other quarantine has.
pub(crate) fn moment() -> u128 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos()
}

/// The names of the settings in a file of git's; nothing if it is written in a way that is not plain.
fn settings(text: &str) -> Option<Vec<String>> {
    let mut section = String::new();
    let mut names = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if line.ends_with('\\') {
            return None;
        }
        match line.strip_prefix('[') {
            Some(rest) => {
                let (name, after) = rest.split_once(']')?;
                if !after.is_empty() {
                    return None;
                }
                section = name.split([' ', '.']).next().unwrap_or_default().to_lowercase();
            }
            None => {
                let name = line.split('=').next().unwrap_or_default().trim().to_lowercase();
                names.push(format!("{section}.{name}"));
            }
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_git_reads_them() {
        let text = "# x\n[core]\n\tbare = false\n[remote \"origin\"]\nurl=x\n[CORE]\nFsMonitor = y\n";
        assert_eq!(settings(text).unwrap(), ["core.bare", "remote.url", "core.fsmonitor"]);
        for odd in ["[core] fsmonitor = x", "[core\nx=y", "[a]\nx = y\\\n"] {
            assert_eq!(settings(odd), None, "{odd}");
        }
    }
}
