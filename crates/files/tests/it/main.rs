//! Integration tests: reading untrusted directories.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod folders;
mod kernel;
mod properties;
mod seeds;
