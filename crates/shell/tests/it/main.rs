//! The crate through its public interface.

#![expect(clippy::panic, reason = "helpers of tests fail by panicking")]

mod follows;
mod linear;
mod properties;
mod reads;
mod refuses;
mod repeated;
mod replay;
#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod seeds;
mod support;
mod texts;
mod traits;
