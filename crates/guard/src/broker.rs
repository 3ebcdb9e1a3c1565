//! An egress proxy at a shared socket, for sandboxes of several programs and for unsandboxed programs.
//!
//! ```text
//!  stockade exec, run, serve ──► PATH.control ──► a run: token, placeholders, and the end that sandboxes hand their sockets to
//!  programs with that token  ──► PATH ─────────► the same run: CONNECT, whole URLs, SOCKS 5
//! ```
//!
//! Each run has its own proxy with the same host list, and its own limits, placeholders, certificate authority and refusals. Runs
//! are created at a second socket beside the first, which no sandbox contains, so a client with a token cannot create other runs.
//!
//! A run ends with the connection that created it, for whatever reason that program ends. When the proxy ends, nothing listens
//! any more in sandboxes or at the socket, so no connection leaves.
#![expect(clippy::disallowed_methods, reason = "serves sockets, in threads, and reads the clock")]

mod joined;
mod messages;
mod served;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub(crate) use joined::JoinedBroker;
pub use joined::{BrokerAskError, BrokerToken, broker_revoke, broker_status, broker_token};
pub use messages::{BrokerStatus, RunStatus, SecretStatus};
pub use served::{BrokerServeError, BrokerServer, MAX_RUNS, ServedEgress};

/// Variables with the path of the socket and the token, for commands in a sandbox.
pub(crate) const SOCKET_VARIABLE: &str = "STOCKADE_BROKER_SOCKET";
pub(crate) const TOKEN_VARIABLE: &str = "STOCKADE_BROKER_TOKEN";

/// Returns the path of the control socket, which creates runs.
fn control(socket: &Path) -> PathBuf {
    let mut path = OsString::from(socket);
    path.push(".control");
    path.into()
}
