//! The public face of the trail: what is written, what a change to it shows, and what is exported.
#![expect(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test may panic")]

mod properties;
mod seeds;
mod trail;
