//! A shared socket for clients on this machine and for sandboxes that have it at the same path. A client identifies its run by a
//! token, and is then served by the broker of that run: as its own sandbox would be.
//!
//! Until then, a client counts among those that wait here. Their number is limited; at the limit, the one that has waited longest
//! is closed. So a client that sends nothing cannot keep others out.
#![expect(clippy::disallowed_methods, reason = "keeps threads for the connections")]

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::net::sockopt::socket_peercred;
use stockade_handoff::keep_capabilities;

use super::super::proxy_token::{proxy_token, to_whole_url};
use super::super::socks::{self, Socks};
use super::answer::{MOMENT, about, say, say_bytes};
use super::client_reader::{Incoming, More, head};
use super::refusals::Refused;
use super::resolve_check::Brokered;
use super::{BrokerHandle, KEPT, STACK, client};

/// Maximum number of clients that have not sent a token.
const MAX_WAITING: usize = 128;

/// Minimum time before a waiting client may be closed in favour of another.
const MIN_WAIT: Duration = Duration::from_millis(100);

/// Timeout for a client's token.
const PATIENCE: Duration = Duration::from_secs(10);

/// Time that a client waits for room if its run has the maximum number of connections.
const FOR_ROOM: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(10);

/// The status code for a client that finds no room.
const BUSY: u16 = 503;

/// Maximum length of a SOCKS name and password (RFC 1929).
const MAX_SOCKS: usize = 1024;

/// How a client is told to identify its run.
const FIX: &str = "send `Proxy-Authorization: Bearer TOKEN`, with the token of `$STOCKADE_BROKER_TOKEN` within a run, and of `stockade broker token` elsewhere";

/// Authorization of the clients of a shared socket.
pub trait Gatekeeper: Send + Sync + 'static {
    /// Whether programs of this user may connect.
    fn knows(&self, uid: u32) -> bool;

    /// Returns the proxy of a token.
    fn broker(&self, token: &str) -> Option<BrokerHandle>;

    /// Records that a client was refused, and returns the ID of the record.
    fn turned_away(&self, refused: &Brokered) -> Option<String>;
}

/// A served socket. Dropping it stops accepting clients; accepted clients belong to their proxies.
pub struct BrokerGate {
    shared: Arc<Waiting>,
    listener: UnixListener,
}

impl BrokerGate {
    /// Starts to serve a socket.
    ///
    /// # Errors
    /// When a thread cannot be created.
    pub fn open(listener: UnixListener, keeper: Arc<dyn Gatekeeper>) -> io::Result<Self> {
        let shared = Arc::new(Waiting { keeper, clients: Mutex::default(), left: Condvar::new() });
        let (accepting, theirs) = (Arc::clone(&shared), listener.try_clone()?);
        thread("broker-gate", move || accept_all(&theirs, &accepting))?;
        Ok(Self { shared, listener })
    }
}

impl Drop for BrokerGate {
    fn drop(&mut self) {
        // Wakes the thread that is blocked in `accept`.
        rustix::net::shutdown(&self.listener, rustix::net::Shutdown::Both).ok();
        let clients = self.shared.clients();
        clients.waiting.values().for_each(|one| drop(one.socket.shutdown(Shutdown::Both)));
        drop(self.shared.left.wait_timeout_while(clients, MOMENT, |clients| !clients.waiting.is_empty()));
    }
}

impl std::fmt::Debug for BrokerGate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BrokerGate").field("listener", &self.listener).finish_non_exhaustive()
    }
}

struct Waiting {
    keeper: Arc<dyn Gatekeeper>,
    clients: Mutex<Clients>,
    left: Condvar,
}

#[derive(Default)]
struct Clients {
    /// In order of arrival.
    waiting: BTreeMap<u64, Client>,
    next: u64,
}

struct Client {
    socket: UnixStream,
    since: Instant,
}

