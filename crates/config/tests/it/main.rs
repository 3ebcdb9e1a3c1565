//! Configurations as they are found on a disk, and what is true of every text that stands in one.
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may panic")]

mod layers;
mod properties;
mod seeds;
