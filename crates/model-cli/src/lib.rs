//! Presets for the CLIs of models: what "run this CLI" may see and reach.
//!
//! The CLI, and all that it starts, runs in one sandbox. Of its own home it sees nothing (`secureCredentialHome`): it begins with an
//! empty one. It reaches the host of its model and no other, by a broker (`broker-only`), and has a placeholder for its key, which the
//! broker replaces. [`drive()`] returns that as a [`SandboxSpec`], hosts and secrets, for the caller to run.
//!
//! ```no_run
//! # #[cfg(target_os = "linux")] {
//! use stockade_model_cli::{DriveRequest, drive};
//!
//! let driven = drive(&DriveRequest::new("claude", "/srv/work", ["-p", "say hello"]))?;
//! for host in &driven.hosts {
//!     println!("{}: {}", host.entry, host.why);
//! }
//! # }
//! # #[cfg(target_os = "linux")]
//! # Ok::<(), stockade_model_cli::DriveError>(())
//! ```
//!
//! [`SandboxSpec`]: stockade_exec_sandbox::SandboxSpec

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod api_base;
mod drive;
mod error;
mod find;
mod kept;
mod request;
mod table;

pub use api_base::ApiBase;
pub use drive::{Driven, DrivenHost, drive};
pub use error::DriveError;
pub use request::{DriveRequest, KeepState};
pub use table::{DrivenCli, DrivenKey};
