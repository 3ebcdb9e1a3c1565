//! The egress proxy of a sandbox with a host list, which decides on every connection.
//!
//! The sandbox has its own network namespace, and its listening sockets are passed to this process. At [`PROXY_ADDRESS`] it
//! serves HTTP and SOCKS requests to a proxy, and at the virtual addresses of names it acts as the host. Names are resolved to
//! virtual addresses in the sandbox, and no query leaves it. Before a connection is made, the name is resolved here, once, every
//! resulting address is checked, and one of them is connected to. Each request is recorded before it is sent, and a connection
//! whose requests are not visible before its first byte is. A refusal contains the rule, and what would allow the request.
//!
//! A connection is bound to the host that it was allowed for: the TLS server name must match, and a plain request is rewritten
//! with the host. TLS is inspected for entries with conditions on requests or with `inspect`; each request is then checked like a
//! plain one. Other connections are not inspected: a command that may connect to such a host can send it anything.
#![expect(clippy::disallowed_methods, reason = "keeps threads for the connections")]

mod accept;
mod answer;
mod client;
mod client_reader;
mod exchange;
pub(super) mod inspect;
mod last_answer;
mod name_server;
mod quotas;
mod refusals;
mod relay;
mod resolve_check;
mod shared_socket;
mod tunnel;
mod upstream;
mod why;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
#[cfg(doc)]
use stockade_handoff::PROXY_ADDRESS;
use stockade_handoff::{Capability, HandedListeners, ListenerHandoff, keep_capabilities};

use super::host_list::HostList;
use super::listening;
use super::observed_hosts::{Observations, Observed};
use super::refusal_texts::RefusalTexts;
use super::secrets::Secrets;
use super::target::NetTarget;
use super::upstream_proxy::UpstreamProxies;
use super::virtual_addresses::VirtualAddresses;
pub use exchange::{BrokeredEnd, BrokeredRequest, Witness};
use inspect::{Inspector, Rewrite, Wire};
use quotas::Quotas;
use refusals::{Refusals, Refused};
pub use resolve_check::Brokered;
use resolve_check::{Resolve, ResolveCheck};
pub use shared_socket::{BrokerGate, Gatekeeper};

/// Capabilities of the proxy's threads. They write records, possibly to a directory of another user than root, because `sudo`
/// keeps `HOME` on many systems.
const KEPT: &[Capability] = &[Capability::CAP_CHOWN, Capability::CAP_DAC_OVERRIDE, Capability::CAP_FOWNER];

/// Stack size of a thread, which resolves names and runs TLS. Unused stack needs no memory.
const STACK: usize = 1 << 20;

/// Time to wait for threads after all connections are closed. The resolution of a name cannot be interrupted.
const MAX_WAIT_AT_THE_END: Duration = Duration::from_secs(2);

/// Time that a client may be silent while others wait for room.
const MAX_SILENCE: Duration = Duration::from_millis(100);

/// Default maximum number of connections of a run.
pub const DEFAULT_CONNECTIONS: usize = 256;

// Each queued client holds a descriptor and a thread.
/// Maximum number of clients that wait for room.
const MAX_QUEUED: usize = 1024;

// Two sockets with duplicates for both directions and for the shutdown, and an epoll instance with its event
// descriptors.
/// Maximum number of descriptors of an inspected connection.
const DESCRIPTORS: u64 = 12;

/// Options of a proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokerOptions {
    /// Maximum number of connections, by default [`DEFAULT_CONNECTIONS`]. Further ones wait until one is closed; silent ones are
    /// closed when others wait.
    pub connections: usize,
    /// Maximum total number of requests; further ones are refused. Unlimited by default.
    pub requests: Option<u64>,
    /// Timeout for reading a request, and for connecting to an address.
    pub patience: Duration,
    /// Time after which an idle connection is closed.
    pub idle: Duration,
    /// Whether to allow every public host in addition to the list, to find out which ones are needed: [`Broker::observed`].
    /// Requests that no entry could allow are still refused.
    pub observes: bool,
    /// Additional certificate authorities, as PEM files. They apply to inspected connections, and are trusted in the sandbox as
    /// well.
    pub extra_roots: Vec<PathBuf>,
    /// Name of the host list in error messages, so that a user knows which setting to change.
    pub list_name: String,
    /// Command that allows an entry, which follows as its last argument. Refusals then name the command, not the list.
    pub allow_command: Option<String>,
    /// The proxies of this machine. By default, hosts are connected to directly.
    pub upstream: UpstreamProxies,
    /// The operator's texts behind the reasons of refusals by the list.
    pub texts: RefusalTexts,
}

