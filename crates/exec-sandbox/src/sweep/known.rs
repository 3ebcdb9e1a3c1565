//! Recognizes files that existed before a command.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use stockade_names::fold;

use crate::host::{Entry, FileIdentity, ProtectedEntry, ProtectionMode};
use crate::protect::JUDGED_BY_CONTENT;
use crate::workspace::walk::{Here, stamp_of};

/// The state of the writable directories before a command.
#[derive(Debug)]
pub(crate) struct Before<'b> {
    known: HashMap<&'b Path, &'b ProtectedEntry>,
    git_targets: &'b [PathBuf],
    plans: &'b BTreeMap<PathBuf, Vec<String>>,
    company: Company,
    /// The second at which the command started, if it is known.
    pub(super) since: Option<u32>,
}

/// Whether another command may have replaced files in the same directories at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Company {
    /// No. This command can replace a mount point only together with a parent directory.
    Alone,
    /// Possibly: files that were created after its start are not mount points in its sandbox.
    Others,
}

/// Who created new files.
#[derive(Clone, Copy)]
pub(crate) enum Maker<'m> {
    /// Unknown, because names were not decided when they were created: new files are attributed to the command.
    Unknown,
    /// Names were decided when they were created, so the command created none outside of its own directories, which this
    /// function recognizes.
    Known(&'m dyn Fn(&FileIdentity) -> bool),
}

impl Maker<'_> {
    /// Whether another program created a new file. Names that are judged by content are excluded: the command may create them
    /// anywhere.
    pub(super) fn is_another_program(self, here: &Here<'_>, entry: &ProtectedEntry) -> bool {
        let Self::Known(has_made) = self else { return false };
        let name = entry.path.file_name().unwrap_or_default().to_string_lossy();
        let name = fold(&name);
        let is_decided = entry.mode == ProtectionMode::ReadOnly
            && *name != *".git"
            && !JUDGED_BY_CONTENT.contains(&&*name);
        is_decided && stamp_of(here.folder, Path::new("")).is_ok_and(|stamp| !has_made(&stamp.file))
    }
}

impl<'b> Before<'b> {
    pub(crate) fn new(
        entries: impl IntoIterator<Item = &'b ProtectedEntry>,
        git_targets: &'b [PathBuf],
        plans: &'b BTreeMap<PathBuf, Vec<String>>,
        company: Company,
    ) -> Self {
        let known = entries.into_iter().map(|entry| (entry.path.as_path(), entry)).collect();
        Self { known, git_targets, plans, company, since: None }
    }

    /// The same, with the second at which the command started.
    pub(crate) fn since(self, second: u32) -> Self {
        Self { since: Some(second), ..self }
    }

    /// Whether a file existed before.
    pub(super) fn knows(&self, now: &ProtectedEntry) -> bool {
        let Some(then) = self.known.get(now.path.as_path()).filter(|then| same_kind(&then.kind, &now.kind))
        else {
            return false;
        };
        let is_same_file = then.stamp.file == now.stamp.file;
        let is_in_its_place = then.around == now.around;
        match (then.mode, &then.kind) {
            // A symlink is the same if its target and its parent directories are.
            (_, Entry::Link { .. }) => is_in_its_place,
            (ProtectionMode::Check, _) => then.stamp == now.stamp,
            // Otherwise a hard link would allow writing to the file by another name.
            _ => is_same_file || (is_in_its_place && self.company == Company::Alone),
        }
    }

    /// Whether a path existed before.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.known.contains_key(path)
    }

    /// Whether a directory was a repository: its `.git`, or a part of it that git obeys, existed.
    pub(super) fn had_repository(&self, folder: &Path) -> bool {
        const PARTS: [&str; 4] = ["config", "hooks", "commondir", "gitdir"];
        self.has(folder) || PARTS.iter().any(|part| self.has(&folder.join(part)))
    }

    /// Returns the lines that ran programs in a file of git's pending work; nothing if it did not exist.
    pub(super) fn plan(&self, path: &Path) -> Option<&Vec<String>> {
        self.plans.get(path)
    }

    /// Returns the targets of symlinks and settings, existing or not.
    pub(super) fn git_targets(&self) -> impl Iterator<Item = &Path> {
        self.git_targets.iter().map(PathBuf::as_path)
    }
}

/// Whether two entries have the same type, and the same target if they are symlinks.
pub(crate) fn same_kind(one: &Entry, other: &Entry) -> bool {
    match (one, other) {
        (Entry::Link { to: one, .. }, Entry::Link { to: other, .. }) => one == other,
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{FileIdentity, Stamp};

    fn entry(kind: Entry, mode: ProtectionMode, (number, size, around): (u64, u64, u64)) -> ProtectedEntry {
        let file = FileIdentity { number, ..FileIdentity::default() };
        let stamp = Stamp { file, size, ..Stamp::default() };
        ProtectedEntry { path: "x".into(), kind, mode, stamp, around }
    }

    #[test]
    fn existing_files_are_recognised_after_a_command() {
        let link = |to: &str| Entry::Link { to: Some(to.into()), resolved: None };
        let rows = [
            // Before, after, whether it is known without and with another command.
            (Entry::File, (1, 1, 1), Entry::File, (1, 1, 1), ProtectionMode::ReadOnly, [true, true]),
            (Entry::File, (1, 1, 1), Entry::File, (1, 2, 1), ProtectionMode::ReadOnly, [true, true]),
            (Entry::File, (1, 1, 1), Entry::File, (2, 1, 1), ProtectionMode::ReadOnly, [true, false]),
            (Entry::File, (1, 1, 1), Entry::File, (2, 1, 2), ProtectionMode::ReadOnly, [false, false]),
            (Entry::File, (1, 1, 1), Entry::Folder, (1, 1, 1), ProtectionMode::ReadOnly, [false, false]),
            (Entry::Folder, (1, 1, 1), Entry::Folder, (1, 1, 2), ProtectionMode::Pin, [true, true]),
            (Entry::File, (1, 1, 1), Entry::File, (1, 2, 1), ProtectionMode::Check, [false, false]),
            (Entry::File, (1, 1, 1), Entry::File, (1, 1, 2), ProtectionMode::Check, [true, true]),
            (link("a"), (1, 1, 1), link("a"), (2, 1, 1), ProtectionMode::ReadOnly, [true, true]),
            (link("a"), (1, 1, 1), link("b"), (1, 1, 1), ProtectionMode::ReadOnly, [false, false]),
            (link("a"), (1, 1, 1), link("a"), (1, 1, 2), ProtectionMode::ReadOnly, [false, false]),
        ];
        for (then, before, now, after, mode, expected) in rows {
            let then = [entry(then, mode, before)];
            let now = entry(now, mode, after);
            let (none, plans) = (Vec::new(), BTreeMap::new());
            let knows = |company| Before::new(&then, &none, &plans, company).knows(&now);
            assert_eq!([knows(Company::Alone), knows(Company::Others)], expected, "{then:?} {now:?}");
            assert!(!Before::new([], &none, &plans, Company::Alone).knows(&now));
        }
    }
}
