//! The egress proxy of a sandbox whose commands are held to single hosts: it decides about every connection.
//!
//! The sandbox has a network of its own. What its programs connect to there at [`PROXY_ADDRESS`] is heard here, outside, as requests
//! to an HTTP proxy: `CONNECT`, or a plain request with its whole URL. A name is looked up here, once, every address that
//! comes of it is judged, and one of those is connected to. Each request is put on record before that, and one that is
//! refused is told what, by which rule, and what would allow it.
//!
//! Nobody looks into what goes through a tunnel: whoever may talk to a host may tell it anything, and a host that serves
//! many names may be asked for each of them.
#![expect(clippy::disallowed_methods, reason = "keeps threads for the connections")]

mod answer;
mod carry;
mod client;
mod resolve_check;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::host_list::HostList;
use crate::capabilities::{KEPT_BY_BROKER, keep_only};
use crate::{HandedListeners, ListenerHandoff, Network};
pub use resolve_check::Brokered;
use resolve_check::{Resolve, ResolveCheck};

#[cfg(doc)]
use crate::PROXY_ADDRESS;

/// The stack of a thread: names are looked up on it.
const STACK: usize = 256 << 10;

/// How long the end of all connections is waited for, once they are cut. A name that is being looked up cannot be cut.
const MAX_WAIT_AT_THE_END: Duration = Duration::from_secs(2);

/// The bounds of a broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokerOptions {
    /// Connections at a time. Others wait.
    pub connections: usize,
    /// Requests in all; what comes after them is refused.
    pub requests: u64,
    /// How long a request may take to come, and an address to answer.
    pub patience: Duration,
    /// How long a connection stays through which nothing goes.
    pub idle: Duration,
    /// What the list of hosts is called where somebody could change it.
    pub list_name: String,
}

impl Default for BrokerOptions {
    fn default() -> Self {
        Self {
            connections: 64,
            requests: 10_000,
            patience: Duration::from_secs(10),
            idle: Duration::from_secs(300),
            list_name: "`security.permission.allowedNetHosts`".to_owned(),
        }
    }
}

/// Puts a request on record, or says why that cannot be done; nothing is let through then.
type Witness = dyn Fn(&Brokered) -> Result<(), String> + Send + Sync;

/// A broker at work. When it is dropped, every connection through it is cut.
pub struct Broker {
    shared: Arc<Shared>,
    handoff: ListenerHandoff,
}

impl Broker {
    /// Begins to let through what a list names. `witness` puts each request on record; what it fails for is not let through.
    ///
    /// # Errors
    /// When no socket or no thread can be made.
    pub fn start(
        hosts: HostList,
        options: BrokerOptions,
        witness: impl Fn(&Brokered) -> Result<(), String> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::with(hosts, options, Box::new(witness), Box::new(look_up))
    }

    fn with(
        hosts: HostList,
        options: BrokerOptions,
        witness: Box<Witness>,
        resolve: Box<Resolve>,
    ) -> io::Result<Self> {
        let (handoff, listeners) = HandedListeners::new()?;
        let check = ResolveCheck::new(hosts, options.list_name.clone(), resolve);
        let listeners = Arc::new(listeners);
        let shared = Shared {
            check,
            witness,
            options,
            listeners: Arc::clone(&listeners),
            state: Mutex::new(State::default()),
            changed: Condvar::new(),
        };
        let shared = Arc::new(shared);
        let accepting = Arc::clone(&shared);
        spawn(&shared, move || {
            while let Ok(Some(listener)) = listeners.next() {
                let shared = Arc::clone(&accepting);
                // Without a thread for it, the socket is closed, and whoever connects is refused.
                spawn(&accepting, move || accept_all(&listener, &shared)).ok();
            }
        })?;
        Ok(Self { shared, handoff })
    }

    /// Returns the network of the sandboxes whose egress proxy this is.
    #[must_use]
    pub fn network(&self) -> Network {
        Network::Proxy(self.handoff.clone())
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.ends = true;
        self.shared.listeners.close();
        for socket in state.sockets.values() {
            rustix::net::shutdown(socket, rustix::net::Shutdown::Both).ok();
        }
        self.shared.changed.notify_all();
        let at_work = |state: &mut State| state.threads > 0;
        drop(self.shared.changed.wait_timeout_while(state, MAX_WAIT_AT_THE_END, at_work));
    }
}

