//! Integration tests: reading of repositories, compared with git, and properties of any input.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod git;
mod properties;
mod seeds;
