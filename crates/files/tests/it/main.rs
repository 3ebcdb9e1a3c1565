//! The ground floor for files: what strangers put into folders, and what is read of it.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod folders;
mod git;
mod kernel;
mod properties;
mod seeds;
