//! Selects changes, orders them, and finds conflicts.

#![expect(clippy::disallowed_methods, reason = "looks into folders of workspaces")]

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Bound;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, Dir, Mode, OFlags, accessat};

use super::at::{FOLDER, Look, Tree, is_gone};
use super::change::{ChangeKind, ChangeState, FileChange};
use super::error::ReviewError;
use super::indexes::Indexes;
use super::layer::{Settled, Status};
use super::manifest::Manifest;
use crate::workspace::walk::in_an_open_folder;

/// A selection of changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ChangeSelection {
    /// All changes in the required state.
    #[default]
    All,
    /// Changes at these paths of the workspace and below, with the parent directories that they need.
    Paths(Vec<PathBuf>),
}

/// A conflict of a change with the workspace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Conflict {
    /// The path of the change, below the workspace.
    pub path: PathBuf,
    /// The reason.
    pub why: String,
    /// The unchanged group: a repository, or the workspace without its repositories.
    pub group: PathBuf,
}

/// The chosen changes, and the others.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    /// The numbers of the changes, in order.
    pub(super) order: Vec<usize>,
    pub(super) conflicts: Vec<Conflict>,
    /// Changes that are never applied, with the reason.
    pub(super) refused: Vec<(PathBuf, String)>,
}

const CHANGED: &str = "you changed it meanwhile";
const REMOVED: &str = "you removed it meanwhile";
const MADE: &str = "you created a file with that name meanwhile";
const ADDED: &str = "you added a file to the directory meanwhile";
const LED_AWAY: &str = "its parent directory is gone, is a symlink now, or is on another file system";
const NOT_WRITABLE: &str = "its parent directory is not writable";
const CHANGED_SINCE: &str = "you changed it since it was applied";
const REMOVED_SINCE: &str = "you removed it since it was applied";
const MADE_SINCE: &str = "you created a file with that name since it was deleted";
const ADDED_SINCE: &str = "you added a file to the directory since it was created";

/// The changes of a layer, by path.
#[derive(Debug)]
pub(super) struct Changes<'c> {
    pub(super) all: &'c [FileChange],
    by_path: BTreeMap<&'c Path, usize>,
}

impl<'c> Changes<'c> {
    pub(super) fn new(all: &'c [FileChange]) -> Self {
        Self {
            all,
            by_path: all.iter().enumerate().map(|(at, change)| (change.path.as_path(), at)).collect(),
        }
    }

    fn at(&self, path: &Path) -> Option<(usize, &'c FileChange)> {
        let number = *self.by_path.get(path)?;
        Some((number, self.all.get(number)?))
    }

    /// Returns the selected changes in a state, with the parent directories that they need.
    pub(super) fn meant(
        &self,
        selection: &ChangeSelection,
        state: ChangeState,
    ) -> Result<BTreeSet<usize>, ReviewError> {
        let is_so_far = |number: &usize| self.all.get(*number).is_some_and(|change| change.state == state);
        let ChangeSelection::Paths(paths) = selection else {
            return Ok((0..self.all.len()).filter(is_so_far).collect());
        };
        let mut meant = BTreeSet::new();
        for path in paths {
            let from = self.by_path.range::<Path, _>((Bound::Included(path.as_path()), Bound::Unbounded));
            let below: Vec<usize> =
                from.take_while(|(other, _)| other.starts_with(path)).map(|(_, at)| *at).collect();
            if below.is_empty() {
                return Err(ReviewError::NoSuchPath(path.clone()));
            }
            meant.extend(below);
            let around = path.ancestors().skip(1).filter_map(|around| self.at(around));
            meant.extend(around.filter(|(_, change)| is_needed(change, state)).map(|(at, _)| at));
        }
        meant.retain(is_so_far);
        Ok(meant)
    }
}

/// Whether entries below a directory need this change of it first.
fn is_needed(change: &FileChange, state: ChangeState) -> bool {
    match state {
        ChangeState::Applied => change.takes_a_folder(),
        ChangeState::Waiting | ChangeState::Discarded => change.makes_a_folder(),
    }
}

/// Decides which changes are applied.
pub(super) fn to_apply(
    changes: &Changes<'_>,
    meant: &BTreeSet<usize>,
    (base, indexes): (&Manifest, &Indexes),
    workspace: &Tree,
) -> io::Result<Chosen> {
    let (mut kept, refused) = unless_refused(changes, meant);
    let mut chosen = Chosen { refused, ..Chosen::default() };
    leave_what_is_held(changes, &mut kept, base, &mut chosen.refused);
    let groups = Groups::of(changes, base);
    let mut against = Vec::new();
    for &number in &kept {
        let Some(change) = changes.all.get(number) else { continue };
        if let Some(why) = against_applying(changes, &kept, change, (base, indexes), workspace)? {
            against.push(Conflict {
                path: change.path.clone(),
                why: why.to_owned(),
                group: groups.around(&change.path).to_path_buf(),
            });
        }
    }
    without_groups(changes, &mut kept, &groups, &against);
    chosen.conflicts = against;
    chosen.order = in_order(changes, &kept);
    Ok(chosen)
}