impl Waiting {
    fn clients(&self) -> MutexGuard<'_, Clients> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a client to those that wait. Without room, it waits for a moment and closes the longest-waiting one.
    fn keep(self: &Arc<Self>, socket: &UnixStream) -> Option<WaitingClient> {
        let socket = socket.try_clone().ok()?;
        let mut clients = self.clients();
        while clients.waiting.len() >= MAX_WAITING {
            if let Some(oldest) =
                clients.waiting.values().next().filter(|one| one.since.elapsed() >= MIN_WAIT)
            {
                oldest.socket.shutdown(Shutdown::Both).ok();
            }
            let waited = self.left.wait_timeout(clients, PAUSE);
            clients = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let number = clients.next;
        clients.next += 1;
        clients.waiting.insert(number, Client { socket, since: Instant::now() });
        Some(WaitingClient { waiting: Arc::clone(self), number })
    }
}

/// The place of a waiting client.
struct WaitingClient {
    waiting: Arc<Waiting>,
    number: u64,
}

impl Drop for WaitingClient {
    fn drop(&mut self) {
        self.waiting.clients().waiting.remove(&self.number);
        self.waiting.left.notify_all();
    }
}

fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let thread = std::thread::Builder::new().name(name.to_owned()).stack_size(STACK);
    thread
        .spawn(move || {
            // Fails closed: the connections of this thread are dropped, and their clients are refused.
            if keep_capabilities(KEPT).is_ok() {
                work();
            }
        })
        .map(drop)
}

fn accept_all(listener: &UnixListener, waiting: &Arc<Waiting>) {
    loop {
        let socket = match listener.accept() {
            Ok((socket, _)) => socket,
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return,
            // The client has disconnected, or the process is briefly out of file descriptors.
            Err(_) => {
                std::thread::sleep(PAUSE);
                continue;
            }
        };
        // The permissions of the socket guard its path; this check guards against a descriptor that was passed on.
        let is_known = socket_peercred(&socket).is_ok_and(|peer| waiting.keeper.knows(peer.uid.as_raw()));
        if !is_known {
            continue;
        }
        let Some(place) = waiting.keep(&socket) else { continue };
        // If no thread can be created, the connection is closed.
        thread("broker-gate", move || welcome(socket, place)).ok();
    }
}

/// The token of a client, and the protocol in which it was sent.
struct Greeting {
    token: Option<String>,
    speaks: Speaks,
}

/// Reads a client's token, and serves the client with the proxy of that run.
fn welcome(socket: UnixStream, place: WaitingClient) {
    // Both kinds of stream are a descriptor, and only operations that work for both are used here.
    let client = TcpStream::from(OwnedFd::from(socket));
    let mut incoming = Incoming::new(&client, PATIENCE, Vec::new());
    if !matches!(incoming.more(), Ok(More::Came)) {
        return;
    }
    let greeting = match incoming.bytes.first() {
        Some(&socks::VERSION) => by_socks(&mut incoming).ok().flatten(),
        _ => by_http(&mut incoming),
    };
    let Some(Greeting { token, speaks }) = greeting else { return };
    let keeper = Arc::clone(&place.waiting.keeper);
    match token.and_then(|token| keeper.broker(&token)) {
        Some(broker) => serve(&broker, &client, speaks, std::mem::take(&mut incoming.bytes), place),
        None => {
            let reason = "it has no token of a running run, so no rules apply that could allow it";
            let refused = Brokered::refused(&"the request", "no-token", reason);
            let refused = Brokered { fix: Some(FIX.to_owned()), ..refused };
            let id = keeper.turned_away(&refused);
            turn_away(&client, speaks, &Refused::new(id, refused), None);
        }
    }
    client.shutdown(Shutdown::Both).ok();
}