impl Default for BrokerOptions {
    fn default() -> Self {
        Self {
            connections: DEFAULT_CONNECTIONS,
            requests: None,
            patience: Duration::from_secs(10),
            idle: Duration::from_secs(300),
            observes: false,
            extra_roots: Vec::new(),
            list_name: "`security.permission.allowedNetHosts`".to_owned(),
            allow_command: None,
            upstream: UpstreamProxies::default(),
            texts: RefusalTexts::default(),
        }
    }
}

/// A running proxy. Dropping it closes every connection through it.
pub struct Broker {
    shared: Arc<Shared>,
    handoff: ListenerHandoff,
}

impl Broker {
    /// Starts a proxy for a host list. `witness` records each request and returns its ID, which refusals in the sandbox contain;
    /// a request that it cannot record is refused. A connection that is not inspected is recorded as a whole.
    ///
    /// # Errors
    /// When a socket or thread cannot be created.
    pub fn start(
        hosts: HostList,
        options: BrokerOptions,
        witness: impl Witness + 'static,
    ) -> io::Result<Self> {
        Self::with_rewrite(hosts, options, None, witness)
    }

    /// Starts a proxy that also rewrites requests and responses.
    pub(crate) fn with_rewrite(
        hosts: HostList,
        options: BrokerOptions,
        rewrite: Option<Arc<dyn Rewrite>>,
        witness: impl Witness + 'static,
    ) -> io::Result<Self> {
        Self::with(hosts, options, rewrite, Box::new(witness), Box::new(look_up))
    }

    /// Starts a proxy like [`Broker::start`], which also replaces placeholders in requests with secrets.
    ///
    /// # Errors
    /// As [`Broker::start`].
    pub fn start_with_secrets(
        hosts: HostList,
        options: BrokerOptions,
        secrets: Option<Secrets>,
        witness: impl Witness + 'static,
    ) -> io::Result<Self> {
        let rewrite = secrets.map(|secrets| Arc::new(secrets) as Arc<dyn Rewrite>);
        Self::with_rewrite(hosts, options, rewrite, witness)
    }

    fn with(
        hosts: HostList,
        options: BrokerOptions,
        rewrite: Option<Arc<dyn Rewrite>>,
        witness: Box<dyn Witness>,
        resolve: Box<Resolve>,
    ) -> io::Result<Self> {
        // Before any socket is created: with a limit of 1024, `accept` would fail in the middle of a large download.
        raise_descriptors(options.connections);
        let mut virtual_addresses = VirtualAddresses::default();
        let looks_inside = rewrite.is_some() || hosts.may_inspect();
        let inspector = match looks_inside {
            true => Some(Inspector::start(&options.extra_roots, rewrite)?),
            // Authorities of the operator are trusted within as they are outside, also where nothing is inspected. Without them,
            // a command fails as it would outside.
            false if inspect::has_own_authorities() => Inspector::start(&options.extra_roots, None).ok(),
            false => None,
        };
        let inspector = inspector.map(Arc::new);
        let mut sockets = listening::sockets(&hosts, options.observes, &mut virtual_addresses);
        sockets.trust = inspector.as_ref().map(|inspector| inspector.trust());
        // The sockets are created in the network namespace of the sandbox, and passed here by its first process.
        let (handoff, listeners) = HandedListeners::with(sockets)?;
        let check = ResolveCheck::new(hosts, &options, resolve);
        let shared = Shared {
            check,
            inspector,
            witness,
            options,
            virtual_addresses: Mutex::new(virtual_addresses),
            quotas: Mutex::new(Quotas::new(Instant::now())),
            refusals: Mutex::default(),
            observations: Mutex::default(),
            listeners,
            state: Mutex::new(State::default()),
            changed: Condvar::new(),
        };
        let shared = Arc::new(shared);
        let accepting = Arc::clone(&shared);
        spawn(&shared, move || accept::all(&accepting, Vec::new()))?;
        Ok(Self { shared, handoff })
    }

    /// Returns the handoff to which the first process of a sandbox passes its sockets.
    #[must_use]
    pub fn handoff(&self) -> ListenerHandoff {
        self.handoff.clone()
    }

