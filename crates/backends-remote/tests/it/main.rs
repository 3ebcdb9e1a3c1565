//! The clients of remote backends against servers that are as strict as the real ones and fail as planned.
#![cfg(target_os = "linux")]
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may panic")]

#[cfg(feature = "e2b")]
mod e2b;
#[cfg(all(feature = "e2b", feature = "kube"))]
mod helpers;
#[cfg(feature = "kube")]
mod kubernetes;
#[cfg(feature = "e2b")]
mod program;
