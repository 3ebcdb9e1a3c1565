//! A unix socket that only programs of the same user reach.
#![expect(clippy::disallowed_methods, reason = "makes a socket, and a thread for each connection")]

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;
use thiserror::Error;

use super::Server;
use super::connection::converse;
use super::fault::{self, Fault};
use super::wire::response;

/// The most connections at a time.
const MAX_CONNECTIONS: usize = 64;

/// How long to wait when the machine has no room for another connection.
const PAUSE: Duration = Duration::from_millis(100);

/// Write and search for the group and for others.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Whether the system says whose program connects, in a way that needs no unsafe code here.
const PEERS_ARE_KNOWN: bool = cfg!(target_os = "linux");

/// Why there is no socket.
#[derive(Debug, Error)]
pub(crate) enum SocketError {
    /// The folder cannot be used.
    #[error("cannot use the folder {}: {source}", path.display())]
    Folder { path: PathBuf, source: io::Error },
    /// Somebody else could put another socket in its place.
    #[error("others may write to the folder {}, and could put a socket of their own in its place", path.display())]
    SharedFolder { path: PathBuf },
    /// There is something else.
    #[error("{} is there already, and is no socket of this user", path.display())]
    Taken { path: PathBuf },
    /// There is a server.
    #[error("a server listens on {} already", path.display())]
    InUse { path: PathBuf },
    /// Who connects cannot be known, so nobody may.
    #[error("this system does not say whose program connects to a socket")]
    UnknownPeers,
    /// It cannot be made.
    #[error("cannot listen on {}: {source}", path.display())]
    Listen { path: PathBuf, source: io::Error },
}

/// Listens until the program ends. `ready` is called once connections are taken.
pub(crate) fn listen(server: &Arc<Server>, path: &Path, ready: impl FnOnce()) -> Result<(), SocketError> {
    if !PEERS_ARE_KNOWN {
        return Err(SocketError::UnknownPeers);
    }
    let listener = bind(path)?;
    server.ending.listens_on(path.to_owned());
    ready();
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        match stream {
            Ok(stream) => welcome(server, stream, &open),
            // The machine is out of descriptors, say. Those who have one go on.
            Err(_) => thread::sleep(PAUSE),
        }
    }
    Ok(())
}

fn bind(path: &Path) -> Result<UnixListener, SocketError> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let unusable = |source| SocketError::Folder { path: parent.to_owned(), source };
    let folder = fs::canonicalize(parent).map_err(unusable)?;
    let handle = File::open(&folder).map_err(unusable)?;
    let data = handle.metadata().map_err(unusable)?;
    let is_ours = data.uid() == geteuid().as_raw() || data.uid() == 0;
    if !is_ours || data.mode() & WRITABLE_BY_OTHERS != 0 {
        return Err(SocketError::SharedFolder { path: parent.to_owned() });
    }
    // Two servers that start together must not both take a stale socket for theirs.
    flock(handle.as_fd(), FlockOperation::LockExclusive).map_err(|error| unusable(error.into()))?;
    let real = folder.join(path.file_name().unwrap_or_default());
    remove_stale(&real, path)?;
    let failed = |source| SocketError::Listen { path: path.to_owned(), source };
    let listener = UnixListener::bind(&real).map_err(failed)?;
    // Until this is done, whoever connects is still refused by who they are.
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).map_err(failed)?;
    Ok(listener)
}

/// Removes the socket of a server that is gone. `named` is what it is called in messages.
fn remove_stale(path: &Path, named: &Path) -> Result<(), SocketError> {
    let failed = |source| SocketError::Listen { path: named.to_owned(), source };
    let data = match fs::symlink_metadata(path) {
        Ok(data) => data,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    if !data.file_type().is_socket() || data.uid() != geteuid().as_raw() {
        return Err(SocketError::Taken { path: named.to_owned() });
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(failed)
        }
        Ok(_) => Err(SocketError::InUse { path: named.to_owned() }),
        Err(error) => Err(failed(error)),
    }
}

fn welcome(server: &Arc<Server>, stream: UnixStream, open: &Arc<AtomicUsize>) {
    // Permissions guard the name of the socket; this guards against one that was handed on.
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
    // If there is no thread to be had, the connection ends here.
    thread
        .spawn(move || {
            let _counted = counted;
            if let Ok(from) = stream.try_clone() {
                // A connection that breaks concerns nobody but its client.
                converse(&server, from, &stream, &|| is_connected(&stream)).ok();
            }
        })
        .ok();
}

/// Whether the other end is open in either direction: one that has only said all that it has to say still listens.
fn is_connected(stream: &UnixStream) -> bool {
    let mut fds = [PollFd::new(stream, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let polled = poll(&mut fds, Some(&now));
    polled.is_err() || !fds.iter().any(|fd| fd.revents().intersects(PollFlags::ERR | PollFlags::HUP))
}

#[cfg(target_os = "linux")]
fn is_of_this_user(stream: &UnixStream) -> bool {
    rustix::net::sockopt::socket_peercred(stream).is_ok_and(|peer| peer.uid == geteuid())
}

/// macOS lets nobody connect whom the permissions of the socket do not name, and these name this user alone; who the other end is, it tells
/// to no call with a safe signature.
#[cfg(target_os = "macos")]
fn is_of_this_user(_: &UnixStream) -> bool {
    true
}

/// Other systems may not hold the permissions of a socket.
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
