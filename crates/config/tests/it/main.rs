//! Configurations on disk, and properties that hold for every text of a configuration.
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may panic")]

mod layers;
mod properties;
mod seeds;
