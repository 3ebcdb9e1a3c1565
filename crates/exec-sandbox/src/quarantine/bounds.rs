//! How much is kept, and for how long.

use std::os::fd::OwnedFd;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, unlinkat};

use super::entry::Held;
use super::folder::names;
use super::origin::{ORIGINS, moment_of};
use super::remove;
use super::store::QuarantineStore;
use crate::outcome::DroppedGroup;

/// The most commands whose things are kept, one group for each.
pub const MAX_GROUPS: usize = 256;

/// The most bytes of all things together, as far as they were counted when they were taken.
pub const MAX_BYTES: u64 = 4 << 30;

/// How long a thing is kept.
pub const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 3600);

impl QuarantineStore {
    /// Drops the oldest groups until what is left is within the bounds. The newest, which is given, stays in any case.
    pub(super) fn make_room(&self, newest: &str) -> Vec<DroppedGroup> {
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
        let Ok(groups) = self.groups() else { return Vec::new() };
        let bytes = |group: &String| -> u64 {
            let held = self.held_of(group).unwrap_or_default();
            held.iter()
                .filter_map(|held| held.origin.as_ref().filter(|origin| !origin.in_place))
                .map(|it| it.size)
                .sum()
        };
        let sizes: Vec<(String, u64)> = groups.iter().map(|group| (group.clone(), bytes(group))).collect();
        let mut sum = sizes.iter().fold(0_u64, |sum, (_, size)| sum.saturating_add(*size));
        let mut count = sizes.len();
        let mut dropped = Vec::new();
        for (group, size) in sizes.into_iter().filter(|(group, _)| group != newest) {
            let age = moment_of(&group).map_or(0, |moment| now.saturating_sub(moment));
            if age <= MAX_AGE.as_nanos() && count <= MAX_GROUPS && sum <= MAX_BYTES {
                continue;
            }
            dropped.extend(self.drop_group(&group));
            (count, sum) = (count - 1, sum.saturating_sub(size));
        }
        dropped
    }

    /// Drops a group with all that lies in it. What stayed in its own folder stays there: it is no longer known of.
    pub(super) fn drop_group(&self, group: &str) -> Option<DroppedGroup> {
        let folder = self.group(group).ok()?;
        let path = |held: &Held| match &held.origin {
            Some(origin) => origin.workspace.join(&origin.path),
            None => held.place(),
        };
        let paths = self.held_of(group).ok()?.iter().map(path).collect();
        self.remove_group(&folder, group);
        Some(DroppedGroup { id: group.to_owned(), paths })
    }

    fn remove_group(&self, folder: &OwnedFd, group: &str) {
        for name in names(folder).unwrap_or_default().iter().filter(|name| *name != ORIGINS) {
            remove::remove(folder, name).ok();
        }
        // What says what is left goes last.
        if names(folder).is_ok_and(|names| names.iter().all(|name| name == ORIGINS)) {
            unlinkat(folder, ORIGINS, AtFlags::empty()).ok();
            unlinkat(&self.folder, group, AtFlags::REMOVEDIR).ok();
        }
    }
}
