//! Decides whether a plan denies access to a path.

use std::path::{Path, PathBuf};

use super::denial::Denial;
use crate::binds::forbidden;
use crate::host::HostFacts;
use crate::mounts::{Mount, MountKind, Owner};
use crate::plan::Plan;
use crate::provider::Provider;
use crate::spec::MountAccess;

impl Plan {
    /// Returns why a command of this plan cannot read or write a path of this machine; nothing if it can. The path must be
    /// absolute and without symlinks.
    #[must_use]
    pub fn keeps_from(&self, path: &Path, access: MountAccess) -> Option<Denial> {
        if self.provider == Provider::Nothing {
            return None;
        }
        let wanted = match access {
            MountAccess::ReadOnly => Use::Read,
            MountAccess::ReadWrite => Use::Change,
        };
        // In a mount namespace, paths that were not shared do not exist. With Landlock they do.
        Judge::new(self).path(path, wanted, self.provider == Provider::Landlock)
    }
}

/// The requested access to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Look up, read, enter or execute it.
    Read,
    /// Create or change it.
    Change,
    /// Connect to the socket.
    Connect,
}

/// Decides on paths by a plan.
pub(super) struct Judge<'p> {
    plan: &'p Plan,
}

impl<'p> Judge<'p> {
    pub(super) fn new(plan: &'p Plan) -> Self {
        Self { plan }
    }

    /// Returns the mount that contains a path; later mounts cover earlier ones.
    fn mount(&self, path: &Path) -> Option<&'p Mount> {
        self.plan.mounts.iter().rev().find(|mount| path.starts_with(&mount.target))
    }

    /// Whether a path belongs to the operating system.
    pub(super) fn is_of_the_system(&self, path: &Path) -> bool {
        let mount = self.mount(path);
        mount.is_some_and(|mount| matches!(mount.kind, MountKind::Bind { owner: Owner::System, .. }))
    }

    /// Returns why access to a path is denied; nothing if the plan allows it. `is_there` is whether the command sees the path.
    pub(super) fn path(&self, path: &Path, wanted: Use, is_there: bool) -> Option<Denial> {
        let mount = self.mount(path);
        // With Landlock a command sees all paths and opens the allowed ones.
        let is_walled = self.plan.provider == Provider::Landlock;
        match mount.map(|mount| (&mount.kind, mount)) {
            Some((MountKind::Bind { access: MountAccess::ReadWrite, .. } | MountKind::Link { .. }, _)) => {
                None
            }
            Some((MountKind::Generated { .. }, _)) => None,
            Some((MountKind::Bind { access: MountAccess::ReadOnly, .. }, mount)) => {
                (wanted == Use::Change).then(|| self.read_only(path, mount))
            }
            Some((MountKind::Replaced { .. }, mount)) => {
                (wanted == Use::Change).then(|| never(path, mount.reason))
            }
            Some((MountKind::Hidden { .. }, mount)) => Some(never(path, mount.reason)),
            Some((MountKind::Processes, _)) => (wanted == Use::Change && path.starts_with("/proc/sys"))
                .then(|| never(path, "it applies to the whole machine")),
            Some((MountKind::Devices, _)) if is_there => None,
            Some((MountKind::Scratch { .. }, _)) if !is_walled && (is_there || wanted == Use::Change) => None,
            Some((MountKind::Scratch { .. } | MountKind::Devices, _)) | None => {
                let is_in_the_way = wanted == Use::Change || is_walled == is_there;
                is_in_the_way.then(|| self.not_given(path, wanted))
            }
        }
    }

    /// Returns why a read-only path cannot be changed.
    fn read_only(&self, path: &Path, mount: &Mount) -> Denial {
        let is_protected = |mount: &Mount| {
            self.plan.protected.iter().any(|one| self.plan.workspace.join(&one.path) == mount.target)
        };
        if is_protected(mount) { never(path, mount.reason) } else { self.not_given(path, Use::Change) }
    }

    /// Returns why a path that was not shared is denied.
    fn not_given(&self, path: &Path, wanted: Use) -> Denial {
        let home = self.plan.environment.iter().find(|(name, _)| name == "HOME");
        let home = home.map(|(_, home)| PathBuf::from(home)).unwrap_or_default();
        let facts = HostFacts { home, user: 1000, ..HostFacts::default() };
        let access = if wanted == Use::Change { MountAccess::ReadWrite } else { MountAccess::ReadOnly };
        // Write access is granted to directories, so the advice names the parent, unless that is the root.
        let around = path.parent().filter(|around| wanted == Use::Change && around.parent().is_some());
        let rule = forbidden(path, access, &facts).or_else(|| forbidden(around?, access, &facts));
        match (rule, wanted) {
            (Some((rule, _)), _) => never(path, &rule.to_string()),
            (None, Use::Change) => Denial::Write(path.to_path_buf()),
            (None, Use::Connect) => Denial::Socket(path.to_path_buf()),
            (None, Use::Read) => Denial::Read(path.to_path_buf()),
        }
    }
}

fn never(path: &Path, why: &str) -> Denial {
    Denial::Never(path.to_path_buf(), why.to_owned())
}
