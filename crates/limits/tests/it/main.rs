//! The limits from outside: properties on random input, memory, auto traits, and many clients at once.
#![expect(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test may panic")]

mod auto_traits;
mod interleavings;
mod memory;
mod properties;
mod random;
mod seeds;
