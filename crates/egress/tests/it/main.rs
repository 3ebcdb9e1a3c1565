//! The egress proxy from outside: properties of hosts and requests, and what its threads hold.
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may panic")]

#[cfg(target_os = "linux")]
mod capabilities;
mod helpers;
mod properties;
mod seeds;
