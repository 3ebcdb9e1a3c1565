//! The limits from outside: properties on random input, auto traits, and many clients at once.
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may panic")]

mod auto_traits;
mod interleavings;
mod properties;
mod random;
mod seeds;
