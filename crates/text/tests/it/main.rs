//! Integration tests of `stockade-text`.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a test may panic")]

mod auto_traits;
mod documents;
mod edits;
mod hidden;
mod properties;
#[cfg(all(feature = "nearest", feature = "toml"))]
mod schema;
mod seeds;
