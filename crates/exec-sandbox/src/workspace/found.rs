//! What a search of a workspace finds, and the folders that it knows by name or content.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::host::{Exposed, KnownLinks, ProtectedEntry, Searched, Watched};

/// Folders of packages, and of what builds leave.
pub(crate) const PACKAGES: &[&str] = &["node_modules", "target", ".venv", "venv", "__pycache__", ".cache"];

/// What lies in folders under names that count.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Found {
    /// What is protected or hidden, outer ones first.
    pub(crate) protected: Vec<ProtectedEntry>,
    /// What may change and is reported then.
    pub(crate) watched: Vec<Watched>,
    /// What links and settings lead to, whether it is there or not.
    pub(crate) led_to: Vec<PathBuf>,
    /// What is seen although a secret stands in it.
    pub(crate) exposed: Vec<Exposed>,
    /// The links that lie there.
    pub(crate) links: KnownLinks,
    /// The lines of git's plans that run programs.
    pub(crate) plans: BTreeMap<PathBuf, Vec<String>>,
    /// Whether everything was looked at, and what is mounted is all that is protected.
    pub(crate) searched: Searched,
}

/// Whether git takes a folder with these names for a repository. Links count: they need not lead anywhere.
pub(crate) fn is_repository(has: impl Fn(&str) -> bool) -> bool {
    has("HEAD") && (has("commondir") || (has("objects") && has("refs")))
}