    /// Returns the handle for clients that do not connect from a sandbox: [`Gatekeeper::broker`].
    #[must_use]
    pub fn handle(&self) -> BrokerHandle {
        BrokerHandle(Arc::clone(&self.shared))
    }

    /// Returns the allowed requests so far, as entries of a list; nothing if this proxy does not observe.
    #[must_use]
    pub fn observed(&self) -> Option<Observed> {
        self.shared.options.observes.then(|| self.shared.observations().needed())
    }
}

/// A handle that passes clients to a proxy. It does not keep the proxy running.
#[derive(Clone)]
pub struct BrokerHandle(Arc<Shared>);

impl fmt::Debug for BrokerHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BrokerHandle").finish_non_exhaustive()
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        if let Some(inspector) = &self.shared.inspector {
            // A plan may still name the certificate files after the broker has ended, and must not trust them.
            inspector.trust().remove();
        }
        let mut state = self.shared.lock();
        state.ends = true;
        // First, so that no connection is accepted after the others were shut down.
        self.shared.listeners.close();
        for kept in state.sockets.values() {
            rustix::net::shutdown(&kept.socket, rustix::net::Shutdown::Both).ok();
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

/// The state that all threads share.
struct Shared {
    check: ResolveCheck,
    /// The inspector, if any connection may need it.
    inspector: Option<Arc<Inspector>>,
    witness: Box<dyn Witness>,
    options: BrokerOptions,
    /// Virtual addresses of names in the sandbox.
    virtual_addresses: Mutex<VirtualAddresses>,
    /// Usage of the entries with limits.
    quotas: Mutex<Quotas>,
    /// Recent refusals.
    refusals: Mutex<Refusals>,
    /// Allowed requests, in observing mode.
    observations: Mutex<Observations>,
    listeners: HandedListeners,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    ends: bool,
    threads: usize,
    clients: usize,
    /// Clients of the shared socket that wait for room.
    queued: usize,
    requests: u64,
    /// Ends of requests that are not recorded yet, and whether a thread records them.
    over: Vec<BrokeredEnd>,
    writes_ends: bool,
    /// Refused names, each of which is recorded once.
    unknown_names: BTreeSet<String>,
    /// Sockets to close at the end, by age.
    sockets: BTreeMap<u64, KeptSocket>,
    next: u64,
}

struct KeptSocket {
    socket: OwnedFd,
    /// Since when its client has been silent, until it sends a request.
    silent_since: Option<Instant>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn observations(&self) -> MutexGuard<'_, Observations> {
        self.observations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refusals(&self) -> MutexGuard<'_, Refusals> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a refusal, and keeps it for a command that asks for the reason. A refusal that cannot be recorded is still
    /// refused.
    fn refused(&self, refused: &Brokered) -> Arc<Refused> {
        self.keep_refused(self.witness.decided(refused).ok(), refused.clone())
    }

    /// Returns the refusal of a request that was allowed and recorded, and failed afterwards.
    fn failed(&self, brokered: &Brokered, rule: &'static str, why: String) -> Arc<Refused> {
        let refused = Brokered::refused(&brokered.target, rule, why);
        self.keep_refused(None, Brokered { request: brokered.request.clone(), ..refused })
    }

    fn keep_refused(&self, id: Option<String>, refused: Brokered) -> Arc<Refused> {
        let refused = Arc::new(Refused::new(id, refused));
        self.refusals().keep(Arc::clone(&refused));
        refused
    }

    /// Returns the inspector of connections to a target, or `None` where connections pass uninspected.
    fn inspector_of(&self, target: &NetTarget, wire: Wire) -> Option<&Arc<Inspector>> {
        let looks_inside = || match wire {
            Wire::Tls => self.check.looks_inside(target),
            // The head of a plain request is judged without an inspector.
            Wire::Plain => self.check.looks_into_bodies(target),
        };
        self.inspector.as_ref().filter(|inspector| inspector.rewrites(target, wire) || looks_inside())
    }

    /// Whether any protocol may be used to a target.
    fn carries_anything(&self, target: &NetTarget) -> bool {
        // An inspector of plain requests does not show whether a connection has any, so only that of TLS counts.
        self.check.carries_anything(target) && self.inspector_of(target, Wire::Tls).is_none()
    }

    /// Registers a socket to be closed at the end; nothing if the proxy has ended.
    fn keep(&self, socket: impl AsFd) -> Option<Kept<'_>> {
        self.keep_as(socket, None)
    }

    /// Registers the socket of a client that has not sent a request yet.
    fn keep_asking(&self, socket: impl AsFd) -> Option<Kept<'_>> {
        self.keep_as(socket, Some(Instant::now()))
    }

    fn keep_as(&self, socket: impl AsFd, silent_since: Option<Instant>) -> Option<Kept<'_>> {
        // A duplicate, so that it can be shut down from another thread while its owner uses it.
        let socket = socket.as_fd().try_clone_to_owned().ok()?;
        let mut state = self.lock();
        // Checked under the same lock as the shutdown at the end, so that no socket is registered after it.
        if state.ends {
            return None;
        }
        let number = state.next;
        state.next += 1;
        state.sockets.insert(number, KeptSocket { socket, silent_since });
        Some(Kept { shared: self, number })
    }

    /// Reserves a slot for one more client, or returns `None` if all are in use; then clients that were silent for a while are
    /// closed.
    fn room(self: &Arc<Self>) -> Option<Counted> {
        let mut state = self.lock();
        // Closing silent clients keeps a command that opens connections and sends nothing from blocking all others.
        if state.clients >= self.options.connections.max(1) {
            for kept in state.sockets.values_mut() {
                if kept.silent_since.take_if(|since| since.elapsed() >= MAX_SILENCE).is_some() {
                    rustix::net::shutdown(&kept.socket, rustix::net::Shutdown::Both).ok();
                }
            }
            return None;
        }
        state.clients += 1;
        Some(Counted { shared: Arc::clone(self), count: |state| &mut state.clients })
    }

    /// Waits for room until `end`; nothing if there was none.
    fn room_until(self: &Arc<Self>, end: Instant) -> Option<Counted> {
        loop {
            if let Some(room) = self.room() {
                return Some(room);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            // Woken regularly, because silent clients are only closed by `room`.
            let state = self.lock();
            drop(self.changed.wait_timeout(state, left.min(MAX_SILENCE)));
        }
    }

    /// Joins the queue for room; nothing if it is full.
    fn place_in_queue(self: &Arc<Self>) -> Option<Counted> {
        let mut state = self.lock();
        // Beyond that, a client is refused at once, so that a command cannot exhaust the threads of this process.
        if state.queued >= MAX_QUEUED {
            return None;
        }
        state.queued += 1;
        Some(Counted { shared: Arc::clone(self), count: |state| &mut state.queued })
    }

    /// Counts the calling thread among those that the end waits for.
    fn thread(self: &Arc<Self>) -> Counted {
        self.lock().threads += 1;
        Counted { shared: Arc::clone(self), count: |state| &mut state.threads }
    }

    /// Counts a request. Returns the number of earlier requests above the limit, or nothing if it is within the limit.
    fn too_many(&self) -> Option<u64> {
        let mut state = self.lock();
        let before = state.requests;
        state.requests = before.saturating_add(1);
        self.options.requests.and_then(|most| before.checked_sub(most))
    }
}

