//! Manifests from outside.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod properties;
mod seeds;
