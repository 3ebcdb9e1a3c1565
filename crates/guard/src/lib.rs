//! Composes the layers of Stockade for one agent, and does the I/O that they do not do.
//!
//! Untrusted files, skills and packages are admitted by [`admission`].
//!
//! Paths for tools are opened by its [`PathGuard`](admission::PathGuard), so that the authorized file is the opened one.
//!
//! Limits persist in a `SqliteStore`, or are shared by machines in a `RedisStore`.
//!
//! What was allowed, refused and run is recorded in an `audit` trail.
//!
//! A `Guard` combines all of this for one agent, compiled once from a [`config`]. A `Session` of it decides on skills, tools,
//! calls, paths and commands in one form, runs commands in a sandbox, and records every decision before it takes effect.
#![forbid(unsafe_code)]

#[cfg(all(doctest, feature = "sqlite"))]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(unix)]
mod bound_socket;
#[cfg(all(feature = "audit", feature = "config", feature = "exec", target_os = "linux"))]
pub mod broker;
#[cfg(all(feature = "audit", feature = "config", feature = "exec", target_os = "linux"))]
mod denied_files;
#[cfg(all(feature = "audit", feature = "config"))]
mod evaluation;
#[cfg(feature = "exec")]
pub mod exec;
#[cfg(all(feature = "audit", feature = "config"))]
mod guard;
#[cfg(all(feature = "config", feature = "sqlite"))]
mod limit_store;
#[cfg(all(feature = "audit", feature = "config", feature = "exec", target_os = "linux"))]
mod package_hosts;
#[cfg(all(feature = "audit", feature = "config", feature = "exec", target_os = "linux"))]
mod package_mirrors;
#[cfg(feature = "config")]
mod rule_store;
#[cfg(all(feature = "audit", feature = "config", feature = "exec", target_os = "linux"))]
mod runner;
#[cfg(all(feature = "audit", feature = "config"))]
mod session;
#[cfg(unix)]
pub use bound_socket::{BoundSocket, BoundSocketError};
#[cfg(all(feature = "audit", feature = "config"))]
pub use evaluation::{EvaluatedFor, evaluation_event, path_evaluation_event};
#[cfg(all(feature = "audit", feature = "config"))]
pub use guard::{
    Decision, DecisionLayer, DecisionRule, Guard, GuardCache, GuardCacheError, GuardError, GuardOptions,
    admit_options,
};
#[cfg(all(feature = "config", feature = "sqlite"))]
pub use limit_store::{LazyLimitStore, open_limit_store};
#[cfg(feature = "config")]
pub use rule_store::{RuleStore, RuleStoreError};
#[cfg(all(feature = "audit", feature = "config", feature = "exec", target_os = "linux"))]
pub use runner::{Egress, NotRun, PreparedRun, RunRecord, RunReport, network_held};
#[cfg(all(feature = "audit", feature = "config"))]
pub use session::{
    Call, Execution, HostAnswer, Narrowing, PathAnswer, RuleOrigin, Session, SessionOptions, Why, WhyPart,
};
#[cfg(all(feature = "audit", feature = "config", feature = "exec", target_os = "linux"))]
pub use session::{GraphRun, PendingRun, Ran, RunAnswer, RunPlace, WouldRun};
#[cfg(feature = "container")]
pub use stockade_admission::container;
pub use stockade_admission::{self as admission, scanner};
#[cfg(feature = "audit")]
pub use stockade_audit as audit;
pub use stockade_command::{self as command, AgentCommands};
#[cfg(feature = "config")]
pub use stockade_config as config;
#[cfg(feature = "config")]
pub use stockade_egress as egress;
#[cfg(feature = "eval")]
pub use stockade_eval as eval;
pub use stockade_files::Resolver;
#[cfg(feature = "sqlite")]
pub use stockade_limit_stores::SqliteStore;
#[cfg(feature = "redis")]
pub use stockade_limit_stores::{Forgetting, RedisOptions, RedisStore};
pub use stockade_limits as limits;
pub use stockade_limits_replay as limits_replay;
#[cfg(all(feature = "config", target_os = "linux"))]
pub use stockade_model_cli as driven;
pub use stockade_output as output;
pub use stockade_policy as policy;
pub use stockade_sanitize as sanitize;
