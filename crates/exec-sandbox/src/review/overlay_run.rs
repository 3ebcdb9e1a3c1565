//! Creates the overlay of a command, and reads its changes when the command ends.

#![expect(clippy::disallowed_methods, reason = "makes the folders of a layer")]

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, chmod, chownat, mkdirat};
use rustix::process::{Gid, Uid};

use super::about::{About, ReviewView, note_process};
use super::at::{FOLDER, Look, Tree, own_path_of};
use super::change::FileChange;
use super::copy::copy_all;
use super::error::ReviewError;
use super::indexes::{Indexes, When};
use super::judge::Guarded;
use super::layer::ReviewLayer;
use super::manifest::Manifest;
use super::select::ChangeSelection;
use super::store::ReviewStore;
use crate::choices::ReviewMode;
use crate::host::Searched;
use crate::mounts::{BROKER, Mount, MountKind, SHARED};
use crate::plan::Plan;
use crate::provider::Provider;
use crate::refusal::as_text;
use crate::refusal::{Refusal, SandboxRule, What};
use crate::reviewed::Reviewed;
use crate::run::RunError;
use crate::spec::MountAccess;

/// The directory of a layer for the overlayfs.
const OVERLAY: &str = "view";

/// Whether a mount shows a part of the workspace that the overlay contains. Shared directories and the broker's socket are
/// mounted directly.
pub(crate) fn is_in_overlay(mount: &Mount, workspace: &Path) -> bool {
    match &mount.kind {
        MountKind::Bind { source, access, .. } => {
            let is_of_others = *access == MountAccess::ReadWrite && mount.reason == SHARED;
            source.starts_with(workspace) && !is_of_others && !is_broker(mount)
        }
        _ => false,
    }
}

fn is_broker(mount: &Mount) -> bool {
    mount.reason == BROKER
}

/// A command that works on an overlay.
pub(crate) struct OverlayRun {
    store: ReviewStore,
    layer: ReviewLayer,
    /// The lock of the layer, held while the command runs.
    lock: File,
    guarded: Guarded,
    mode: ReviewMode,
    empty: Vec<PathBuf>,
}

