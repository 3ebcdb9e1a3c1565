//! Measures the growth of the file systems that a command may write to.
//!
//! An unprivileged user cannot set quotas, so the file systems are polled with statvfs(3): one call each, however many files
//! there are. They do not report who wrote, so writes of other programs count as well.

use std::path::{Path, PathBuf};

use rustix::fs::{stat, statvfs};

use crate::limits::ResourceLimits;
use crate::mounts::MountKind;
use crate::plan::Plan;
use crate::spec::MountAccess;

/// The writable file systems, with their usage before the command.
#[derive(Debug)]
pub(super) struct Disks(Vec<(PathBuf, Fill)>);

/// The usage or the growth of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Fill {
    pub(super) bytes: u64,
    /// Number of files and directories; some file systems do not count them.
    pub(super) files: u64,
}

impl Disks {
    /// Returns the file systems of a plan's writable directories, each once.
    pub(super) fn of(plan: &Plan) -> Self {
        let folders = plan.mounts.iter().filter_map(|mount| match &mount.kind {
            MountKind::Bind { source, access: MountAccess::ReadWrite, .. } => Some(source),
            _ => None,
        });
        let mut seen = Vec::new();
        let mut disks = Vec::new();
        for folder in folders {
            let Ok(device) = stat(folder).map(|data| data.st_dev) else { continue };
            if !seen.contains(&device) {
                seen.push(device);
                disks.extend(fill(folder).map(|fill| (folder.clone(), fill)));
            }
        }
        Self(disks)
    }

    /// Returns the growth of all of them together.
    pub(super) fn grown(&self) -> Fill {
        let each = self.0.iter().filter_map(|(folder, before)| {
            let now = fill(folder)?;
            let bytes = now.bytes.saturating_sub(before.bytes);
            Some(Fill { bytes, files: now.files.saturating_sub(before.files) })
        });
        each.fold(Fill::default(), |all, one| Fill {
            bytes: all.bytes.saturating_add(one.bytes),
            files: all.files.saturating_add(one.files),
        })
    }

    /// Whether their growth exceeds the limits.
    pub(super) fn are_too_full(&self, limits: &ResourceLimits) -> bool {
        let grown = self.grown();
        limits.disk.bound().is_some_and(|most| grown.bytes > most)
            || limits.files.bound().is_some_and(|most| grown.files > most)
    }
}

/// Whether there is a limit on disk usage.
pub(super) fn is_bounded(limits: &ResourceLimits) -> bool {
    limits.disk.bound().is_some() || limits.files.bound().is_some()
}

fn fill(folder: &Path) -> Option<Fill> {
    let system = statvfs(folder).ok()?;
    Some(Fill {
        bytes: system.f_blocks.saturating_sub(system.f_bfree).saturating_mul(system.f_frsize),
        files: system.f_files.saturating_sub(system.f_ffree),
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "makes files to count")]

    use super::*;
    use crate::limits::Limit;

    #[test]
    fn only_growth_counts_against_the_disk_limit() {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let before = fill(folder.path()).unwrap();
        let disks = |bytes, files| Disks(vec![(folder.path().to_path_buf(), Fill { bytes, files })]);
        let most = |disk, files| ResourceLimits { disk, files, ..ResourceLimits::default() };
        for number in 0..100 {
            std::fs::write(folder.path().join(number.to_string()), [1; 100_000]).unwrap();
        }
        let grown = disks(before.bytes, before.files).grown();
        assert!(grown.bytes >= 5_000_000 && grown.files >= 50, "{grown:?}");
        assert_eq!(disks(u64::MAX, u64::MAX).grown(), Fill::default());
        let rows = [
            (most(Limit::Unlimited, Limit::Unlimited), false),
            (most(Limit::AtMost(1 << 20), Limit::Unlimited), true),
            (most(Limit::Unlimited, Limit::AtMost(10)), true),
            (most(Limit::AtMost(u64::MAX), Limit::AtMost(u64::MAX)), false),
        ];
        for (limits, is_full) in rows {
            assert_eq!(disks(before.bytes, before.files).are_too_full(&limits), is_full, "{limits:?}");
        }
    }
}
