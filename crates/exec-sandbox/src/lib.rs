//! Runs one command of an AI agent in a sandbox that shows it only the files and hosts that it was given.
//!
//! A [`SandboxSpec`] is the request, [`HostFacts`](host::HostFacts) describe this machine, and [`plan()`] turns both into a
//! [`Plan`] or a [`Refusal`]: mounts with a reason each, variables, limits, and what will be enforced. Planning touches nothing,
//! so a plan can be printed, compared and tested anywhere. [`run()`] carries a plan out on Linux, with a launcher of its own
//! that needs nothing installed and no privileges: namespaces, a system-call filter, Landlock and limits.
//!
//! The sandbox does **not** judge what the command does with its access: a command with a writable workspace can destroy it,
//! and one with an open network can upload it. A kernel vulnerability can break the sandbox.
//!
//! ```
//! use stockade_exec_sandbox::host::{Entry, HostFacts, Kernel};
//! use stockade_exec_sandbox::{SandboxSpec, plan};
//!
//! let facts = HostFacts {
//!     entries: [("/usr".into(), Entry::Folder), ("/srv/work".into(), Entry::Folder)].into(),
//!     home: "/home/agent".into(),
//!     user: 1000,
//!     kernel: Kernel { namespaces: true, landlock: 7, seccomp: true, mediation: true },
//!     ..HostFacts::default()
//! };
//! let plan = plan(&SandboxSpec::new("/srv/work", ["make", "test"]), &facts)?;
//! assert!(plan.to_string().contains("rw \"/srv/work\"  (the workspace)"));
//!
//! let refusal = stockade_exec_sandbox::plan(&SandboxSpec::new("/etc", ["make"]), &facts).unwrap_err();
//! assert_eq!(refusal.to_string(), "cannot make /etc writable: /etc is never shared, nor any path above or below it");
//! # Ok::<(), stockade_exec_sandbox::Refusal>(())
//! ```
#![deny(unsafe_code)]
#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, unused_imports, reason = "elsewhere plans are made and nothing is run, nor watched")
)]

#[cfg(all(doctest, target_os = "linux"))]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod backends;
mod binds;
mod bwrap;
#[cfg(target_os = "linux")]
mod cgroup;
mod choices;
mod container_request;
mod enforcement;
mod env;
mod explain;
#[cfg(target_os = "linux")]
mod exposed_secrets;
pub mod host;
#[cfg(target_os = "linux")]
mod journal;
mod limits;
mod mode;
#[cfg(target_os = "linux")]
mod moment;
pub mod mounts;
#[cfg(target_os = "linux")]
mod native;
mod outcome;
pub mod patch;
mod plan;
#[cfg(target_os = "linux")]
mod probe;
mod processors;
mod protect;
pub mod provider;
#[cfg(target_os = "linux")]
pub mod quarantine;
mod quarantined;
mod reach;
mod refusal;
mod requirement;
#[cfg(target_os = "linux")]
pub mod review;
mod reviewed;
#[cfg(target_os = "linux")]
pub mod run;
pub mod seatbelt;
mod spec;
#[cfg(target_os = "linux")]
mod state;
#[cfg(target_os = "linux")]
mod sweep;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod tiers;
#[cfg(target_os = "linux")]
mod tracked;
#[cfg(target_os = "linux")]
mod workspace;
#[cfg(target_os = "linux")]
mod worktree;

pub use bwrap::bwrap_arguments;
pub use choices::{
    BackendName, HomeView, OnUnavailable, ReviewMode, ReviewPolicy, SandboxBackend, SandboxMode,
    backend_option,
};
pub use enforcement::{Enforcement, EnforcementGap, Property};
pub use explain::Denial;
pub use limits::{Limit, Priority, ResourceLimits};
pub use outcome::{Changed, DroppedGroup, EXIT_CODES, End, Outcome, Output, ResourceUsage};
pub use plan::{Identity, Plan, plan};
#[cfg(target_os = "linux")]
pub use probe::probe;
pub use processors::Processors;
pub use protect::name_table;
pub use quarantined::{LeftBy, Quarantined};
pub use refusal::{Refusal, SandboxRule, What};
pub use reviewed::Reviewed;
#[cfg(target_os = "linux")]
pub use run::{RunError, SandboxPool, plan_and_run, run, run_added, run_controlled, run_prepared};
pub use spec::{
    Caches, Confinement, Environment, Explain, HomeState, MountAccess, Network, Protection, SandboxSpec,
    Spawn,
};
#[cfg(target_os = "linux")]
pub use state::state_folder;
pub use stockade_git::GitSettings;
pub use stockade_handoff as handoff;
pub use stockade_seccomp as seccomp;
#[cfg(target_os = "linux")]
pub use tiers::{TierEnforcement, tier_table};
