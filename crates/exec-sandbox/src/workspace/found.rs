//! What a search of a workspace finds, and the folders that it knows by name or content.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::host::{Exposed, KnownLinks, ProtectedEntry, Searched, Watched};

/// Directories of packages and build output.
pub(crate) const PACKAGES: &[&str] = &["node_modules", "target", ".venv", "venv", "__pycache__", ".cache"];

/// The files in directories with names of the table.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Found {
    /// Protected and hidden files, outer ones first.
    pub(crate) protected: Vec<ProtectedEntry>,
    /// Files whose changes are reported.
    pub(crate) watched: Vec<Watched>,
    /// Targets of symlinks and settings, existing or not.
    pub(crate) git_targets: Vec<PathBuf>,
    /// Visible files that contain secrets.
    pub(crate) exposed: Vec<Exposed>,
    /// The existing symlinks.
    pub(crate) links: KnownLinks,
    /// Lines that run programs in git's pending work.
    pub(crate) plans: BTreeMap<PathBuf, Vec<String>>,
    /// Whether every directory was read, and all protected names can be mounted.
    pub(crate) searched: Searched,
}

/// Whether git recognizes a directory with these names as a repository. Dangling symlinks count as well.
pub(crate) fn is_repository(has: impl Fn(&str) -> bool) -> bool {
    has("HEAD") && (has("commondir") || (has("objects") && has("refs")))
}
