//! Searches the writable directories for names that other programs obey, and for secrets.
//!
//! Every directory is read, at any depth. A repository is recognized by its content and not by its name. In directories of
//! packages and build output (`node_modules`, `target`), repositories are protected as elsewhere, and other names are only
//! reported: package managers delete and recreate files there.

pub(crate) mod entry;
mod environments;
mod found;
pub(crate) mod home_names;
pub(crate) mod links;
mod memory;
pub(crate) mod new_names;
mod other_names;
pub(crate) mod plans;
pub(crate) mod review_inputs;
pub(crate) mod roots;
pub(crate) mod stated_files;
pub(crate) mod targets;
pub(crate) mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;
use stockade_credentials::contains_secret;
use stockade_names::{Name, fits, fold};

use crate::host::{Entry, Exposed, ProtectedEntry, ProtectionMode, Searched, Watched};
use crate::protect::{Answer, IN_ANY_FOLDER, SLOTS_BESIDE, answer, in_a_repository};
use entry::{At, at, list_below, read_below};
pub(crate) use found::{Found, PACKAGES, is_repository};
use links::{InRepository, stays_in_a_repository, text_of};
use memory::Memory;

use roots::Root;
use targets::{Targets, lying_at};
pub(crate) use targets::{add_home, add_hooks};
use walk::{Here, Listed, Visit, around, walk, walk_from};

/// Maximum depth of a directory whose files are all reported.
const REPORTED_DEPTH: usize = 4;

/// Maximum number of watched files, and of recorded protected names.
pub(crate) const MAX_WATCHED: usize = 20_000;
const MAX_REMEMBERED: usize = 100_000;

/// The longest file that is searched for secrets; a longer one counts as one with a secret.
pub(crate) const MAX_TEXT: usize = 1 << 20;

/// Maximum number of recorded files with secrets.
const MAX_EXPOSED: usize = MAX_WATCHED;

/// Maximum number of mounts for protected names. With more, the command is refused.
const MAX_MOUNTED: usize = 2_000;

/// Maximum length of a mount point's path.
const MAX_PATH: usize = 3_500;

/// Searches some directories.
pub(crate) fn look(roots: &[Root]) -> Found {
    let mut found = Found::default();
    let mut targets = Targets::new(roots);
    for root in roots {
        let sink = Memory { root, found: &mut found, targets: &mut targets };
        let searched = search(root, sink);
        found.searched = found.searched.max(searched);
    }
    targets.add_to(&mut found);
    other_names::add_to(roots, &mut found);
    in_order(&mut found.protected);
    found
}

/// Replaces entries whose path is too long for a mount by a parent directory, and checks the maximum number of mounts.
pub(crate) fn bound(roots: &[Root], found: &mut Found) {
    let is_mounted = |entry: &ProtectedEntry| {
        entry.mode != ProtectionMode::Check && !matches!(entry.kind, Entry::Link { .. })
    };
    let is_long = |entry: &ProtectedEntry| entry.path.as_os_str().len() > MAX_PATH;
    let mut covers: BTreeMap<PathBuf, ProtectionMode> = BTreeMap::new();
    for entry in found.protected.iter_mut().filter(|entry| is_mounted(entry) && is_long(entry)) {
        let around = entry.path.ancestors().find(|around| around.as_os_str().len() <= MAX_PATH);
        let cover =
            covers.entry(around.unwrap_or(Path::new("")).to_path_buf()).or_insert(ProtectionMode::ReadOnly);
        if entry.mode == ProtectionMode::Hide {
            *cover = ProtectionMode::Hide;
        }
        entry.mode = ProtectionMode::Check;
    }
    for (path, mode) in covers {
        match cover(roots, path, mode) {
            Some(entry) => found.protected.push(entry),
            None => found.searched = Searched::TooMany,
        }
    }
    if found.protected.iter().filter(|entry| is_mounted(entry)).count() > MAX_MOUNTED {
        found.searched = Searched::TooMany;
    }
    in_order(&mut found.protected);
}

