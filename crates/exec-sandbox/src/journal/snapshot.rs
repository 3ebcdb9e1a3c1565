//! What a command found in the folders that it may change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::host::ProtectedEntry;
use crate::workspace::roots::Root;

/// The state of the writable directories before a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Snapshot {
    pub(crate) roots: Vec<Root>,
    /// The command as text, for the records of quarantined files.
    pub(crate) command: String,
    pub(crate) entries: Vec<ProtectedEntry>,
    pub(crate) git_targets: Vec<PathBuf>,
    pub(crate) plans: BTreeMap<PathBuf, Vec<String>>,
    /// Whether names are decided when the command creates them, so that it cannot replace existing files.
    pub(crate) is_decided: bool,
}

impl Snapshot {
    pub(super) fn changes(&self, folder: &Path) -> bool {
        self.roots.iter().any(|root| root.path.starts_with(folder) || folder.starts_with(&root.path))
    }

    pub(super) fn shares_a_folder_with(&self, other: &Self) -> bool {
        other.roots.iter().any(|root| self.changes(&root.path))
    }
}
