//! Counted cost of a scan, and alternative methods: for tests and benches.

use crate::exact::ExactWork;
use crate::prefilter::PrefilterWork;

/// A method of scanning. All methods find the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Method {
    /// Runs the prefilter, and the patterns that pass it.
    #[default]
    Prefiltered,
    /// Tries every pattern on the whole text, in every view, without any shortcut.
    Exhaustive,
}

/// Cost of a scan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Cost of the prefilter.
    pub prefilter: PrefilterWork,
    /// Cost of the exact engine.
    pub exact: ExactWork,
    /// Bytes of deobfuscated text.
    pub deobfuscated: usize,
    /// Bytes of decoded text.
    pub decoded: usize,
}

impl Work {
    /// Returns the total, in steps of about a byte each.
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