/// Returns the entry of a parent directory that is protected because of a deep entry in it.
fn cover(roots: &[Root], path: PathBuf, mode: ProtectionMode) -> Option<ProtectedEntry> {
    let root = roots.iter().find(|root| path.starts_with(&root.name))?;
    let whole = root.path.join(path.strip_prefix(&root.name).ok()?);
    let (lying, around) = lying_at(roots, &whole)?;
    (lying.kind == Entry::Folder && whole != root.path).then_some(ProtectedEntry {
        path,
        kind: lying.kind,
        mode,
        stamp: lying.stamp,
        around,
    })
}

/// Sorts entries so that a parent is mounted before its children.
fn in_order(protected: &mut Vec<ProtectedEntry>) {
    protected.sort_by_cached_key(|entry| (entry.path.components().count(), entry.path.clone()));
    protected.dedup_by(|one, other| {
        let is_same = one.path == other.path;
        // A symlink in a repository may also have the name of a repository's part.
        // A name may start programs and hold secrets: then it is hidden.
        if is_same && (other.mode == ProtectionMode::Check || one.mode == ProtectionMode::Hide) {
            std::mem::swap(one, other);
        }
        is_same
    });
}

/// Searches a directory, and passes files with names of the table to a sink.
pub(crate) fn search(root: &Root, sink: impl Sink) -> Searched {
    walk(&root.path, &mut Search::new(root, sink))
}

/// The same for an open directory, which may have no path on this machine.
pub(crate) fn search_open(root: &Root, folder: OwnedFd, sink: impl Sink) -> Searched {
    walk_from(folder, &mut Search::new(root, sink))
}

