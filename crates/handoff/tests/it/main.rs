//! What passes between a sandbox and a proxy, and what a helper may do, seen from outside.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod helper;
mod listeners;