impl OverlayRun {
    /// Returns the kinds of overlay to try for a plan, in order; empty if the command works on the workspace directly.
    pub(crate) fn views(plan: &Plan) -> &'static [ReviewView] {
        match (plan.review, plan.workspace_access(), &plan.provider) {
            (ReviewMode::Off, ..) | (_, MountAccess::ReadOnly, _) => &[],
            (.., Provider::Native) => &[ReviewView::Overlay, ReviewView::Copy],
            _ => &[ReviewView::Copy],
        }
    }

    /// Creates the layer of a command, and its copy if the overlay is one.
    pub(crate) fn begin(plan: &Plan, view: ReviewView) -> Result<Self, RunError> {
        let nowhere = || {
            let why = "the state directory is missing, or writable for the command";
            let fix = "set XDG_STATE_HOME to a directory outside of the workspace, or leave out the review";
            Refusal::new(What::Write(plan.workspace.clone()), SandboxRule::CannotEnforce(why), fix)
        };
        let state = crate::state::folder(&plan.mounts).ok_or_else(nowhere)?;
        Self::begin_in(&state, plan, view)
    }

    /// The same, in this state directory.
    pub(crate) fn begin_in(state: &Path, plan: &Plan, view: ReviewView) -> Result<Self, RunError> {
        let setup =
            |source| RunError::Setup { doing: "creating an overlay of the workspace".to_owned(), source };
        let store = ReviewStore::make(state).map_err(setup)?;
        // Interrupted merges are completed first, so that they do not count as existing files. Ignored: an error is reported when
        // the user decides on those changes.
        store.resume().ok();
        let (id, path, folder, lock) = store.new_layer().map_err(setup)?;
        let begun = Self::made(plan, view, (&id, &path, &folder)).map_err(setup);
        let (about, base) = begun.inspect_err(|_| {
            store.remove(&id).ok();
        })?;
        let layer = ReviewLayer::new(id, path, folder, about);
        let guarded = Guarded {
            protected: plan.protected.clone(),
            git_targets: plan.git_targets.clone(),
            plans: plan.git_plans.clone(),
        };
        Ok(Self { store, layer, lock, guarded, mode: plan.review, empty: base.elsewhere })
    }

    fn made(
        plan: &Plan,
        view: ReviewView,
        (id, path, folder): (&str, &Path, &OwnedFd),
    ) -> io::Result<(About, Manifest)> {
        let workspace = Tree::open(&plan.workspace)?;
        let root = Look::of(&rustix::fs::fstat(workspace.root())?);
        let mut base = Manifest::of(&plan.workspace);
        if base.searched == Searched::InPart {
            return Err(io::Error::other(format!("a part of the workspace cannot be read, for {id}")));
        }
        let user = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let has_others =
            has_other_owners(user, base.entries.values().map(|entry| &entry.look).chain([&root]));
        let view = if view == ReviewView::Overlay && has_others { ReviewView::Copy } else { view };
        match view {
            ReviewView::Overlay => {
                folder_like(folder, OVERLAY, &root, 0o700)?;
                let inner = rustix::fs::openat(folder, OVERLAY, FOLDER, Mode::empty())?;
                folder_like(&inner, "upper", &root, root.mode)?;
                folder_like(&inner, "work", &root, 0o700)?;
            }
            ReviewView::Copy => {
                folder_like(folder, view.folder(), &root, 0o700)?;
                copy_all(&plan.workspace, &mut base, &path.join(view.folder()))?;
                chmod(path.join(view.folder()), Mode::from_raw_mode(root.mode | 0o700))?;
            }
        }
        Indexes::of(&workspace, &base).save(folder, When::Base)?;
        base.save(folder)?;
        let about = About {
            workspace: plan.workspace.clone(),
            workspace_identity: root.identity,
            command: as_text(&plan.program, &plan.arguments),
            view,
        };
        about.save(folder)?;
        Ok((about, base))
    }

    /// Returns the plan with the overlay in place of the workspace.
    pub(crate) fn move_in(&self, plan: &Plan) -> Plan {
        let mut moved = plan.clone();
        if self.layer.view() == ReviewView::Overlay {
            moved.layer = Some(self.layer.path.join(OVERLAY));
            return moved;
        }
        let copy = self.layer.path.join(self.layer.view().folder());
        for mount in &mut moved.mounts {
            if is_in_overlay(mount, &plan.workspace)
                && let MountKind::Bind { source, .. } = &mut mount.kind
                && let Ok(below) = source.strip_prefix(&plan.workspace)
            {
                *source = if below.as_os_str().is_empty() { copy.clone() } else { copy.join(below) };
            }
        }
        moved
    }

    /// Records the process whose end ends the sandbox.
    pub(crate) fn started(&self, process: i32) -> io::Result<()> {
        note_process(&self.layer.folder, process)
    }

    /// Deletes the layer of a command that did not start.
    pub(crate) fn abandon(self) {
        self.store.remove(self.layer.id()).ok();
    }

    /// Reads the changes, and applies them if requested. All processes of the command must have ended.
    pub(crate) fn end(self) -> Reviewed {
        let mode = self.mode;
        self.over(mode)
    }

    /// Reads the changes, and keeps them pending whatever was requested.
    pub(crate) fn keep_pending(self) -> Reviewed {
        self.over(ReviewMode::Hold)
    }

    fn over(self, mode: ReviewMode) -> Reviewed {
        let mut reviewed = Reviewed {
            id: self.layer.id().to_owned(),
            view: self.layer.view().name(),
            changed: 0,
            applied: 0,
            refused: Vec::new(),
            conflicts: Vec::new(),
            failed: None,
            empty: self.empty.clone(),
            dropped: Vec::new(),
        };
        let closed = self.layer.close(&self.guarded);
        drop(self.lock);
        match closed {
            Ok(changes) if changes.is_empty() => drop(self.store.remove(self.layer.id())),
            Ok(changes) => {
                reviewed.changed = changes.len();
                reviewed.refused = refused(&changes);
                if mode == ReviewMode::Undoable {
                    apply(&self.store, &self.layer, &mut reviewed);
                }
            }
            Err(error) => reviewed.failed = Some(error.to_string()),
        }
        let dropped = self.store.clean().unwrap_or_default();
        reviewed.dropped = dropped.into_iter().map(|dropped| (dropped.id, dropped.waiting)).collect();
        reviewed
    }
}

