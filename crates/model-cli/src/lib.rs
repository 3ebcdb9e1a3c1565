//! Presets for AI coding CLIs: what a CLI may see and connect to.
//!
//! The CLI and all that it starts run in one sandbox. It sees nothing of its own home directory (`secureCredentialHome`): it
//! starts with an empty one. It can connect only to the host of its model, through an egress proxy (`broker-only`), and has a
//! placeholder for its key, which the proxy replaces. [`drive()`] returns a [`SandboxSpec`], hosts and secrets, for the caller
//! to run.
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
mod request;
mod saved_state;
mod table;

pub use api_base::ApiBase;
pub use drive::{Driven, DrivenHost, drive};
pub use error::DriveError;
pub use request::{DriveRequest, KeepState};
pub use table::{DrivenCli, DrivenKey};