/// The receiver of found files.
pub(crate) trait Sink {
    /// A file with a protected name, at the path `below` in the current directory.
    fn protected(&mut self, here: &Here<'_>, below: &Path, entry: ProtectedEntry);
    /// A file whose changes are reported.
    fn watched(&mut self, watched: Watched);
    /// A visible file with a secret.
    fn exposed(&mut self, _: Exposed) {}
    /// A stray symlink in a repository, through which git would write to another file.
    fn stray(&mut self, here: &Here<'_>, name: &Path, entry: ProtectedEntry);
    /// Another symlink, with its target.
    fn link(&mut self, here: &Here<'_>, name: &OsStr, to: &Path);
    /// A symlink with a name of files that hold secrets.
    fn linked_secret(&mut self, _: &Here<'_>, _: &Path, _: &'static Name) {}
    /// A directory that is a repository.
    fn repository(&mut self, root: &Root, here: &Here<'_>);
}

struct Search<'r, S> {
    root: &'r Root,
    sink: S,
    /// The depth of the current package directory.
    packages: Option<usize>,
    repository: InRepository,
    /// The name of the current directory, folded.
    own: String,
    /// Whether nothing in the current directory matters, except for what is in the directories in it.
    found_nothing: bool,
}

impl<S: Sink> Visit for Search<'_, S> {
    const LISTS_ONCE: bool = true;

    fn found_nothing(&self) -> bool {
        self.found_nothing
    }

    fn folder(&mut self, here: &Here<'_>) -> BTreeSet<usize> {
        let own = here.path.file_name().map(fold_os).unwrap_or_default();
        self.packages = self.packages.filter(|depth| *depth < here.depth);
        if self.packages.is_none() && PACKAGES.contains(&own.as_str()) {
            self.packages = Some(here.depth);
        }
        self.own.clone_from(&own);
        self.repository = self.repository.at(here);
        self.found_nothing = !self.repository.is_in_one();
        let Some(names) = here.names else {
            self.ask_for_each_name(here);
            return BTreeSet::new();
        };
        let passed = names.iter().enumerate().filter(|(_, entry)| self.name(here, entry)).map(|(at, _)| at);
        let passed = passed.collect();
        if own == ".git"
            || is_repository(|name| names.iter().any(|entry| entry.name.eq_ignore_ascii_case(name)))
        {
            self.parts(here);
            self.sink.repository(self.root, here);
        }
        passed
    }
}

/// Whether a row applies to files only. Directories with the name are entered.
fn is_of_files(name: &Name) -> bool {
    matches!(answer(name), Some(Answer::Hide | Answer::HideWithSecret | Answer::ReportSecrets))
}

/// Whether a file contains a secret. A file that is too large to be read counts as containing one.
fn holds_secret_below(here: &Here<'_>, below: &Path) -> bool {
    let Some(At::There(found)) = at(here.folder, below) else { return false };
    let is_file = found.kind == Entry::File;
    is_file && read_below(here.folder, below, MAX_TEXT).is_none_or(|text| contains_secret(&text))
}

fn fold_os(name: &OsStr) -> String {
    fold(&name.to_string_lossy()).into_owned()
}

impl<'r, S: Sink> Search<'r, S> {
    fn new(root: &'r Root, sink: S) -> Self {
        let repository = InRepository::default();
        Self { root, sink, packages: None, repository, own: String::new(), found_nothing: false }
    }
}

impl<S: Sink> Search<'_, S> {
    /// Reports a symlink. In a repository, its name does not matter.
    fn link(&mut self, here: &Here<'_>, name: &OsStr) {
        let Some(to) = text_of(here, name) else { return };
        let path = self.root.name.join(here.path).join(name);
        if !self.repository.is_in_one() {
            self.sink.link(here, name, &to);
        } else if !stays_in_a_repository(&to) {
            let found = at(here.folder, Path::new(name));
            let (Some(At::There(found)), Some(around)) =
                (found, around(here.around, here.folder, Path::new(name)))
            else {
                return;
            };
            let entry = ProtectedEntry {
                path,
                kind: found.kind,
                mode: ProtectionMode::Check,
                stamp: found.stamp,
                around,
            };
            self.sink.stray(here, Path::new(name), entry);
        }
    }

    /// Handles a name by the table, and returns whether the search ends there.
    fn name(&mut self, here: &Here<'_>, entry: &Listed) -> bool {
        let (name, kind) = (Path::new(&entry.name), entry.kind);
        self.found_nothing &= matches!(kind, FileType::RegularFile | FileType::Directory);
        if kind == FileType::Symlink {
            self.link(here, &entry.name);
        }
        let lossy = entry.name.to_string_lossy();
        let folded = fold(&lossy);
        if folded == ".git" {
            self.found_nothing = false;
            let mode =
                if kind == FileType::Directory { ProtectionMode::Pin } else { ProtectionMode::ReadOnly };
            self.note(here, name, mode);
            return false;
        }
        if kind == FileType::Socket {
            self.note(here, name, ProtectionMode::Hide);
            return false;
        }
        if kind == FileType::Directory && folded.starts_with(SLOTS_BESIDE) {
            self.found_nothing = false;
            self.note(here, name, ProtectionMode::Hide);
            return true;
        }
        if let Some(label) = environments::label(&self.own, &folded) {
            self.found_nothing = false;
            self.watch(here, label, name, 0);
        }
        let mut is_covered = false;
        for beginning in IN_ANY_FOLDER.with(&lossy) {
            self.found_nothing = false;
            match beginning.rest {
                Some(rest) => self.below(here, beginning.name, name, rest).iter().for_each(|path| {
                    self.answer(here, beginning.name, path);
                }),
                None if is_of_files(beginning.name) && kind == FileType::Symlink => {
                    self.sink.linked_secret(here, name, beginning.name);
                }
                None if is_of_files(beginning.name) && kind != FileType::RegularFile => {}
                None => {
                    is_covered |= answer(beginning.name) == Some(Answer::Protect) && self.packages.is_none();
                    self.answer(here, beginning.name, name);
                }
            }
        }
        is_covered
    }

    fn answer(&mut self, here: &Here<'_>, name: &'static Name, below: &Path) {
        match (answer(name), self.packages) {
            (Some(Answer::Protect), None) => self.note(here, below, ProtectionMode::ReadOnly),
            (Some(Answer::Hide), None) => self.note(here, below, ProtectionMode::Hide),
            (Some(Answer::HideWithSecret), None) if holds_secret_below(here, below) => {
                self.note(here, below, ProtectionMode::Hide);
            }
            (Some(Answer::ReportSecrets), None) if holds_secret_below(here, below) => {
                let path = self.root.name.join(here.path).join(below);
                self.sink.exposed(Exposed { path, label: name.label() });
            }
            (Some(Answer::Report), None) | (Some(Answer::Protect), Some(_)) => {
                self.watch(here, &name.label(), below, 0);
            }
            (Some(Answer::HideWithSecret | Answer::ReportSecrets), None) => {}
            (
                Some(Answer::Hide | Answer::HideWithSecret | Answer::ReportSecrets | Answer::Report),
                Some(_),
            )
            | (None, _) => {}
        }
    }

    /// Returns the paths below a name that match the rest of a pattern. Only its last component may have wildcards.
    fn below(&self, here: &Here<'_>, row: &Name, name: &Path, rest: &str) -> Vec<PathBuf> {
        if !rest.contains('*') {
            return vec![name.join(rest)];
        }
        let (folder, last) = rest.rsplit_once('/').unwrap_or(("", rest));
        let folder = name.join(folder);
        let names = list_below(here.folder, &folder);
        let paths = names.into_iter().filter(|name| fits(&fold_os(name), last)).map(|name| folder.join(name));
        paths.filter(|path| !row.excepts(path.iter().map(OsStr::to_string_lossy))).collect()
    }

    /// Handles the parts of a repository that run programs.
    fn parts(&mut self, here: &Here<'_>) {
        for (name, part) in in_a_repository() {
            match answer(name) {
                Some(Answer::Protect) => self.note(here, Path::new(part), ProtectionMode::ReadOnly),
                Some(Answer::Report) => self.watch(here, &name.label(), Path::new(part), 0),
                Some(Answer::ReportSecrets) => self.answer(here, name, Path::new(part)),
                Some(Answer::Hide | Answer::HideWithSecret) | None => {}
            }
        }
    }

    /// Reports a file with a protected name. If its path contains a symlink, the symlink is reported.
    fn note(&mut self, here: &Here<'_>, below: &Path, mode: ProtectionMode) {
        let (below, found) = match at(here.folder, below) {
            Some(At::There(found)) => (below.to_path_buf(), found),
            Some(At::BehindALink(link, found)) => (link, found),
            None => return,
        };
        let is_checked = self.packages.is_some() && mode != ProtectionMode::Hide;
        let mode = if is_checked { ProtectionMode::Check } else { mode };
        let Some(around) = around(here.around, here.folder, &below) else { return };
        let path = self.root.name.join(here.path).join(&below);
        let entry = ProtectedEntry { path, kind: found.kind, mode, stamp: found.stamp, around };
        self.sink.protected(here, &below, entry);
    }

    /// Reports the state of a watched file, or of each file in a watched directory.
    fn watch(&mut self, here: &Here<'_>, label: &str, below: &Path, depth: usize) {
        let Some(At::There(found)) = at(here.folder, below) else { return };
        if found.kind != Entry::Folder {
            let path = self.root.name.join(here.path).join(below);
            self.sink.watched(Watched { path, label: label.to_owned(), stamp: found.stamp });
            return;
        }
        if depth < REPORTED_DEPTH {
            for inner in list_below(here.folder, below) {
                self.watch(here, label, &below.join(inner), depth + 1);
            }
        }
    }

    /// Looks up each name of the table in a directory that cannot be listed, because other programs may still enter it.
    fn ask_for_each_name(&mut self, here: &Here<'_>) {
        self.note(here, Path::new(".git"), ProtectionMode::Pin);
        for (name, path) in IN_ANY_FOLDER.paths().filter(|(_, path)| !path.contains('*')) {
            self.answer(here, name, Path::new(path));
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "makes folders to look into")]

    use super::*;
    use std::fs;
    use std::os::fd::AsFd as _;

    fn look_in(folder: &Path) -> Found {
        look(&roots::roots(Some(folder), &[]))
    }

    fn paths(found: &Found) -> Vec<&str> {
        found.protected.iter().filter_map(|entry| entry.path.to_str()).collect()
    }

    fn is_known(folder: &Path) -> bool {
        let opened = walk::open_root(folder).unwrap();
        walk::known_folders(&walk::stamp_of(opened.as_fd(), Path::new("")).unwrap()).is_some()
    }

    /// Whatever changes in a directory that is known is found.
    #[test]
    fn a_directory_that_changed_is_listed_again() {
        let workspace = tempfile::tempdir().unwrap();
        let root = workspace.path().canonicalize().unwrap();
        for folder in ["plain/inner", "moved", "with/.git/hooks", "linked"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("plain/notes.txt"), "").unwrap();
        fs::write(root.join("moved/.envrc"), "").unwrap();
        std::os::unix::fs::symlink("/etc", root.join("linked/etc")).unwrap();
        assert!(paths(&look_in(&root)).iter().all(|path| !path.contains("plain")));
        assert!(!is_known(&root.join("plain")), "it changed a moment ago");
        std::thread::sleep(std::time::Duration::from_secs(3));
        let before = look_in(&root);
        let names = ["plain", "plain/inner", "moved", "with", "with/.git", "linked"];
        let known = names.map(|name| is_known(&root.join(name)));
        let [is_local, ..] = known;
        assert_eq!(known, [is_local, is_local, false, false, false, false]);
        if !is_local {
            println!("skipped: the times of this file system are not of this kernel");
        }
        assert_eq!(look_in(&root), before, "the same, although not all is listed again");

        fs::write(root.join("plain/inner/.envrc"), "").unwrap();
        fs::create_dir(root.join("plain/inner/.git")).unwrap();
        fs::rename(root.join("moved"), root.join("plain/moved")).unwrap();
        let after = look_in(&root);
        let after = paths(&after);
        for path in ["plain/inner/.envrc", "plain/inner/.git", "plain/moved/.envrc"] {
            assert!(after.iter().any(|found| found.ends_with(path)), "{path} in {after:?}");
        }
        assert!(!after.iter().any(|path| path.ends_with("/moved/.envrc") && !path.contains("plain")));
    }

    /// More names than in any real directory, and more directories.
    #[test]
    fn a_flood_of_names_hides_nothing() {
        let workspace = tempfile::tempdir().unwrap();
        let root = workspace.path().canonicalize().unwrap();
        for number in 0..3_000 {
            fs::create_dir(root.join(format!("{number}"))).unwrap();
            fs::write(root.join(format!("f{number}")), "").unwrap();
        }
        let deep = root.join("2999/a/b/c/d/e/f/g");
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join(".envrc"), "x").unwrap();
        let found = look_in(&root);
        assert_eq!(paths(&found), ["2999/a/b/c/d/e/f/g/.envrc"]);
        assert_eq!(found.searched, Searched::Fully);
    }

