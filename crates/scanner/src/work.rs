//! What a scan costs, counted, and the ways of doing it: for tests and benches.

use crate::exact::ExactWork;
use crate::prefilter::SieveWork;

/// A way of scanning. All of them find the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Method {
    /// Sieves, and runs the shapes that come through.
    #[default]
    Sieved,
    /// Tries every shape on the whole text, in every view, and asks nothing but the patterns themselves.
    Exhaustive,
}

/// What a scan cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// What the sieve did.
    pub sieve: SieveWork,
    /// What the exact engine did.
    pub exact: ExactWork,
    /// Bytes of folded text that were made.
    pub folded: usize,
}

impl Work {
    /// Returns all of it as one number, in steps of about a byte each.
    #[must_use]
    pub fn steps(&self) -> usize {
        let Self { sieve, exact, folded } = self;
        sieve.bytes
            + sieve.run_bytes
            + sieve.places
            + sieve.windows
            + sieve.hits
            + sieve.around
            + exact.searched
            + exact.matches
            + exact.excused
            + folded
    }
}
