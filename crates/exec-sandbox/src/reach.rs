//! Whether a command can write or read a path of this machine. The audit trail must not be writable for the commands it records.

use std::path::Path;

use crate::mounts::{Mount, MountKind};
use crate::plan::Plan;
use crate::provider::Provider;
use crate::spec::MountAccess;

impl Plan {
    /// Returns the mount source through which the command can write or create a path of this machine, if there is one.
    ///
    /// The path must not contain symlinks. File permissions are ignored, because they can change.
    #[must_use]
    pub fn may_write(&self, path: &Path) -> Option<&Path> {
        if self.provider == Provider::Nothing {
            return Some(Path::new("/"));
        }
        self.mounts.iter().enumerate().find_map(|(place, mount)| {
            let source = writable(mount)?;
            let seen = mount.target.join(path.strip_prefix(source).ok()?);
            let later = self.mounts.get(place + 1..).unwrap_or_default();
            (!self.is_covered(&seen, later)).then_some(source)
        })
    }

    /// Returns the mount source through which the command can open a path of this machine, if there is one.
    ///
    /// As with [`may_write`](Self::may_write); it errs towards visible.
    #[must_use]
    pub fn may_see(&self, path: &Path) -> Option<&Path> {
        if self.provider == Provider::Nothing {
            return Some(Path::new("/"));
        }
        self.mounts.iter().enumerate().find_map(|(place, mount)| {
            let MountKind::Bind { source, .. } = &mount.kind else { return None };
            let seen = mount.target.join(path.strip_prefix(source).ok()?);
            let later = self.mounts.get(place + 1..).unwrap_or_default();
            (!self.is_covered(&seen, later)).then_some(source.as_path())
        })
    }

    /// Whether a later mount covers the path. Landlock mounts nothing and only adds rights, so nothing is covered there.
    fn is_covered(&self, seen: &Path, later: &[Mount]) -> bool {
        self.provider != Provider::Landlock && later.iter().any(|mount| seen.starts_with(&mount.target))
    }
}

/// Returns the source of a writable bind mount.
fn writable(mount: &Mount) -> Option<&Path> {
    match &mount.kind {
        MountKind::Bind { source, access: MountAccess::ReadWrite, .. } => Some(source),
        _ => None,
    }
}
