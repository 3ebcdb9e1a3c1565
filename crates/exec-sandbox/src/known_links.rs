//! Which links lie in a workspace before a command, so that those are known which it makes.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;
use std::sync::LazyLock;

/// So many links are remembered. One that is not counts as new.
const MAX_KNOWN: usize = 1_000_000;

/// The links that were there, by what they are called and what they say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KnownLinks(HashSet<u64>);

impl KnownLinks {
    /// Only known to this process: nothing that a command makes can look like another link on purpose.
    fn key(path: &Path, to: &Path) -> u64 {
        static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
        KEYS.hash_one((path, to))
    }

    pub(crate) fn add(&mut self, path: &Path, to: &Path) {
        if self.0.len() < MAX_KNOWN {
            self.0.insert(Self::key(path, to));
        }
    }

    pub(crate) fn has(&self, path: &Path, to: &Path) -> bool {
        self.0.contains(&Self::key(path, to))
    }
}