    /// Beyond the maximum, the search counts as incomplete, which `--require protected-names` refuses.
    #[test]
    fn a_flood_of_files_with_secrets_hides_none_of_them() {
        let workspace = tempfile::tempdir().unwrap();
        let root = workspace.path().canonicalize().unwrap();
        let token = format!("token = \"ghp_{}\"\n", "a1B2c3D4e5F6".repeat(3));
        for number in 0..=MAX_EXPOSED {
            let folder = root.join(format!("{number}"));
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("compose.yml"), if number < 150 { token.as_str() } else { "x: y\n" })
                .unwrap();
        }
        let found = look_in(&root);
        assert_eq!((found.exposed.len(), found.searched), (150, Searched::Fully));
        for number in 150..=MAX_EXPOSED {
            fs::write(root.join(format!("{number}/compose.yml")), &token).unwrap();
        }
        let found = look_in(&root);
        assert_eq!((found.exposed.len(), found.searched), (MAX_EXPOSED, Searched::InPart));
    }

    #[test]
    fn repositories_are_known_by_what_lies_in_them() {
        let workspace = tempfile::tempdir().unwrap();
        let root = workspace.path().canonicalize().unwrap();
        for (folder, parts) in [
            ("node_modules/x/bare", &["HEAD", "objects/", "refs/", "config"][..]),
            (".git/modules/a/b/c/d/e", &["HEAD", "objects/", "refs/", "hooks/"]),
            ("tree", &["HEAD", "commondir"]),
            ("plain", &["HEAD", "config", "hooks/"]),
        ] {
            for part in parts {
                let path = root.join(folder).join(part);
                match part.ends_with('/') {
                    true => fs::create_dir_all(path).unwrap(),
                    false => {
                        fs::create_dir_all(path.parent().unwrap()).unwrap();
                        fs::write(path, "").unwrap();
                    }
                }
            }
        }
        let found = look_in(&root);
        let expected =
            [".git", "tree/commondir", "node_modules/x/bare/config", ".git/modules/a/b/c/d/e/hooks"];
        assert_eq!(paths(&found), expected);
        assert_eq!(found.protected[2].mode, ProtectionMode::Check);
    }

    #[test]
    fn there_is_a_most_of_mounts() {
        let workspace = tempfile::tempdir().unwrap();
        let root = workspace.path().canonicalize().unwrap();
        for number in 0..=MAX_MOUNTED {
            fs::create_dir(root.join(format!("{number}"))).unwrap();
            fs::write(root.join(format!("{number}/.envrc")), "").unwrap();
        }
        let roots = roots::roots(Some(&root), &[]);
        let mut found = look(&roots);
        bound(&roots, &mut found);
        assert_eq!((found.protected.len(), found.searched), (MAX_MOUNTED + 1, Searched::TooMany));
        fs::remove_file(root.join("7/.envrc")).unwrap();
        let mut found = look(&roots);
        bound(&roots, &mut found);
        assert_eq!((found.protected.len(), found.searched), (MAX_MOUNTED, Searched::Fully));
    }

    /// If the path of a secret is too long for a mount, a parent directory is hidden.
    #[test]
    fn what_lies_too_deep_is_covered_with_a_folder_around_it() {
        let workspace = tempfile::tempdir().unwrap();
        let root = workspace.path().canonicalize().unwrap();
        let part = "x".repeat(200);
        let mut at = walk::open_root(&root).unwrap();
        for _ in 0..MAX_PATH / 200 + 2 {
            use rustix::fs::{Mode, OFlags, mkdirat, openat};
            mkdirat(&at, &part, Mode::RWXU).unwrap();
            at = openat(&at, &part, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap();
        }
        let create = rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY;
        rustix::fs::openat(&at, ".env", create, rustix::fs::Mode::RUSR).unwrap();
        let roots = roots::roots(Some(&root), &[]);
        let mut found = look(&roots);
        bound(&roots, &mut found);
        let modes: Vec<_> = found.protected.iter().map(|entry| (&entry.kind, entry.mode)).collect();
        assert_eq!(modes, [(&Entry::Folder, ProtectionMode::Hide), (&Entry::File, ProtectionMode::Check)]);
        assert!(found.protected[1].path.starts_with(&found.protected[0].path));
        assert!(found.protected[0].path.as_os_str().len() <= MAX_PATH && found.searched == Searched::Fully);
    }
}
