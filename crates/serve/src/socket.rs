//! A Unix socket for programs of the same user.
#![expect(clippy::disallowed_methods, reason = "makes a socket, and a thread for each connection")]

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use stockade_guard::{BoundSocket, BoundSocketError};
use thiserror::Error;

use super::connection::converse;
use super::fault::{self, Fault};
use super::wire::response;
use crate::Server;

/// Maximum number of connections.
const MAX_CONNECTIONS: usize = 64;

/// Delay after the machine could not accept a connection.
const PAUSE: Duration = Duration::from_millis(100);

/// Whether the system reports the user of a connection by a call with a safe signature.
const PEERS_ARE_KNOWN: bool = cfg!(target_os = "linux");

/// Why the socket cannot be served.
#[derive(Debug, Error)]
pub enum SocketError {
    /// The socket cannot be created.
    #[error(transparent)]
    Bound(#[from] BoundSocketError),
    /// The system cannot report the user of a connection, so every connection is refused.
    #[error("this system does not report the user of a socket's peer")]
    UnknownPeers,
}

/// Listens until the program ends. `ready` is called once connections are accepted.
pub fn listen(server: &Arc<Server>, path: &Path, ready: impl FnOnce()) -> Result<(), SocketError> {
    if !PEERS_ARE_KNOWN {
        return Err(SocketError::UnknownPeers);
    }
    let bound = BoundSocket::bind(path, 0o600)?;
    server.shutdown.listens_on(path.to_owned());
    ready();
    let open = Arc::new(AtomicUsize::new(0));
    for stream in bound.listener().incoming() {
        match stream {
            Ok(stream) => welcome(server, stream, &open),
            // The process may be out of file descriptors. Existing connections continue.
            Err(_) => thread::sleep(PAUSE),
        }
    }
    Ok(())
}

fn welcome(server: &Arc<Server>, stream: UnixStream, open: &Arc<AtomicUsize>) {
    // The socket's permissions guard its path; this check guards against a descriptor that was passed on.
    if !is_of_this_user(&stream) {
        return;
    }
    if open.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
        open.fetch_sub(1, Ordering::Relaxed);
        refuse(stream);
        return;
    }
    let (server, counted) = (Arc::clone(server), Counted(Arc::clone(open)));
    let thread = thread::Builder::new().name("stockade-read".to_owned()).stack_size(8 << 20);
    // If no thread can be created, the connection is closed.
    thread
        .spawn(move || {
            let _counted = counted;
            if let Ok(from) = stream.try_clone() {
                // An error of a connection affects only its own client.
                converse(&server, from, &stream, &|| is_connected(&stream)).ok();
            }
        })
        .ok();
}

/// Whether the other end is open in either direction: a client that closed only its writing half still reads answers.
fn is_connected(stream: &UnixStream) -> bool {
    let mut fds = [PollFd::new(stream, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let polled = poll(&mut fds, Some(&now));
    polled.is_err() || !fds.iter().any(|fd| fd.revents().intersects(PollFlags::ERR | PollFlags::HUP))
}

#[cfg(target_os = "linux")]
fn is_of_this_user(stream: &UnixStream) -> bool {
    rustix::net::sockopt::socket_peercred(stream).is_ok_and(|peer| peer.uid == rustix::process::geteuid())
}

/// On macOS the permissions of a socket decide who may connect, and these allow only this user. The peer's user is not available
/// through a call with a safe signature.
#[cfg(target_os = "macos")]
fn is_of_this_user(_: &UnixStream) -> bool {
    true
}

/// Other systems may not enforce the permissions of a socket.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn is_of_this_user(_: &UnixStream) -> bool {
    false
}

fn refuse(mut stream: UnixStream) {
    let fault = Fault::new(fault::BUSY, format!("{MAX_CONNECTIONS} connections are open; close one"));
    stream.set_write_timeout(Some(PAUSE)).ok();
    stream.write_all(format!("{}\n", response(None, &Err(fault))).as_bytes()).ok();
}

/// A connection that counts while it is open.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
