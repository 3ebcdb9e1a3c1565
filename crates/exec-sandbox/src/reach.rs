//! Whether a command could change a file of this machine: what the record of its deeds must not depend on.

use std::path::Path;

use crate::mounts::{Mount, MountKind};
use crate::plan::Plan;
use crate::provider::Provider;
use crate::spec::MountAccess;

impl Plan {
    /// Returns what lets the command write to a path of this machine, or create something there; nothing where nothing does.
    ///
    /// The path is given without links. Rights of its files are not asked for: they can change.
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

    /// Returns the file or folder of this machine through which the command could open this path. Nothing, if it does not see it.
    ///
    /// As above, and more is said to be seen than is, where a mount changes nothing and hides much.
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

    /// Whether something that is mounted later stands in the way. Landlock mounts nothing, and adds rights only.
    fn is_covered(&self, seen: &Path, later: &[Mount]) -> bool {
        self.provider != Provider::Landlock && later.iter().any(|mount| seen.starts_with(&mount.target))
    }
}

/// What of this machine can be written to through a mount.
fn writable(mount: &Mount) -> Option<&Path> {
    match &mount.kind {
        MountKind::Bind { source, access: MountAccess::ReadWrite, .. } => Some(source),
        _ => None,
    }
}
