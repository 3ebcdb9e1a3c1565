//! Skills from outside: heads, commands, arguments and frames.
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may panic")]

mod auto_traits;
mod heads;
mod properties;
mod seeds;
