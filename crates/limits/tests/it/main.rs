//! The limits from outside: properties on random input, memory, auto traits, and many clients at once.
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may panic")]

mod auto_traits;
#[cfg(feature = "extract")]
mod extraction;
mod interleavings;
#[cfg(feature = "extract")]
mod memory;
mod properties;
mod random;
#[cfg(feature = "extract")]
mod random_sources;
#[cfg(feature = "script")]
mod scripts;
mod seeds;
