//! The symlinks in a workspace before a command, to recognize those that it creates.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;
use std::sync::LazyLock;

/// Maximum number of recorded symlinks. Any other counts as new.
const MAX_KNOWN: usize = 1_000_000;

/// Hashes of the existing symlinks, over path and target.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KnownLinks(HashSet<u64>);

impl KnownLinks {
    /// Returns the hash of a symlink. Its keys are random per process, so that a command cannot create a colliding symlink.
    fn key(path: &Path, to: &Path) -> u64 {
        static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
        KEYS.hash_one((path, to))
    }

    /// Records a symlink and its target.
    pub fn add(&mut self, path: &Path, to: &Path) {
        if self.0.len() < MAX_KNOWN {
            self.0.insert(Self::key(path, to));
        }
    }

    /// Whether this symlink was recorded with this target.
    #[must_use]
    pub fn has(&self, path: &Path, to: &Path) -> bool {
        self.0.contains(&Self::key(path, to))
    }
}
