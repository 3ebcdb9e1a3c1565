//! `stockade serve`: every layer for a program in any language, by JSON-RPC 2.0 with one message a line.
//!
//! ```text
//!            lines ──► reader ──► small and quick: answered at once ──► traffic ──► writer ──► lines
//!                        │                                                ▲
//!                        └──► long or slow: a pool of workers ────────────┘
//! ```
//!
//! `requests` and `wire` know JSON-RPC, `lines` cuts the input, `traffic` bounds what is under way, `pool` works, `connection` joins
//! them, `socket` makes connections, and `methods` has one file for each group of methods and the table of all.
#![cfg_attr(
    not(target_os = "linux"),
    expect(
        dead_code,
        unused_imports,
        reason = "only the method `exec` needs them, which other systems lack"
    )
)]

mod connection;
mod fault;
mod lines;
mod methods;
mod pool;
mod requests;
mod schema;
mod sessions;
mod socket;
mod traffic;
mod wire;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
#[cfg(target_os = "linux")]
use std::sync::Arc;

pub(crate) use connection::converse;
pub(crate) use schema::document as schema;
pub(crate) use socket::{SocketError, listen};

use methods::{CompiledRules, Trail};
use pool::Pool;
use sessions::Sessions;
use stockade_guard::policy::CommandPolicy;
#[cfg(target_os = "linux")]
use stockade_guard::{GuardCache, exec::SandboxPool};

/// The longest line that is read unless somebody says otherwise, in bytes.
pub(crate) const MAX_REQUEST: usize = 16 << 20;

/// How many sandboxes are made beforehand: an agent runs one command after the other, and each that waits takes memory.
#[cfg(target_os = "linux")]
const READY_SANDBOXES: usize = 1;

/// How the server is set up.
#[derive(Debug, Clone)]
pub(crate) struct ServeOptions {
    /// The longest line that is read, in bytes.
    pub(crate) max_request: usize,
    /// How many commands may run at the same time.
    pub(crate) max_commands: usize,
    /// Where commands are put on record.
    pub(crate) audit: Audit,
    /// The agent whose commands are run, and no others.
    pub(crate) agent: Option<String>,
}

/// Where commands are put on record.
#[derive(Debug, Clone)]
pub(crate) enum Audit {
    /// In the trail of this user.
    Default,
    /// In this trail.
    File(PathBuf),
    /// Nowhere.
    Off,
}

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Server {
    options: ServeOptions,
    /// For requests that are long, or that read the disk.
    work: Pool,
    /// For requests that wait for a command.
    run: Pool,
    sessions: Sessions,
    trail: Trail,
    /// The built-in rules for commands, ready to decide.
    commands: CommandPolicy,
    /// The rules that requests bring along, compiled.
    compiled_rules: CompiledRules,
    /// The guards of agents, each compiled once and again when its configuration changes.
    #[cfg(target_os = "linux")]
    guards: GuardCache,
    /// Sandboxes that wait for the next command of the last kind.
    #[cfg(target_os = "linux")]
    sandboxes: Arc<SandboxPool>,
}

impl Server {
    pub(crate) fn new(options: ServeOptions) -> Self {
        Self {
            work: Pool::new("stockade-work", pool::processors().max(2)),
            run: Pool::new("stockade-run", options.max_commands),
            sessions: Sessions::default(),
            trail: Trail::new(options.audit.clone()),
            commands: CommandPolicy::builtin(),
            compiled_rules: CompiledRules::default(),
            #[cfg(target_os = "linux")]
            guards: GuardCache::default(),
            #[cfg(target_os = "linux")]
            sandboxes: Arc::new(SandboxPool::new(READY_SANDBOXES)),
            options,
        }
    }
}