/// Reads the head of a request, which contains the token.
fn by_http(incoming: &mut Incoming<'_>) -> Option<Greeting> {
    let end = match head(incoming).ok()?? {
        Ok(end) => end,
        Err(bad) => {
            let status = bad.status;
            say(incoming.client(), &Refused::new(None, about(bad)), Some(status));
            return None;
        }
    };
    let rest = incoming.bytes.split_off(end);
    let token = proxy_token(&incoming.bytes);
    incoming.bytes = to_whole_url(&incoming.bytes);
    incoming.bytes.extend(rest);
    Some(Greeting { token, speaks: Speaks::Http })
}

/// Reads a SOCKS greeting, and the password, which is the token.
fn by_socks(incoming: &mut Incoming<'_>) -> io::Result<Option<Greeting>> {
    let mut client = incoming.client();
    client.set_write_timeout(Some(MOMENT))?;
    let Some(offers) = complete(incoming, socks::offers_password)? else { return Ok(None) };
    if !offers {
        client.write_all(&socks::NO_WAY)?;
        return Ok(Some(Greeting { token: None, speaks: Speaks::Nothing }));
    }
    client.write_all(&socks::PASSWORD)?;
    let token = complete(incoming, socks::password)?;
    Ok(token.map(|token| Greeting { token: Some(token), speaks: Speaks::Socks }))
}

/// Reads until a message is complete, and removes it from the buffer; nothing if it is malformed.
fn complete<T>(incoming: &mut Incoming<'_>, read: fn(&[u8]) -> Socks<T>) -> io::Result<Option<T>> {
    loop {
        match read(&incoming.bytes) {
            Socks::Complete(read, length) => {
                incoming.bytes.drain(..length.min(incoming.bytes.len()));
                return Ok(Some(read));
            }
            Socks::Malformed(..) => return Ok(None),
            Socks::Incomplete if incoming.bytes.len() > MAX_SOCKS => return Ok(None),
            Socks::Incomplete => {}
        }
        if incoming.more()? != More::Came {
            return Ok(None);
        }
    }
}

/// Serves a client once its proxy has room for it.
fn serve(broker: &BrokerHandle, client: &TcpStream, speaks: Speaks, said: Vec<u8>, place: WaitingClient) {
    let shared = &broker.0;
    // The client is authenticated, so it no longer occupies a place of those that are not.
    drop(place);
    // A run with many parallel downloads waits here, and does not fail: package managers treat a refused connection
    // as an error.
    let queued = shared.place_in_queue();
    let room = queued.as_ref().and_then(|_| shared.room_until(Instant::now() + FOR_ROOM));
    drop(queued);
    let Some(room) = room else {
        let reason = format!("{} connections of its run are open", shared.options.connections);
        let fix =
            Some("close one and try again, or start the run with a higher --max-connections".to_owned());
        let busy = Brokered { fix, ..Brokered::refused(&"the request", "too-many-at-once", reason) };
        return turn_away(client, speaks, &shared.refused(&busy), Some(BUSY));
    };
    let _counted = (room, shared.thread());
    let Some(kept) = shared.keep_asking(client) else { return };
    if let Some(before) = shared.too_many() {
        let refused = shared.refused_as_too_many(before);
        return turn_away(client, speaks, &refused, None);
    }
    let incoming = Incoming::new(client, shared.options.patience, said);
    match speaks {
        Speaks::Http => client::asked(client, shared, &kept, incoming),
        Speaks::Socks => {
            let mut answered = client;
            if answered.write_all(&socks::RIGHT_PASSWORD).is_ok() {
                client::asked_by_socks(client, shared, &kept, incoming).ok();
            }
        }
        Speaks::Nothing => {}
    }
}

/// The protocol of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaks {
    Http,
    /// The client has sent its password and waits for the reply.
    Socks,
    /// The reply was sent.
    Nothing,
}

fn turn_away(client: &TcpStream, speaks: Speaks, refused: &Refused, status: Option<u16>) {
    match speaks {
        Speaks::Http => say(client, refused, status),
        Speaks::Socks => say_bytes(client, &socks::WRONG_PASSWORD),
        Speaks::Nothing => {}
    }
}