fn refused(changes: &[FileChange]) -> Vec<(PathBuf, String)> {
    let refused = changes.iter().filter_map(|change| Some((change.path.clone(), change.refused.clone()?)));
    refused.collect()
}

/// Number of attempts while another program applies changes, and the delay in between.
const TRIES: usize = 100;
const BETWEEN: std::time::Duration = std::time::Duration::from_millis(50);

fn apply(store: &ReviewStore, layer: &ReviewLayer, reviewed: &mut Reviewed) {
    for _ in 0..TRIES {
        match store.apply(layer, &ChangeSelection::All) {
            Err(ReviewError::Busy) => std::thread::sleep(BETWEEN),
            Ok(merged) => {
                reviewed.applied = merged.done.len();
                reviewed.refused = merged.refused;
                let conflicts = merged.conflicts.into_iter();
                reviewed.conflicts = conflicts.map(|conflict| (conflict.path, conflict.why)).collect();
                return;
            }
            Err(error) => {
                reviewed.failed = Some(error.to_string());
                return;
            }
        }
    }
    reviewed.failed = Some(ReviewError::Busy.to_string());
}

/// Whether a user may write to files whose owner or group does not exist in a user namespace of that user, which has one of each.
/// The kernel cannot move such a file into an overlay (`EOVERFLOW`), so that the overlay has to be a copy.
fn has_other_owners<'l>((user, group): (u32, u32), looks: impl IntoIterator<Item = &'l Look>) -> bool {
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    let may_write = |look: &Look| look.owner.0 == user || look.mode & WRITABLE_BY_OTHERS != 0;
    let is_other = |look: &&Look| look.owner != (user, group) && may_write(look);
    user != 0 && looks.into_iter().filter(|look| look.kind != FileType::Symlink).any(|look| is_other(&look))
}

/// Creates a directory with the owner of the workspace, so that the command can write to it.
fn folder_like(at: &OwnedFd, name: &str, root: &Look, mode: u32) -> io::Result<()> {
    mkdirat(at, name, Mode::RWXU)?;
    if root.owner.0 != rustix::process::geteuid().as_raw() {
        let (user, group) = (Uid::from_raw(root.owner.0), Gid::from_raw(root.owner.1));
        chownat(at, name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)?;
    }
    Ok(chmod(own_path_of(at.as_fd(), name.as_ref()), Mode::from_raw_mode(mode))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_groups_need_a_copy() {
        const LOOK: Look = Look {
            kind: FileType::RegularFile,
            mode: 0o644,
            owner: (1000, 1000),
            identity: (1, 1),
            size: 0,
            links: 1,
            modified: (0, 0),
            changed: (0, 0),
        };
        let look = |owner: (u32, u32), mode: u32| Look { owner, mode, ..LOOK };
        for (user, owner, mode, is_copied) in [
            ((1000, 1000), (1000, 1000), 0o644, false),
            ((1000, 1000), (1000, 33), 0o644, true),
            ((1000, 1000), (1001, 33), 0o664, true),
            ((1000, 1000), (0, 0), 0o644, false),
            ((0, 0), (1000, 33), 0o664, false),
        ] {
            let own = Look { owner: user, ..LOOK };
            assert_eq!(has_other_owners(user, [&own, &look(owner, mode)]), is_copied, "{owner:?} {mode:o}");
        }
        let link = Look { kind: FileType::Symlink, mode: 0o777, owner: (1000, 33), ..LOOK };
        assert!(!has_other_owners((1000, 1000), [&link]));
    }
}