/// Splits selected changes into permitted and refused ones.
fn unless_refused(
    changes: &Changes<'_>,
    meant: &BTreeSet<usize>,
) -> (BTreeSet<usize>, Vec<(PathBuf, String)>) {
    let (mut kept, mut refused) = (BTreeSet::new(), Vec::new());
    for &number in meant {
        let Some(change) = changes.all.get(number) else { continue };
        match &change.refused {
            Some(why) => refused.push((change.path.clone(), why.clone())),
            None => drop(kept.insert(number)),
        }
    }
    (kept, refused)
}

/// Decides which changes are undone; they are in the order in which they were made.
pub(super) fn to_undo(
    changes: &Changes<'_>,
    meant: &BTreeSet<usize>,
    (base, indexes): (&Manifest, &Indexes),
    status: &Status,
    workspace: &Tree,
) -> io::Result<Chosen> {
    let (mut kept, refused) = unless_refused(changes, meant);
    let groups = Groups::of(changes, base);
    let mut against = Vec::new();
    for &number in &kept {
        let (Some(change), Some(Settled::Applied(then))) = (changes.all.get(number), status.get(&number))
        else {
            continue;
        };
        if let Some(why) = against_undoing(changes, &kept, (change, then.as_ref()), indexes, workspace)? {
            against.push(Conflict {
                path: change.path.clone(),
                why: why.to_owned(),
                group: groups.around(&change.path).to_path_buf(),
            });
        }
    }
    without_groups(changes, &mut kept, &groups, &against);
    Ok(Chosen { order: in_order(changes, &kept), conflicts: against, refused })
}

/// Orders changes: deletions first, innermost first; then creations, outermost first.
fn in_order(changes: &Changes<'_>, kept: &BTreeSet<usize>) -> Vec<usize> {
    let is_gone =
        |number: &&usize| changes.all.get(**number).is_some_and(|change| change.kind == ChangeKind::Deleted);
    let gone = kept.iter().rev().filter(is_gone);
    let made = kept.iter().filter(|number| !is_gone(number));
    gone.chain(made).copied().collect()
}

/// Removes changes that depend on others: a directory with remaining entries is not deleted, and entries of a directory that
/// is not created are not created either.
fn leave_what_is_held(
    changes: &Changes<'_>,
    kept: &mut BTreeSet<usize>,
    base: &Manifest,
    refused: &mut Vec<(PathBuf, String)>,
) {
    let mut left = Vec::new();
    for &number in kept.iter() {
        let Some(change) = changes.all.get(number) else { continue };
        if change.takes_a_folder() {
            let stays = base.below(&change.path).find(|(path, _)| {
                !changes.at(path).is_some_and(|(at, other)| {
                    other.kind == ChangeKind::Deleted
                        && (kept.contains(&at) || other.state == ChangeState::Applied)
                })
            });
            if let Some((path, _)) = stays {
                left.push((number, format!("it still contains {}", path.display())));
            }
        }
        let around = change.path.ancestors().skip(1).filter_map(|around| changes.at(around));
        let missing = around.into_iter().find(|(at, around)| {
            around.makes_a_folder() && !kept.contains(at) && around.state != ChangeState::Applied
        });
        if let Some((_, around)) = missing
            && change.kind != ChangeKind::Deleted
        {
            left.push((number, format!("the directory {} is not applied", around.path.display())));
        }
    }
    for (number, why) in left {
        kept.remove(&number);
        if let Some(change) = changes.all.get(number) {
            refused.push((change.path.clone(), why));
        }
    }
}

fn against_applying(
    changes: &Changes<'_>,
    kept: &BTreeSet<usize>,
    change: &FileChange,
    (base, indexes): (&Manifest, &Indexes),
    workspace: &Tree,
) -> io::Result<Option<&'static str>> {
    if let Some(why) = on_the_way(changes, kept, change, workspace)? {
        return Ok(why);
    }
    let now = workspace.look(&change.path)?;
    let why = match (base.look(&change.path), now) {
        (None, None) => None,
        (None, Some(_)) => Some(MADE),
        (Some(_), None) => Some(REMOVED),
        (Some(then), Some(now)) if !then.is_as(&now) => {
            let is_same = then.kind == now.kind && indexes.says_the_same(workspace, &change.path);
            (!is_same).then_some(CHANGED)
        }
        (Some(_), Some(_)) if change.takes_a_folder() => {
            let is_known = |path: &Path| base.look(path).is_some();
            holds_more(workspace, &change.path, is_known)?.then_some(ADDED)
        }
        (Some(_), Some(_)) => None,
    };
    Ok(why)
}