impl fmt::Debug for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Broker").field("options", &self.shared.options).finish_non_exhaustive()
    }
}

/// What all threads see.
struct Shared {
    check: ResolveCheck,
    witness: Box<Witness>,
    options: BrokerOptions,
    listeners: Arc<HandedListeners>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    ends: bool,
    threads: usize,
    clients: usize,
    requests: u64,
    /// What is to be cut at the end.
    sockets: BTreeMap<u64, OwnedFd>,
    next: u64,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told(&self, brokered: &Brokered) -> Result<(), String> {
        (self.witness)(brokered)
    }

    /// Keeps a socket among those that are cut at the end; nothing when that has come.
    fn keep(&self, socket: impl AsFd) -> Option<Kept<'_>> {
        let copy = socket.as_fd().try_clone_to_owned().ok()?;
        let mut state = self.lock();
        if state.ends {
            return None;
        }
        let number = state.next;
        state.next += 1;
        state.sockets.insert(number, copy);
        Some(Kept { shared: self, number })
    }

    /// Waits until there is room for one more client; nothing at the end.
    fn room(self: &Arc<Self>) -> Option<Counted> {
        let full = |state: &mut State| !state.ends && state.clients >= self.options.connections.max(1);
        let mut state = self.changed.wait_while(self.lock(), full).unwrap_or_else(PoisonError::into_inner);
        if state.ends {
            return None;
        }
        state.clients += 1;
        Some(Counted { shared: Arc::clone(self), count: |state| &mut state.clients })
    }

    /// Counts a request, and says how many there were before it beyond those that are served; nothing if it is one of those.
    fn too_many(&self) -> Option<u64> {
        let mut state = self.lock();
        let before = state.requests;
        state.requests = before.saturating_add(1);
        before.checked_sub(self.options.requests)
    }
}

/// A socket that is cut at the end.
struct Kept<'s> {
    shared: &'s Shared,
    number: u64,
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        self.shared.lock().sockets.remove(&self.number);
    }
}

/// Counts a thread, or a client, as long as it is there.
struct Counted {
    shared: Arc<Shared>,
    count: fn(&mut State) -> &mut usize,
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        let count = (self.count)(&mut state);
        *count = count.saturating_sub(1);
        drop(state);
        self.shared.changed.notify_all();
    }
}

fn spawn(shared: &Arc<Shared>, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    shared.lock().threads += 1;
    let counted = Counted { shared: Arc::clone(shared), count: |state| &mut state.threads };
    let thread = std::thread::Builder::new().name("broker".to_owned()).stack_size(STACK);
    thread
        .spawn(move || {
            let _counted = counted;
            // Fails closed: the socket is dropped with the work, and whoever connects is refused.
            if keep_only(KEPT_BY_BROKER).is_ok() {
                work();
            }
        })
        .map(drop)
}

/// Serves whoever connects, until the end.
fn accept_all(listener: &TcpListener, shared: &Arc<Shared>) {
    let Some(_kept) = shared.keep(listener) else { return };
    while let Some(counted) = shared.room() {
        let client = match listener.accept() {
            Ok((client, _)) => client,
            Err(_) if shared.lock().ends => return,
            // Whoever connected has gone again, or this program has too many files open for a moment.
            Err(_) => {
                std::thread::sleep(Duration::from_millis(10));
                continue;
            }
        };
        let for_thread = Arc::clone(shared);
        let serve = move || {
            let _counted = counted;
            let Some(_kept) = for_thread.keep(&client) else { return };
            match for_thread.too_many() {
                None => client::serve(&client, &for_thread),
                Some(before) => turn_away(&client, &for_thread, before),
            }
            client.shutdown(Shutdown::Both).ok();
        };
        // Without a thread for it, a client finds its connection closed.
        spawn(shared, serve).ok();
    }
}

/// The record does not grow without end, whatever a command does: of all that are too many, the first is put there.
fn turn_away(client: &TcpStream, shared: &Shared, before: u64) {
    let refused = Brokered {
        target: "the request".to_owned(),
        rule: "too-many",
        reason: format!("the command has sent all of its {} requests", shared.options.requests),
        fix: None,
        addresses: Vec::new(),
    };
    if before == 0 {
        shared.told(&refused).ok();
    }
    client::say(client, &refused, None);
}

fn look_up(name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    Ok((name, port).to_socket_addrs()?.collect())
}

#[cfg(test)]
mod tests;
