//! The crate through its public interface.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail by panicking"
)]

mod access;
mod names;
mod paths;
mod properties;
mod replay;
#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod seeds;
mod support;
mod tools;
mod traits;
