//! Stores for the limits of AI agents that several processes or machines share.
//!
//! - [`SqliteStore`] (feature `sqlite`): a file, for the processes of one machine.
//! - [`RedisStore`] (feature `redis`): a server, for machines that share budgets.
//!
//! Both keep what was used across restarts. A store that fails refuses: what was used cannot be known then.
//!
//! ```
//! # #[cfg(feature = "sqlite")] {
//! use stockade_limit_stores::SqliteStore;
//! use stockade_limits::Usage;
//! use stockade_limits::breaker::CallOutcome;
//! use stockade_limits::store::{AgentLimits, CallVerdict, SharedLimits};
//!
//! let folder = tempfile::tempdir()?;
//! let limits = SharedLimits::new(AgentLimits::default(), SqliteStore::open(&folder.path().join("limits.db"))?);
//! match limits.admit("agent-1", "task-1", Usage::tokens(10_000)) {
//!     CallVerdict::Granted(permit) => {
//!         limits.settle(permit, Usage::tokens(8_000), CallOutcome::Success)?;
//!     }
//!     CallVerdict::Refused(refusal) => eprintln!("{refusal}"),
//! }
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

#[cfg(feature = "sqlite")]
mod clock;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(any(feature = "redis", feature = "sqlite"))]
mod whole;

#[cfg(feature = "redis")]
pub use redis::{Forgetting, RedisOptions, RedisStore};
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;

/// The README's example is run as a test.
#[cfg(all(doctest, feature = "sqlite"))]
#[doc = include_str!("../README.md")]
struct Readme;
