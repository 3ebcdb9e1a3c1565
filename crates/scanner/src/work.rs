//! What a scan costs, counted, and the ways of doing it: for tests and benches.

use crate::exact::ExactWork;
use crate::prefilter::PrefilterWork;

/// A way of scanning. All of them find the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Method {
    /// Prefilters, and runs the patterns that come through.
    #[default]
    Prefiltered,
    /// Tries every pattern on the whole text, in every view, and asks nothing but the patterns themselves.
    Exhaustive,
}

/// What a scan cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// What the prefilter did.
    pub prefilter: PrefilterWork,
    /// What the exact engine did.
    pub exact: ExactWork,
    /// Bytes of deobfuscated text that were made.
    pub deobfuscated: usize,
    /// Bytes of decoded text that were made.
    pub decoded: usize,
}

impl Work {
    /// Returns all of it as one number, in steps of about a byte each.
    #[must_use]
    pub fn steps(&self) -> usize {
        let Self { prefilter, exact, deobfuscated, decoded } = self;
        prefilter.bytes
            + prefilter.run_bytes
            + prefilter.places
            + prefilter.grams
            + prefilter.hits
            + prefilter.around
            + exact.searched
            + exact.matches
            + exact.excused
            + deobfuscated
            + decoded
    }
}
