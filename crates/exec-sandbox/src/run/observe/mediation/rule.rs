//! The rules of mediation: which names a command may create, change and rename.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use rustix::fs::{FileType, Mode, OFlags, openat, readlinkat};
use stockade_git::SettingsOf;
use stockade_names::{fits, fold};

use super::contents::{
    brings_parts, completes, has_live_hooks, holds, holds_strays, is_in_a_repository, is_link, is_obeyed_in,
    is_repository, is_there, may_complete, up,
};
use super::target::NameInFolder;
use crate::host::{FileIdentity, ProtectionMode, Searched};
use crate::mounts::MountKind;
use crate::plan::Plan;
use crate::protect::{Answer, IN_ANY_FOLDER, KEPT_FOR_US, answer, is_interpreter_of_the_system, is_ours};
use crate::workspace::PACKAGES;
use crate::workspace::links::stays_in_a_repository;
use crate::workspace::roots::{Root, roots};
use crate::workspace::walk::{Here, Visit, stamp_of, walk_from};

/// Maximum number of recorded directories that the command created. Any other counts as existing before.
const MAX_MADE: usize = 200_000;

/// The kind of new or changed name.
#[derive(Debug, Clone, Copy)]
pub(super) enum Arrival<'a> {
    /// An existing file that is opened for writing.
    Opened,
    /// A new file, pipe, socket or device.
    File,
    /// A directory that is new.
    Folder,
    /// A new symlink with this target.
    Link(&'a Path),
    /// A hard link to a file.
    HardLink,
    /// A hard link to a symlink with this target.
    LinkOnceMore(&'a Path),
    /// A file that is moved from this name.
    Moved(&'a NameInFolder, FileType),
}

/// The verdict on a new or changed name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Fine,
    /// It completes a repository, whose settings are judged first.
    Completes,
    /// A copy is judged and published, because the command could change the original through an open descriptor.
    Published(SettingsOf),
    /// It is written to an unnamed file, and a copy is published afterwards. If that is impossible, it is refused for this
    /// reason.
    Written(&'static str),
    /// It is refused for this reason.
    Refused(&'static str),
}

/// A part of a repository that determines which programs git runs.
enum Part {
    Settings(SettingsOf),
    HooksFolder,
    Hook,
    /// A directory with files that git obeys. It must not be a symlink.
    Around,
    Attributes,
    /// A file with the path of the rest of the repository.
    Pointer,
}

const OBEYED: &str = "other programs obey this file";
const LED_TO: &str = "settings or a symlink of the user refer to this path";
const SETTINGS: &str = "git runs programs that its settings name; only git itself may write them";
const HOOK: &str = "git runs this file";
const ATTRIBUTES: &str = "git selects programs to run by this file";
const POINTER: &str = "it would redirect git to another repository";
const STRAYS: &str = "git would write through a symlink to another file";
const KEPT: &str = "it is or contains an existing file that other programs obey";

/// The rules for one command.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) roots: Vec<Root>,
    /// Writable directories in the repository of a linked worktree.
    worktree: Vec<PathBuf>,
    /// Paths that cannot be renamed.
    kept: BTreeSet<PathBuf>,
    /// Targets of the user's settings and symlinks.
    git_targets: BTreeSet<PathBuf>,
    /// Files that link worktrees to their repository. They can be deleted, and nothing can be created in their place.
    pointers: BTreeSet<PathBuf>,
    /// Directories that the command created.
    made: RwLock<HashSet<FileIdentity>>,
    /// Paths of existing directories that the command moved or removed. A new directory there counts as existing before, because
    /// other programs may use it by its path.
    left: RwLock<BTreeSet<PathBuf>>,
}

impl Rules {
    pub(super) fn of(plan: &Plan) -> Self {
        let (workspace, others) = plan.guarded();
        let roots = roots(workspace, &others);
        let whole = |path: &Path| plan.workspace.join(path);
        let protected = plan.protected.iter().filter(|entry| entry.mode != ProtectionMode::Hide);
        let is_within =
            |path: &Path| roots.iter().any(|root| path != root.path && path.starts_with(&root.path));
        // Hidden files may be renamed, and stay hidden.
        let mounted = plan.mounts.iter().filter(|mount| !matches!(mount.kind, MountKind::Hidden { .. }));
        let mounted = mounted.map(|mount| mount.target.clone()).filter(|path| is_within(path));
        let kept = protected.map(|entry| whole(&entry.path)).chain(mounted).collect();
        let git_targets = plan.git_targets.iter().map(|path| whole(path)).collect();
        Self {
            roots,
            worktree: plan.of_a_worktree(),
            kept,
            git_targets,
            pointers: plan.removable_pointers(),
            made: RwLock::default(),
            left: RwLock::default(),
        }
    }

    /// Records a directory that the command created.
    pub(super) fn made(&self, place: &NameInFolder) {
        let Ok(stamp) = stamp_of(place.folder.as_fd(), Path::new(&place.name)) else { return };
        // Moving a directory away and creating it again must not make it one of the command, in which protected names
        // are permitted.
        if self.is_left(&place.whole()) {
            return;
        }
        let mut made = self.made.write().unwrap_or_else(PoisonError::into_inner);
        // Beyond the limit, a directory counts as one of the user, which is stricter.
        if made.len() < MAX_MADE {
            made.insert(stamp.file);
        }
    }

    /// Records that a directory is about to be moved or removed. Beyond the maximum number of records, every new directory counts
    /// as existing before.
    pub(super) fn leaves_empty(&self, place: &NameInFolder) {
        if self.is_made_in(place) {
            return;
        }
        let mut left = self.left.write().unwrap_or_else(PoisonError::into_inner);
        // `/` is an ancestor of every path: when the records are full, no new directory counts as the command's.
        let whole = if left.len() < MAX_MADE { place.whole() } else { PathBuf::from("/") };
        left.insert(whole);
    }

    /// Whether a path is, or was, or is below, a directory that the command did not create.
    pub(super) fn is_of_others(&self, place: &NameInFolder) -> bool {
        let is_there = place.kind() == Some(FileType::Directory) && !self.is_made_in(place);
        is_there || self.is_left(&place.whole())
    }

    /// Treats directories of the command that replace an existing one as existing before. Returns whether one of them contains a
    /// file that other programs obey, or cannot be read.
    pub(super) fn hands_over(&self, place: &NameInFolder) -> bool {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(folder) = openat(&place.folder, &place.name, flags, Mode::empty()) else { return true };
        let mut inside = Inside::default();
        let searched = walk_from(folder, &mut inside);
        // The exchange would put an unchecked file under a path that other programs use from now on, not at the end
        // of the command.
        if inside.holds_obeyed || searched == Searched::InPart {
            return true;
        }
        let mut made = self.made.write().unwrap_or_else(PoisonError::into_inner);
        // The path belongs to the user, so later names in it are refused, as if the directory had been there before.
        made.retain(|folder| !inside.folders.contains(folder));
        false
    }

    /// Whether a directory that is moved out of a package directory, where names are not protected, contains protected names in
    /// directories that the command did not create. Those in its own directories are quarantined at the end.
    pub(super) fn arms(&self, from: &NameInFolder, to: &NameInFolder) -> bool {
        // Package directories contain thousands of protected names from registries. They have an effect only outside.
        if !self.is_in_packages(from) || self.is_in_packages(to) {
            return false;
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(folder) = openat(&from.folder, &from.name, flags, Mode::empty()) else { return true };
        let mut visit = Arming { rules: self, are_there: false };
        walk_from(folder, &mut visit) == Searched::InPart || visit.are_there
    }

    /// Whether a path is a package directory, or below one.
    fn is_in_packages(&self, place: &NameInFolder) -> bool {
        let Some(root) = self.roots.iter().find(|root| place.path.starts_with(&root.path)) else {
            return false;
        };
        let below = place.path.strip_prefix(&root.path).unwrap_or(Path::new(""));
        below.iter().chain([&*place.name]).any(|name| PACKAGES.contains(&&*fold(&name.to_string_lossy())))
    }

    fn is_left(&self, path: &Path) -> bool {
        let left = self.left.read().unwrap_or_else(PoisonError::into_inner);
        !left.is_empty() && path.ancestors().any(|around| left.contains(around))
    }

    /// Whether the command created the directory with this identity.
    pub(super) fn has_made(&self, folder: &FileIdentity) -> bool {
        self.made.read().unwrap_or_else(PoisonError::into_inner).contains(folder)
    }

    fn is_made(&self, folder: BorrowedFd<'_>) -> bool {
        stamp_of(folder, Path::new("")).is_ok_and(|stamp| self.has_made(&stamp.file))
    }

    fn is_made_in(&self, place: &NameInFolder) -> bool {
        let stamp = stamp_of(place.folder.as_fd(), Path::new(&place.name));
        stamp.is_ok_and(|stamp| self.has_made(&stamp.file))
    }

    /// Judges a new or changed name.
    pub(super) fn arrives(&self, place: &NameInFolder, what: Arrival<'_>) -> Verdict {
        let Some(root) = self.roots.iter().find(|root| place.path.starts_with(&root.path)) else {
            return self.strays(place, what).map_or(Verdict::Fine, Verdict::Refused);
        };
        let name = place.name.to_string_lossy();
        let name = fold(&name);
        // Names with this prefix hide copies and overlays of this program, so a command must not prepare one.
        if is_kept_for_us(place, root) {
            return Verdict::Refused(KEPT_FOR_US);
        }
        if let Some(why) = self.is_led_to(place, what) {
            return Verdict::Refused(why);
        }
        if !self.pointers.is_empty() && self.pointers.contains(&place.whole()) {
            return Verdict::Refused(POINTER);
        }
        if let Some(why) = self.strays(place, what) {
            return Verdict::Refused(why);
        }
        // The parts of a repository come before other names: git runs hooks and filters without asking.
        if let Some(part) = part(place, &name) {
            return self.part(place, &part, what);
        }
        // The last part to appear turns a plain directory into a repository, with the settings that are already in it.
        if !matches!(what, Arrival::Opened) && completes(place) {
            return Verdict::Completes;
        }
        self.tools(place, root, &name, what)
    }

    /// Returns why a symlink, or a directory with symlinks, cannot be created in a repository: git would write through it to
    /// another file.
    pub(super) fn strays(&self, place: &NameInFolder, what: Arrival<'_>) -> Option<&'static str> {
        let is_in_one = |is_folder| match self.roots.iter().find(|root| place.path.starts_with(&root.path)) {
            Some(root) => is_in_a_repository(place, root, is_folder),
            None => self.worktree.iter().any(|folder| place.path.starts_with(folder)),
        };
        let strays = match what {
            // Git opens `refs`, `objects` and the index for writing through symlinks, with the rights of the user
            // outside of the sandbox.
            Arrival::Link(to) | Arrival::LinkOnceMore(to) => !stays_in_a_repository(to) && is_in_one(false),
            Arrival::Moved(from, FileType::Symlink) => {
                let to = readlinkat(&from.folder, &from.name, Vec::new());
                let stays = |to: &CString| stays_in_a_repository(Path::new(OsStr::from_bytes(to.as_bytes())));
                !to.is_ok_and(|to| stays(&to)) && is_in_one(false)
            }
            Arrival::Moved(from, FileType::Directory) if is_in_one(true) => {
                let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                openat(&from.folder, &from.name, flags, Mode::empty()).map_or(true, holds_strays)
            }
            _ => false,
        };
        strays.then_some(STRAYS)
    }

    /// Returns why a file cannot be renamed; nothing if it can.
    pub(super) fn leaves(&self, place: &NameInFolder) -> Option<&'static str> {
        let root = self.roots.iter().find(|root| place.path.starts_with(&root.path));
        if root.is_some_and(|root| is_kept_for_us(place, root)) {
            return Some(KEPT_FOR_US);
        }
        let whole = place.whole();
        // Paths are sorted by components, so the first entry from here on is the one below, if there is one.
        let first = self.kept.range(whole.clone()..).next();
        first.is_some_and(|kept| kept.starts_with(&whole)).then_some(KEPT)
    }

    /// Whether other programs obey a file, so that it cannot get a second name.
    pub(super) fn is_obeyed(&self, place: &NameInFolder) -> bool {
        let Some(root) = self.roots.iter().find(|root| place.path.starts_with(&root.path)) else {
            return false;
        };
        let name = place.name.to_string_lossy();
        let name = fold(&name);
        is_kept_for_us(place, root)
            || part(place, &name).is_some()
            || self.leaves(place).is_some()
            || self.tools(place, root, &name, Arrival::Opened) != Verdict::Fine
    }

    /// Returns why a name is refused to which settings or symlinks of the user refer, directly or below a moved directory.
    fn is_led_to(&self, place: &NameInFolder, what: Arrival<'_>) -> Option<&'static str> {
        if self.git_targets.is_empty() {
            return None;
        }
        let whole = place.whole();
        // The user's `core.hooksPath` or `include.path` refers to it, so git runs or reads it whatever its name is.
        if whole.ancestors().any(|around| self.git_targets.contains(around)) {
            return Some(LED_TO);
        }
        let inner = self.git_targets.range(whole.clone()..).take_while(|path| path.starts_with(&whole));
        let mut inner = inner.filter_map(|path| path.strip_prefix(&whole).ok());
        let leads_on = match what {
            // An empty file or directory leads nowhere. Names below a new directory are judged when they appear.
            Arrival::Opened | Arrival::File | Arrival::Folder => false,
            // A symlink would redirect the path to an unprotected place.
            Arrival::Link(_) | Arrival::HardLink | Arrival::LinkOnceMore(_) => inner.next().is_some(),
            Arrival::Moved(from, FileType::Directory) => {
                let from_there = |inner: &Path| Path::new(&from.name).join(inner);
                inner.any(|inner| {
                    let mut around = inner.ancestors().skip(1).filter(|part| !part.as_os_str().is_empty());
                    is_there(from.folder.as_fd(), &from_there(inner))
                        || around.any(|part| is_link(from.folder.as_fd(), &from_there(part)))
                })
            }
            Arrival::Moved(..) => inner.next().is_some(),
        };
        leads_on.then_some(LED_TO)
    }

    fn part(&self, place: &NameInFolder, part: &Part, what: Arrival<'_>) -> Verdict {
        use Arrival::{Folder, Link, Moved, Opened};
        let folder = place.folder.as_fd();
        match (part, what) {
            // Git itself writes `config.lock` and renames it, so a rename is the normal way, and its content can be
            // judged.
            (Part::Settings(kind), Moved(_, FileType::RegularFile)) => Verdict::Published(*kind),
            // Git's checkout writes it directly, so it is judged when the command ends.
            (Part::Settings(SettingsOf::Submodules), Opened | Arrival::File) => Verdict::Fine,
            // Until the directory is a complete repository, git does not read them; then they are judged.
            (Part::Settings(_), Opened | Arrival::File) if !is_repository(folder) && self.is_made(folder) => {
                Verdict::Fine
            }
            // `git clone` creates `config` directly. It is written to an unnamed file, and judged before it gets its
            // name.
            (Part::Settings(SettingsOf::Repository), Arrival::File) if self.is_made(folder) => {
                Verdict::Written(SETTINGS)
            }
            (Part::Settings(_), _) => Verdict::Refused(SETTINGS),
            (Part::HooksFolder, Folder) => Verdict::Fine,
            (Part::HooksFolder, Moved(from, FileType::Directory))
                if !has_live_hooks(from.folder.as_fd(), &from.name) =>
            {
                Verdict::Fine
            }
            (Part::HooksFolder, _) => Verdict::Refused(HOOK),
            // `git init` creates samples, which git never runs under that name.
            (Part::Hook, Opened | Arrival::File) if place.name.as_encoded_bytes().ends_with(b".sample") => {
                Verdict::Fine
            }
            (Part::Hook, _) => Verdict::Refused(HOOK),
            (Part::Around, Folder) if may_complete(place) && completes(place) => Verdict::Completes,
            (Part::Around, Folder) => Verdict::Fine,
            (Part::Around, Moved(from, FileType::Directory)) if !brings_parts(from) => {
                if completes(place) {
                    Verdict::Completes
                } else {
                    Verdict::Fine
                }
            }
            (Part::Around, _) => Verdict::Refused(ATTRIBUTES),
            (Part::Attributes, _) => Verdict::Refused(ATTRIBUTES),
            (Part::Pointer, Link(_) | Arrival::HardLink | Arrival::LinkOnceMore(_)) => {
                Verdict::Refused(POINTER)
            }
            // `git worktree add` and `git submodule` create a `.git` file in a directory of their own.
            (Part::Pointer, _) if self.is_made(folder) => Verdict::Fine,
            (Part::Pointer, _) => Verdict::Refused(POINTER),
        }
    }

    /// Judges names that other tools obey. In a directory that the command created itself, as by unpacking or cloning, they are
    /// permitted, and quarantined at the end.
    fn tools(&self, place: &NameInFolder, root: &Root, name: &str, what: Arrival<'_>) -> Verdict {
        let below = place.path.strip_prefix(&root.path).unwrap_or(Path::new(""));
        let mut names: Vec<String> =
            below.iter().map(|part| fold(&part.to_string_lossy()).into_owned()).collect();
        names.push(name.to_owned());
        for (at, first) in names.iter().enumerate() {
            // A protected path can start at any depth, because programs search their settings in every parent
            // directory.
            for beginning in IN_ANY_FOLDER.with(first) {
                if answer(beginning.name) != Some(Answer::Protect) {
                    continue;
                }
                let following = names.get(at + 1..).unwrap_or_default();
                let is_meant = match beginning.rest {
                    None => true,
                    Some(rest) => is_path(following, rest) || self.brings(what, following, rest),
                };
                // The directory that contains the first component decides: a program finds the path from there.
                let around = names.len() - 1 - at;
                if is_meant && !self.is_judged_later(name, what) && !self.is_made_around(place, around) {
                    return Verdict::Refused(OBEYED);
                }
            }
            // In package directories, names are only reported.
            if PACKAGES.contains(&first.as_str()) {
                break;
            }
        }
        Verdict::Fine
    }

    /// Whether the command created the directory this many levels up.
    fn is_made_around(&self, place: &NameInFolder, levels: usize) -> bool {
        match levels {
            0 => self.is_made(place.folder.as_fd()),
            levels => up(place.folder.as_fd(), levels).is_some_and(|folder| self.is_made(folder.as_fd())),
        }
    }

    /// Whether a moved directory contains a path that matches a pattern.
    fn brings(&self, what: Arrival<'_>, names: &[String], pattern: &str) -> bool {
        let Arrival::Moved(from, FileType::Directory) = what else { return false };
        let mut parts = pattern.split('/');
        let leads_there = names.iter().all(|name| parts.next().is_some_and(|part| fits(name, part)));
        let rest = parts.collect::<Vec<&str>>().join("/");
        // Files that are judged by content are checked when the command ends.
        let is_judged = matches!(rest.rsplit('/').next(), Some("pyvenv.cfg" | "hgrc"));
        if !leads_there || rest.is_empty() || is_judged {
            return false;
        }
        // The directory must be listed to compare its names with the pattern.
        if rest.contains('*') {
            return holds(from.folder.as_fd(), &from.name, &rest);
        }
        let path = Path::new(&from.name).join(&rest);
        match readlinkat(&from.folder, &path, Vec::new()) {
            Ok(to) => !self.is_interpreter(Path::new(OsStr::from_bytes(to.as_bytes()))),
            Err(_) => is_there(from.folder.as_fd(), &path),
        }
    }

    /// Whether a file is judged by its content when the command ends.
    fn is_judged_later(&self, name: &str, what: Arrival<'_>) -> bool {
        match (name, what) {
            (".gitmodules" | "pyvenv.cfg" | "hgrc", Arrival::File | Arrival::Opened) => true,
            // `python -m venv` creates a link to the interpreter, which is harmless if it is the system's.
            ("python" | "python3", Arrival::Link(to)) => self.is_interpreter(to),
            _ => false,
        }
    }

    /// Whether a symlink points to an interpreter that no command can have written, or to another symlink beside it.
    fn is_interpreter(&self, to: &Path) -> bool {
        const OWN: &[&str] = &["/tmp", "/var/tmp", "/dev", "/proc", "/run"];
        let is_plain = to.components().all(|part| !matches!(part, Component::ParentDir));
        let is_own = OWN.iter().any(|own| to.starts_with(own)) || self.is_within(to);
        is_interpreter_of_the_system(to) || (is_plain && to.is_absolute() && !is_own)
    }

    pub(super) fn is_within(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(&root.path))
    }
}

/// Whether a path, or one of its parents in the workspace, is reserved for this program.
fn is_kept_for_us(place: &NameInFolder, root: &Root) -> bool {
    let below = place.path.strip_prefix(&root.path).unwrap_or(Path::new(""));
    is_ours(below) || is_ours(Path::new(&place.name))
}

/// Whether these names match all components of a pattern.
fn is_path(names: &[String], pattern: &str) -> bool {
    names.len() == pattern.split('/').count()
        && names.iter().zip(pattern.split('/')).all(|(name, part)| fits(name, part))
}

/// Returns which part of a repository a name is, if the directory is in one.
fn part(place: &NameInFolder, name: &str) -> Option<Part> {
    let around = || place.path.file_name().map(|name| fold(&name.to_string_lossy()).into_owned());
    let folder = place.folder.as_fd();
    let is_part = |levels: usize| match up(folder, levels) {
        Some(up) => is_repository(up.as_fd()),
        None => levels == 0 && is_repository(folder),
    };
    let is_named = |levels: usize| {
        let git = place.path.ancestors().nth(levels).and_then(Path::file_name);
        git.is_some_and(|name| fold(&name.to_string_lossy()) == ".git")
    };
    match name {
        ".gitmodules" => return Some(Part::Settings(SettingsOf::Submodules)),
        "config" | "config.worktree" if is_named(0) || is_part(0) => {
            return Some(Part::Settings(SettingsOf::Repository));
        }
        "hooks" if is_named(0) || is_part(0) => return Some(Part::HooksFolder),
        "info" | "objects" if is_named(0) || is_part(0) => return Some(Part::Around),
        "commondir" | "gitdir" if is_part(0) => return Some(Part::Pointer),
        _ => {}
    }
    match around()?.as_str() {
        "hooks" if is_named(1) || is_part(1) => Some(Part::Hook),
        "info" if name == "attributes" && (is_named(1) || is_part(1)) => Some(Part::Attributes),
        "info" if name == "alternates" && is_part(2) => Some(Part::Pointer),
        _ => None,
    }
}

/// The content of a directory that replaces an existing one.
#[derive(Default)]
struct Inside {
    folders: HashSet<FileIdentity>,
    holds_obeyed: bool,
}

impl Visit for Inside {
    fn folder(&mut self, here: &Here<'_>) -> BTreeSet<usize> {
        self.folders.extend(stamp_of(here.folder, Path::new("")).ok().map(|stamp| stamp.file));
        let names = here.names.unwrap_or_default().iter();
        let obeyed = names.filter(|entry| is_obeyed_in(here.folder, &entry.name.to_string_lossy()));
        self.holds_obeyed |= obeyed.count() > 0;
        BTreeSet::new()
    }
}

/// Searches for obeyed names in directories that the command did not create.
struct Arming<'r> {
    rules: &'r Rules,
    are_there: bool,
}

impl Visit for Arming<'_> {
    fn folder(&mut self, here: &Here<'_>) -> BTreeSet<usize> {
        let names = here.names.unwrap_or_default().iter();
        let is_obeyed =
            names.into_iter().any(|entry| is_obeyed_in(here.folder, &entry.name.to_string_lossy()));
        self.are_there |= is_obeyed && !self.rules.is_made(here.folder);
        BTreeSet::new()
    }
}
