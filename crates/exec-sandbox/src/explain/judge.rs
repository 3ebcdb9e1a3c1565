//! What a plan says about a path that a command wants.

use std::path::{Path, PathBuf};

use super::denial::Denial;
use crate::binds::forbidden;
use crate::host::HostFacts;
use crate::mounts::{Mount, MountKind, Owner};
use crate::plan::Plan;
use crate::provider::Provider;
use crate::spec::MountAccess;

impl Plan {
    /// Returns what stands against a command of this plan that wants to read a path of this machine, or to change it; nothing where
    /// it may. The path is in full and without links.
    #[must_use]
    pub fn keeps_from(&self, path: &Path, access: MountAccess) -> Option<Denial> {
        if self.provider == Provider::Nothing {
            return None;
        }
        let wanted = match access {
            MountAccess::ReadOnly => Use::Read,
            MountAccess::ReadWrite => Use::Change,
        };
        // Where a command has a view of its own, what it was not given is not there.
        Judge::new(self).path(path, wanted, self.provider == Provider::Landlock)
    }
}

/// What a command wants to do with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// To see, read, enter or run it.
    Read,
    /// To make or change it.
    Change,
    /// To connect to it.
    Connect,
}

/// Says what a plan refuses.
pub(super) struct Judge<'p> {
    plan: &'p Plan,
}

impl<'p> Judge<'p> {
    pub(super) fn new(plan: &'p Plan) -> Self {
        Self { plan }
    }

    /// What the command sees at a path.
    fn mount(&self, path: &Path) -> Option<&'p Mount> {
        self.plan.mounts.iter().rev().find(|mount| path.starts_with(&mount.target))
    }

    /// Whether a path belongs to what the machine brings along.
    pub(super) fn is_of_the_system(&self, path: &Path) -> bool {
        let mount = self.mount(path);
        mount.is_some_and(|mount| matches!(mount.kind, MountKind::Bind { owner: Owner::System, .. }))
    }

    /// What is refused about a path; nothing if the plan stands in nobody's way. Whether something is there is what the command
    /// sees of it.
    pub(super) fn path(&self, path: &Path, wanted: Use, is_there: bool) -> Option<Denial> {
        let mount = self.mount(path);
        // Without a view of its own, a command sees everything and opens what is named.
        let is_walled = self.plan.provider == Provider::Landlock;
        match mount.map(|mount| (&mount.kind, mount)) {
            Some((MountKind::Bind { access: MountAccess::ReadWrite, .. } | MountKind::Link { .. }, _)) => {
                None
            }
            Some((MountKind::Generated { .. }, _)) => None,
            Some((MountKind::Bind { access: MountAccess::ReadOnly, .. }, mount)) => {
                (wanted == Use::Change).then(|| self.read_only(path, mount))
            }
            Some((MountKind::Hidden { .. }, mount)) => Some(never(path, mount.reason)),
            Some((MountKind::Processes, _)) => (wanted == Use::Change && path.starts_with("/proc/sys"))
                .then(|| never(path, "it concerns the whole machine")),
            Some((MountKind::Devices, _)) if is_there => None,
            Some((MountKind::Scratch { .. }, _)) if !is_walled && (is_there || wanted == Use::Change) => None,
            Some((MountKind::Scratch { .. } | MountKind::Devices, _)) | None => {
                let is_in_the_way = wanted == Use::Change || is_walled == is_there;
                is_in_the_way.then(|| self.not_given(path, wanted))
            }
        }
    }

    /// What stands against changing what may be read.
    fn read_only(&self, path: &Path, mount: &Mount) -> Denial {
        let is_protected = |mount: &Mount| {
            self.plan.protected.iter().any(|one| self.plan.workspace.join(&one.path) == mount.target)
        };
        if is_protected(mount) { never(path, mount.reason) } else { self.not_given(path, Use::Change) }
    }

    /// What stands against a path that the command was not given.
    fn not_given(&self, path: &Path, wanted: Use) -> Denial {
        let home = self.plan.environment.iter().find(|(name, _)| name == "HOME");
        let home = home.map(|(_, home)| PathBuf::from(home)).unwrap_or_default();
        let facts = HostFacts { home, user: 1000, ..HostFacts::default() };
        let access = if wanted == Use::Change { MountAccess::ReadWrite } else { MountAccess::ReadOnly };
        // What may be changed is a folder; one at the root would be a folder itself.
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
