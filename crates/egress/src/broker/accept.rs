//! Accepts connections on the sockets of sandboxes, in one thread for all.

use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::SocketType;
use rustix::net::sockopt::socket_type;
use stockade_handoff::PROXY_PORT;

use super::answer::say;
use super::refusals::Refused;
use super::resolve_check::Brokered;
use super::{Shared, client, name_server, spawn, tunnel};

/// Delay before accepting is retried when there was no room for a client.
const PAUSE: Duration = Duration::from_millis(10);

/// Maximum number of connections accepted on one socket before the others are served.
const AT_ONCE: usize = 16;

/// A socket of a sandbox.
pub(super) enum Taken {
    /// Name queries over UDP.
    Names(UdpSocket),
    Stream(TcpListener, Served),
}

/// The service of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Served {
    /// Requests to the HTTP and SOCKS proxy.
    Proxy,
    /// Name queries over TCP.
    Names,
    /// Connections to the address of a host.
    Host,
}

/// Accepts and serves connections to these sockets and to those that are handed over, until the broker ends.
pub(super) fn all(shared: &Arc<Shared>, mut sockets: Vec<Taken>) {
    let mut is_full = false;
    loop {
        let Ok(ready) = ready(shared, &sockets, is_full) else { return };
        is_full = false;
        let (handoff, taken) = ready.split_first().map_or((false, &[][..]), |(first, rest)| (*first, rest));
        if handoff {
            match shared.listeners.next_socket() {
                Ok(Some(socket)) => sockets.extend(Taken::of(socket).ok()),
                // The sandbox is gone before it passed a socket, or the proxy ends.
                Ok(None) | Err(_) => return,
            }
        }
        for (socket, _) in sockets.iter().zip(taken).filter(|(_, is_ready)| **is_ready) {
            match socket {
                Taken::Names(socket) => name_server::answer_all(socket, shared),
                Taken::Stream(listener, served) => is_full |= !accept(listener, *served, shared),
            }
        }
    }
}

/// Waits for events: at the handoff, which is the first result, and at each socket.
fn ready(shared: &Shared, sockets: &[Taken], is_full: bool) -> io::Result<Vec<bool>> {
    let mut fds = vec![PollFd::new(&shared.listeners, PollFlags::IN)];
    fds.extend(sockets.iter().map(|socket| match socket {
        Taken::Names(socket) => PollFd::new(socket, PollFlags::IN),
        // Not polled for input while full: the event would be ready again at once.
        Taken::Stream(listener, _) if is_full => PollFd::new(listener, PollFlags::empty()),
        Taken::Stream(listener, _) => PollFd::new(listener, PollFlags::IN),
    }));
    let pause = Timespec { tv_sec: 0, tv_nsec: i64::from(PAUSE.subsec_nanos()) };
    match poll(&mut fds, is_full.then_some(&pause)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    // After the pause, every socket is tried again, because waiting clients cause no new event.
    Ok(fds.iter().enumerate().map(|(at, fd)| !fd.revents().is_empty() || (is_full && at > 0)).collect())
}

impl Taken {
    fn of(socket: OwnedFd) -> io::Result<Self> {
        if socket_type(&socket)? == SocketType::DGRAM {
            let socket = UdpSocket::from(socket);
            // One thread serves all sockets, so no call on one of them may block.
            socket.set_nonblocking(true)?;
            return Ok(Self::Names(socket));
        }
        let listener = TcpListener::from(socket);
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        // The sandbox sends only descriptors, so the address is what distinguishes the sockets.
        let served = match (address.ip() == Ipv4Addr::LOCALHOST, address.port()) {
            (true, PROXY_PORT) => Served::Proxy,
            (true, name_server::PORT) => Served::Names,
            _ => Served::Host,
        };
        Ok(Self::Stream(listener, served))
    }
}

/// Accepts some of the waiting clients of a socket. Returns whether there was room for all of them.
fn accept(listener: &TcpListener, served: Served, shared: &Arc<Shared>) -> bool {
    for _ in 0..AT_ONCE {
        // Reserved before `accept`: without room, the client stays in the kernel's queue, where it costs nothing.
        let Some(counted) = shared.room() else { return false };
        let client = match listener.accept() {
            Ok((client, _)) => client,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return true,
            // The client has disconnected, or the process is briefly out of file descriptors.
            Err(_) => return false,
        };
        let for_thread = Arc::clone(shared);
        let serve = move || {
            let _counted = counted;
            let Some(kept) = for_thread.keep_asking(&client) else { return };
            match served {
                Served::Names => name_server::serve(&client, &for_thread),
                Served::Proxy => match for_thread.too_many() {
                    None => client::serve(&client, &for_thread, &kept),
                    Some(before) => turn_away(&client, &for_thread, before),
                },
                Served::Host => match for_thread.too_many() {
                    None => tunnel::at_host(&client, &for_thread, &kept),
                    Some(before) => too_many(&for_thread, before),
                },
            }
            // The kept duplicate would hold the connection open after `client` is dropped.
            client.shutdown(Shutdown::Both).ok();
        };
        // If no thread can be created, the connection is closed.
        spawn(shared, serve).ok();
    }
    true
}

/// Records only the first request above the limit, so that a command cannot fill the trail.
fn too_many(shared: &Shared, before: u64) {
    if before == 0 {
        shared.refused(&refusal(shared));
    }
}

impl Shared {
    /// Returns the refusal of a request above the limit, on an open connection. The first is recorded.
    pub(super) fn refused_as_too_many(&self, before: u64) -> Arc<Refused> {
        if before == 0 { self.refused(&refusal(self)) } else { Arc::new(Refused::new(None, refusal(self))) }
    }
}

fn turn_away(client: &TcpStream, shared: &Shared, before: u64) {
    too_many(shared, before);
    say(client, &Refused::new(None, refusal(shared)), None);
}

fn refusal(shared: &Shared) -> Brokered {
    let most = shared.options.requests.unwrap_or(u64::MAX);
    let reason = format!("the command has sent all of its {most} requests");
    let fix = Some("start it with a higher --max-requests, or without one".to_owned());
    Brokered { fix, ..Brokered::refused(&"the request", "too-many", reason) }
}