fn against_undoing(
    changes: &Changes<'_>,
    kept: &BTreeSet<usize>,
    (change, then): (&FileChange, Option<&Look>),
    indexes: &Indexes,
    workspace: &Tree,
) -> io::Result<Option<&'static str>> {
    let around = change.path.parent().unwrap_or(Path::new(""));
    let own = changes.at(around).filter(|(at, _)| kept.contains(at));
    if own.is_some_and(|(_, around)| around.takes_a_folder()) {
        return Ok(None);
    }
    let now = match workspace.parent(&change.path) {
        Err(error) if leads_away(&error) => return Ok(Some(LED_AWAY)),
        Err(error) => return Err(error),
        // Where the mode of the folder changes as well, it is opened for as long as that takes.
        Ok((folder, _))
            if own.is_none() && change.kind != ChangeKind::Mode && !may_be_opened(folder.as_fd(), around) =>
        {
            return Ok(Some(NOT_WRITABLE));
        }
        Ok((folder, name)) => super::at::look(folder.as_fd(), name)?,
    };
    Ok(match (then, now) {
        (None, None) => None,
        (None, Some(_)) => Some(MADE_SINCE),
        (Some(_), None) => Some(REMOVED_SINCE),
        (Some(then), Some(now)) if !then.is_as(&now) => {
            let is_same = then.kind == now.kind && indexes.says_the_same(workspace, &change.path);
            (!is_same).then_some(CHANGED_SINCE)
        }
        (Some(_), Some(_)) if change.makes_a_folder() => {
            let goes = |path: &Path| changes.at(path).is_some_and(|(at, _)| kept.contains(&at));
            holds_more(workspace, &change.path, goes)?.then_some(ADDED_SINCE)
        }
        (Some(_), Some(_)) => None,
    })
}

/// Returns the conflict of a path's parent directories, or the opened parent; nothing if a change creates the parent first.
fn on_the_way(
    changes: &Changes<'_>,
    kept: &BTreeSet<usize>,
    change: &FileChange,
    workspace: &Tree,
) -> io::Result<Option<Option<&'static str>>> {
    let around = change.path.parent().unwrap_or(Path::new(""));
    let own = changes.at(around).filter(|(at, _)| kept.contains(at));
    if change.kind != ChangeKind::Deleted && own.is_some_and(|(_, around)| around.makes_a_folder()) {
        return Ok(Some(None));
    }
    match workspace.folder(around) {
        Err(error) if leads_away(&error) => Ok(Some(Some(LED_AWAY))),
        Err(error) => Err(error),
        // Where the mode of the folder changes as well, it is opened for as long as that takes.
        Ok(_) if own.is_some() => Ok(None),
        Ok(folder) => Ok((!may_be_opened(folder.as_fd(), around)).then_some(Some(NOT_WRITABLE))),
    }
}

/// Whether this user may create and delete entries of a directory.
fn is_writable(folder: BorrowedFd<'_>) -> bool {
    accessat(folder, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS).is_ok()
}

/// Whether a directory of the workspace is writable, or can be made writable during the merge because this user owns it.
fn may_be_opened(folder: BorrowedFd<'_>, path: &Path) -> bool {
    let is_own = || {
        let owner = rustix::fs::fstat(folder).map(|found| found.st_uid);
        owner == Ok(rustix::process::geteuid().as_raw())
    };
    is_writable(folder) || (!path.as_os_str().is_empty() && is_own())
}

fn leads_away(error: &io::Error) -> bool {
    let away = [rustix::io::Errno::XDEV, rustix::io::Errno::ACCESS];
    is_gone(error) || away.iter().any(|away| error.raw_os_error() == Some(away.raw_os_error()))
}

/// Whether a directory contains an unknown entry.
fn holds_more(workspace: &Tree, path: &Path, is_known: impl Fn(&Path) -> bool) -> io::Result<bool> {
    let (parent, name) = workspace.parent(path)?;
    let folder = rustix::fs::openat(&*parent, name, FOLDER | OFlags::PATH, Mode::empty())?;
    // Its mode may deny access to its owner.
    let folder =
        in_an_open_folder(folder.as_fd(), |folder| rustix::fs::openat(folder, ".", FOLDER, Mode::empty()))?;
    for entry in Dir::new(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            let name = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(name);
            if !is_known(&path.join(name)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The directories whose changes are applied together: repositories, and the rest of the workspace.
#[derive(Debug)]
struct Groups(BTreeSet<PathBuf>);

impl Groups {
    fn of(changes: &Changes<'_>, base: &Manifest) -> Self {
        let paths = base.entries.keys().map(PathBuf::as_path).chain(changes.by_path.keys().copied());
        let repositories = paths.filter(|path| path.file_name().is_some_and(|name| name == ".git"));
        Self(repositories.filter_map(Path::parent).map(Path::to_path_buf).collect())
    }

    /// Returns the outermost repository that contains a path; the empty path for the rest of the workspace.
    fn around<'p>(&self, path: &'p Path) -> &'p Path {
        let mut around: Vec<&Path> = path.ancestors().skip(1).collect();
        around.reverse();
        around.into_iter().find(|folder| self.0.contains(*folder)).unwrap_or(Path::new(""))
    }
}

fn without_groups(changes: &Changes<'_>, kept: &mut BTreeSet<usize>, groups: &Groups, against: &[Conflict]) {
    let blocked: BTreeSet<&Path> = against.iter().map(|conflict| conflict.group.as_path()).collect();
    kept.retain(|number| {
        let group = changes.all.get(*number).map(|change| groups.around(&change.path));
        group.is_some_and(|group| !blocked.contains(group))
    });
}
