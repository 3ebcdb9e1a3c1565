//! Limits of the quarantine.

use std::os::fd::OwnedFd;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, unlinkat};

use super::entry::Item;
use super::folder::names;
use super::origin::{ORIGINS, moment_of};
use super::remove;
use super::store::QuarantineStore;
use crate::outcome::DroppedGroup;

/// Maximum number of groups, one per command.
pub const MAX_GROUPS: usize = 256;

/// Maximum size of all entries together, as measured when they were quarantined.
pub const MAX_BYTES: u64 = 4 << 30;

/// Maximum age of an entry.
pub const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 3600);

impl QuarantineStore {
    /// Deletes the oldest groups until the rest is within the limits. The newest group always stays.
    pub(super) fn make_room(&self, newest: &str) -> Vec<DroppedGroup> {
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
        let Ok(groups) = self.groups() else { return Vec::new() };
        let bytes = |group: &String| -> u64 {
            let items = self.items_of(group).unwrap_or_default();
            items
                .iter()
                .filter_map(|item| item.origin.as_ref().filter(|origin| !origin.in_place))
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

    /// Deletes a group with its entries. Entries that were renamed in their own directory stay there, and are no longer listed.
    pub(super) fn drop_group(&self, group: &str) -> Option<DroppedGroup> {
        let folder = self.group(group).ok()?;
        let path = |item: &Item| match &item.origin {
            Some(origin) => origin.workspace.join(&origin.path),
            None => item.place(),
        };
        let paths = self.items_of(group).ok()?.iter().map(path).collect();
        self.remove_group(&folder, group);
        Some(DroppedGroup { id: group.to_owned(), paths })
    }

    fn remove_group(&self, folder: &OwnedFd, group: &str) {
        for name in names(folder).unwrap_or_default().iter().filter(|name| *name != ORIGINS) {
            remove::remove(folder, name).ok();
        }
        // The file of origins goes last, because it describes the entries that could not be deleted.
        if names(folder).is_ok_and(|names| names.iter().all(|name| name == ORIGINS)) {
            unlinkat(folder, ORIGINS, AtFlags::empty()).ok();
            unlinkat(&self.folder, group, AtFlags::REMOVEDIR).ok();
        }
    }
}
