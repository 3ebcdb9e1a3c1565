//! Results of tools from outside: properties on random input, memory and auto traits.
#![cfg(feature = "extract")]
#![expect(clippy::indexing_slicing, reason = "a test may panic")]

mod auto_traits;
mod extraction;
mod memory;
mod random;
mod seeds;