/// A socket that is closed at the end.
struct Kept<'s> {
    shared: &'s Shared,
    number: u64,
}

impl Kept<'_> {
    /// Records that the client has sent a request.
    fn has_asked(&self) {
        if let Some(kept) = self.shared.lock().sockets.get_mut(&self.number) {
            kept.silent_since = None;
        }
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        self.shared.lock().sockets.remove(&self.number);
    }
}

/// Counts a thread or client until it is dropped.
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
    let counted = shared.thread();
    // Counted before the thread starts, so that the end of the proxy cannot miss it.
    let thread = std::thread::Builder::new().name("broker".to_owned()).stack_size(STACK);
    thread
        .spawn(move || {
            let _counted = counted;
            // Fails closed: without the reduced capabilities, the socket is dropped with the work.
            if keep_capabilities(KEPT).is_ok() {
                work();
            }
        })
        .map(drop)
}

/// Raises the soft limit on open files to what the connections need, up to the hard limit. Shells set a soft limit of 1024.
fn raise_descriptors(connections: usize) {
    let limit = getrlimit(Resource::Nofile);
    let wanted = DESCRIPTORS.saturating_mul(connections as u64).saturating_add(1024);
    let wanted = limit.maximum.map_or(wanted, |most| wanted.min(most));
    if limit.current.is_some_and(|current| current < wanted) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit }).ok();
    }
}

fn look_up(name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    Ok((name, port).to_socket_addrs()?.collect())
}

#[cfg(test)]
mod tests;
