//! The crate through its public interface.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests fail by panicking, and the seeds are files"
)]

mod follows;
mod linear;
mod properties;
mod reads;
mod refuses;
mod repeated;
mod replay;
mod seeds;
mod support;
mod texts;
mod traits;
