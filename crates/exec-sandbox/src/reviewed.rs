//! The result of a command that worked on an overlay of the workspace.

use std::path::PathBuf;

/// The changes of a command in its overlay of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reviewed {
    /// The identifier of the changes.
    pub id: String,
    /// How the overlay was created: `overlay` (overlayfs) or `copy`.
    pub view: &'static str,
    /// Number of changed paths.
    pub changed: usize,
    /// Number of changed paths that were applied to the workspace.
    pub applied: usize,
    /// Changes that are never applied, with the reason.
    pub refused: Vec<(PathBuf, String)>,
    /// Changes that were not applied because the user changed the same path meanwhile, with the reason.
    pub conflicts: Vec<(PathBuf, String)>,
    /// Why the changes could not be read or applied, if that failed.
    pub failed: Option<String>,
    /// Mount points of other file systems in the workspace, which are empty in the overlay.
    pub empty: Vec<PathBuf>,
    /// Deleted changes of earlier commands, with the number of undecided paths in each.
    pub dropped: Vec<(String, usize)>,
}
