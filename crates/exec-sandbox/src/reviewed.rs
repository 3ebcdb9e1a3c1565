//! What became of the changes of a command that worked on a view of the workspace.

use std::path::PathBuf;

/// What a command changed in its view of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reviewed {
    /// What the changes are called.
    pub id: String,
    /// What the view was made of: `overlay` or `copy`.
    pub view: &'static str,
    /// How many paths are different in it.
    pub changed: usize,
    /// How many of these are in the workspace now.
    pub applied: usize,
    /// What is never applied, and why.
    pub refused: Vec<(PathBuf, String)>,
    /// What was not applied since the user changed it meanwhile, and why.
    pub conflicts: Vec<(PathBuf, String)>,
    /// Why the changes could not be looked at or applied, if they could not.
    pub failed: Option<String>,
    /// Folders of the workspace that were empty in the view: other file systems are mounted there.
    pub empty: Vec<PathBuf>,
    /// Changes of earlier commands that were dropped, and how many in each nobody had decided on.
    pub dropped: Vec<(String, usize)>,
}
