//! Keeps a panic in one request from ending the others.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Returns what `work` returns, or nothing where a panic ended it. The panic hook of the program has reported that.
pub(crate) fn catch_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}
