//! What may come to lie under a name, and what may leave it.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use rustix::fs::{FileType, Mode, OFlags, openat, readlinkat};
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
use crate::workspace::settings::SettingsOf;
use crate::workspace::walk::{Here, Visit, stamp_of, walk_from};

/// How many folders are remembered that the command made. One that is not counts as one that was there before.
const MAX_MADE: usize = 200_000;

/// What comes to lie under a name.
#[derive(Debug, Clone, Copy)]
pub(super) enum Arrival<'a> {
    /// It is there, and is opened to be changed.
    Opened,
    /// A new file, or what is like one.
    File,
    /// A new, empty folder.
    Folder,
    /// A link that says this.
    Link(&'a Path),
    /// What has another name already, and keeps that.
    HardLink,
    /// The same for a link, which says this.
    LinkOnceMore(&'a Path),
    /// What lay in this place.
    Moved(&'a NameInFolder, FileType),
}

/// What the rules say about something that comes to lie under a name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Fine,
    /// It makes a repository of the folder, whose settings are judged first.
    Completes,
    /// A copy of it is judged and put in place: of what the command has open, it could be changed later.
    Published(SettingsOf),
    /// It is written where nobody obeys it, and a copy of it is put in place when that is over. Where that cannot be, it may not lie
    /// there, for this reason.
    Written(&'static str),
    /// It may not lie there, for this reason.
    Refused(&'static str),
}

/// A part of a repository that decides what git runs.
enum Part {
    Settings(SettingsOf),
    HooksFolder,
    Hook,
    /// What git obeys lies in it: it is a folder, and no link to one.
    Around,
    Attributes,
    /// It says where the rest of the repository is.
    Pointer,
}

const OBEYED: &str = "other programs obey what is there";
const LED_TO: &str = "settings or a link of the user's lead there";
const SETTINGS: &str = "git runs programs that its settings name; they change where git itself writes them";
const HOOK: &str = "git runs what is there";
const ATTRIBUTES: &str = "git picks the programs that it runs by it";
const POINTER: &str = "it would lead git to another repository";
const STRAYS: &str = "git would write through a link to another file";
const KEPT: &str = "something in it that other programs obey was there before, and stays where it is";

/// What is decided by.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) roots: Vec<Root>,
    /// Folders of the repository that a linked worktree belongs to, which git writes to.
    worktree: Vec<PathBuf>,
    /// What stays where it is.
    kept: BTreeSet<PathBuf>,
    /// What the user's settings and links lead to.
    led_to: BTreeSet<PathBuf>,
    /// Folders that the command made.
    made: RwLock<HashSet<FileIdentity>>,
    /// Where folders lay that the command did not make, and that it moved away or removed: what it makes there counts as if it
    /// had been there before, since other programs may have it open by its path.
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
        // What is hidden may be moved, and stays hidden.
        let mounted = plan.mounts.iter().filter(|mount| !matches!(mount.kind, MountKind::Hidden { .. }));
        let mounted = mounted.map(|mount| mount.target.clone()).filter(|path| is_within(path));
        let kept = protected.map(|entry| whole(&entry.path)).chain(mounted).collect();
        let led_to = plan.led_to.iter().map(|path| whole(path)).collect();
        Self {
            roots,
            worktree: plan.of_a_worktree(),
            kept,
            led_to,
            made: RwLock::default(),
            left: RwLock::default(),
        }
    }

    /// Remembers a folder that the command made.
    pub(super) fn made(&self, place: &NameInFolder) {
        let Ok(stamp) = stamp_of(place.folder.as_fd(), Path::new(&place.name)) else { return };
        if self.is_left(&place.whole()) {
            return;
        }
        let mut made = self.made.write().unwrap_or_else(PoisonError::into_inner);
        if made.len() < MAX_MADE {
            made.insert(stamp.file);
        }
    }

    /// Remembers that a folder is about to leave its place. No more is remembered than of what was made: beyond that, all that is made counts
    /// as if it had been there before.
    pub(super) fn leaves_empty(&self, place: &NameInFolder) {
        if self.is_made_in(place) {
            return;
        }
        let mut left = self.left.write().unwrap_or_else(PoisonError::into_inner);
        let whole = if left.len() < MAX_MADE { place.whole() } else { PathBuf::from("/") };
        left.insert(whole);
    }

    /// Whether a folder that the command did not make lies in a place, or lay there, or around it.
    pub(super) fn is_of_others(&self, place: &NameInFolder) -> bool {
        let is_there = place.kind() == Some(FileType::Directory) && !self.is_made_in(place);
        is_there || self.is_left(&place.whole())
    }

    /// Takes folders that the command made, and that come to lie where one of others lay, for theirs. Says whether one of them holds what
    /// other programs obey, or cannot be looked into.
    pub(super) fn hands_over(&self, place: &NameInFolder) -> bool {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(folder) = openat(&place.folder, &place.name, flags, Mode::empty()) else { return true };
        let mut inside = Inside::default();
        let searched = walk_from(folder, &mut inside);
        if inside.holds_obeyed || searched == Searched::InPart {
            return true;
        }
        let mut made = self.made.write().unwrap_or_else(PoisonError::into_inner);
        made.retain(|folder| !inside.folders.contains(folder));
        false
    }

    /// Whether a folder that leaves folders of packages, where names are not obeyed, holds some that are where it comes to lie, in folders
    /// that the command did not make: what lies in its own is taken away at the end.
    pub(super) fn arms(&self, from: &NameInFolder, to: &NameInFolder) -> bool {
        if !self.is_in_packages(from) || self.is_in_packages(to) {
            return false;
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(folder) = openat(&from.folder, &from.name, flags, Mode::empty()) else { return true };
        let mut visit = Arming { rules: self, are_there: false };
        walk_from(folder, &mut visit) == Searched::InPart || visit.are_there
    }

    /// Whether a place lies in a folder of packages, or is one.
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

    /// Whether the command made the folder with this identity.
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

    /// Says what the rules say where something comes to lie in a place, or is changed there.
    pub(super) fn arrives(&self, place: &NameInFolder, what: Arrival<'_>) -> Verdict {
        let Some(root) = self.roots.iter().find(|root| place.path.starts_with(&root.path)) else {
            return self.strays(place, what).map_or(Verdict::Fine, Verdict::Refused);
        };
        let name = place.name.to_string_lossy();
        let name = fold(&name);
        if is_kept_for_us(place, root) {
            return Verdict::Refused(KEPT_FOR_US);
        }
        if let Some(why) = self.is_led_to(place, what) {
            return Verdict::Refused(why);
        }
        if let Some(why) = self.strays(place, what) {
            return Verdict::Refused(why);
        }
        if let Some(part) = part(place, &name) {
            return self.part(place, &part, what);
        }
        if !matches!(what, Arrival::Opened) && completes(place) {
            return Verdict::Completes;
        }
        self.tools(place, root, &name, what)
    }

    /// Why a link does not come to lie in a repository, by itself or in a folder: git would write through it to another file.
    pub(super) fn strays(&self, place: &NameInFolder, what: Arrival<'_>) -> Option<&'static str> {
        let is_in_one = |is_folder| match self.roots.iter().find(|root| place.path.starts_with(&root.path)) {
            Some(root) => is_in_a_repository(place, root, is_folder),
            None => self.worktree.iter().any(|folder| place.path.starts_with(folder)),
        };
        let strays = match what {
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

    /// Why something does not leave its place; nothing if it may.
    pub(super) fn leaves(&self, place: &NameInFolder) -> Option<&'static str> {
        let root = self.roots.iter().find(|root| place.path.starts_with(&root.path));
        if root.is_some_and(|root| is_kept_for_us(place, root)) {
            return Some(KEPT_FOR_US);
        }
        let whole = place.whole();
        let first = self.kept.range(whole.clone()..).next();
        first.is_some_and(|kept| kept.starts_with(&whole)).then_some(KEPT)
    }

    /// Whether what lies in a place decides what other programs run, so that it gets no second name.
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

    /// Whether settings or links of the user's lead to a place, or to what is in the folder that comes there.
    fn is_led_to(&self, place: &NameInFolder, what: Arrival<'_>) -> Option<&'static str> {
        if self.led_to.is_empty() {
            return None;
        }
        let whole = place.whole();
        if whole.ancestors().any(|around| self.led_to.contains(around)) {
            return Some(LED_TO);
        }
        let inner = self.led_to.range(whole.clone()..).take_while(|path| path.starts_with(&whole));
        let mut inner = inner.filter_map(|path| path.strip_prefix(&whole).ok());
        let leads_on = match what {
            Arrival::Opened | Arrival::File | Arrival::Folder => false,
            // Somewhere else, where nobody looks.
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
            (Part::Settings(kind), Moved(_, FileType::RegularFile)) => Verdict::Published(*kind),
            // What git checks out is written by no other way; it is judged afterwards.
            (Part::Settings(SettingsOf::Submodules), Opened | Arrival::File) => Verdict::Fine,
            // Until the folder is a repository, nobody obeys them; then they are judged.
            (Part::Settings(_), Opened | Arrival::File) if !is_repository(folder) && self.is_made(folder) => {
                Verdict::Fine
            }
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
            (Part::Pointer, _) if self.is_made(folder) => Verdict::Fine,
            (Part::Pointer, _) => Verdict::Refused(POINTER),
        }
    }

    /// Names by which other tools are told what to run. In a folder that the command made itself, as by unpacking or cloning,
    /// they appear, and are taken away at the end.
    fn tools(&self, place: &NameInFolder, root: &Root, name: &str, what: Arrival<'_>) -> Verdict {
        let below = place.path.strip_prefix(&root.path).unwrap_or(Path::new(""));
        let mut names: Vec<String> =
            below.iter().map(|part| fold(&part.to_string_lossy()).into_owned()).collect();
        names.push(name.to_owned());
        for (at, first) in names.iter().enumerate() {
            for beginning in IN_ANY_FOLDER.with(first) {
                if answer(beginning.name) != Some(Answer::Protect) {
                    continue;
                }
                let following = names.get(at + 1..).unwrap_or_default();
                let is_meant = match beginning.rest {
                    None => true,
                    Some(rest) => is_path(following, rest) || self.brings(what, following, rest),
                };
                let around = names.len() - 1 - at;
                if is_meant && !self.is_judged_later(name, what) && !self.is_made_around(place, around) {
                    return Verdict::Refused(OBEYED);
                }
            }
            // In folders of packages, names are reported and no more.
            if PACKAGES.contains(&first.as_str()) {
                break;
            }
        }
        Verdict::Fine
    }

    /// Whether the command made the folder so many levels up.
    fn is_made_around(&self, place: &NameInFolder, levels: usize) -> bool {
        match levels {
            0 => self.is_made(place.folder.as_fd()),
            levels => up(place.folder.as_fd(), levels).is_some_and(|folder| self.is_made(folder.as_fd())),
        }
    }

    /// Whether a folder that comes holds what a pattern says.
    fn brings(&self, what: Arrival<'_>, names: &[String], pattern: &str) -> bool {
        let Arrival::Moved(from, FileType::Directory) = what else { return false };
        let mut parts = pattern.split('/');
        let leads_there = names.iter().all(|name| parts.next().is_some_and(|part| fits(name, part)));
        let rest = parts.collect::<Vec<&str>>().join("/");
        // What is judged by its content is judged afterwards.
        let is_judged = matches!(rest.rsplit('/').next(), Some("pyvenv.cfg" | "hgrc"));
        if !leads_there || rest.is_empty() || is_judged {
            return false;
        }
        if rest.contains('*') {
            return holds(from.folder.as_fd(), &from.name, &rest);
        }
        let path = Path::new(&from.name).join(&rest);
        match readlinkat(&from.folder, &path, Vec::new()) {
            Ok(to) => !self.is_interpreter(Path::new(OsStr::from_bytes(to.as_bytes()))),
            Err(_) => is_there(from.folder.as_fd(), &path),
        }
    }

    /// Whether what a file says decides, so that it is judged when all is written.
    fn is_judged_later(&self, name: &str, what: Arrival<'_>) -> bool {
        match (name, what) {
            (".gitmodules" | "pyvenv.cfg" | "hgrc", Arrival::File | Arrival::Opened) => true,
            ("python" | "python3", Arrival::Link(to)) => self.is_interpreter(to),
            _ => false,
        }
    }

    /// Whether a link leads to an interpreter that no command can have written, or to another link beside it.
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

/// Whether this program keeps a place for itself, or what lies around it in the workspace.
fn is_kept_for_us(place: &NameInFolder, root: &Root) -> bool {
    let below = place.path.strip_prefix(&root.path).unwrap_or(Path::new(""));
    is_ours(below) || is_ours(Path::new(&place.name))
}

/// Whether these names, and no more, are what a pattern says.
fn is_path(names: &[String], pattern: &str) -> bool {
    names.len() == pattern.split('/').count()
        && names.iter().zip(pattern.split('/')).all(|(name, part)| fits(name, part))
}

/// Which part of a repository a name stands for, if the folder is in one.
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

/// What lies in a folder that comes to lie where one of others lay.
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

/// Looks for names that are obeyed in folders that the command did not make.
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
