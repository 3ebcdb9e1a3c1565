//! A broker that serves a socket, for sandboxes of several programs and for programs that come to the socket themselves.
//!
//! ```text
//!  stockade exec, run, serve ──► PATH.control ──► a run: token, dummies, and the end that sandboxes hand their sockets to
//!  programs with that token  ──► PATH ─────────► the same run: CONNECT, whole URLs, SOCKS 5
//! ```
//!
//! Each run has a broker of its own, judged by the same list: its own bounds, dummies, authority and refusals. What begins runs
//! and says is enforced is a second socket beside the first, which no sandbox has: a client with a token cannot create other
//! runs.
//!
//! A run that a program of this repository begins ends with its connection to that second socket, however that program ends. When
//! the broker ends, nothing is listened at any more, within or at the socket, so nothing goes out.
#![expect(clippy::disallowed_methods, reason = "serves sockets, in threads, and reads the clock")]

mod joined;
mod messages;
mod served;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub(crate) use joined::JoinedBroker;
pub use joined::{BrokerAskError, BrokerToken, broker_status, broker_token};
pub use messages::{BrokerStatus, RunStatus, SecretStatus};
pub use served::{BrokerServeError, BrokerServer, MAX_RUNS, ServedEgress};

/// What tells a command in a sandbox where the socket is, and what its token is.
pub(crate) const SOCKET_VARIABLE: &str = "STOCKADE_BROKER_SOCKET";
pub(crate) const TOKEN_VARIABLE: &str = "STOCKADE_BROKER_TOKEN";

/// Returns the socket that begins runs, beside the one that serves them.
fn control(socket: &Path) -> PathBuf {
    let mut path = OsString::from(socket);
    path.push(".control");
    path.into()
}
