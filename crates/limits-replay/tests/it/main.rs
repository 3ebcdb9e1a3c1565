//! Scripts and traces from outside: properties on random input, and the seeds of the fuzz targets.
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may panic")]

mod scripts;
mod seeds;
