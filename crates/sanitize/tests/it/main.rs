//! Integration tests of the public API.
#![expect(clippy::indexing_slicing, clippy::string_slice, clippy::unwrap_used, reason = "a test may panic")]

mod allocations;
#[cfg(feature = "serde")]
mod json;
mod properties;
mod random;
mod seeds;
mod types;
mod weaknesses;
