//! The egress proxy of a sandbox whose commands are held to single hosts: it decides about every connection.
//!
//! The sandbox has a network of its own. What its programs connect to there is heard here, outside: at [`PROXY_ADDRESS`] as
//! requests to a proxy of HTTP or SOCKS, and at the addresses that names have in there as if this were the host itself. Names are
//! looked up there as well, and told an address of the sandbox's own; nothing of that leaves it. When a connection is to be
//! made, the name is looked up here, once, every address that comes of it is judged, and one of those is connected to. Each
//! connection is put on record before that, and one that is refused is told what, by which rule, and what would allow it.
//!
//! A connection is bound to the host that it was allowed for: TLS has to ask for that name, and a plain request is rewritten
//! with it. TLS is inspected where the list has rules about requests, or has `inspect`: there, each request is judged as a plain
//! one is. Other connections are not inspected: a command that may talk to such a host may send it anything.
#![expect(clippy::disallowed_methods, reason = "keeps threads for the connections")]

mod accept;
mod answer;
mod client;
mod client_reader;
pub(super) mod inspect;
mod last_answer;
mod name_server;
mod quotas;
mod refusals;
mod relay;
mod resolve_check;
mod shared_socket;
mod tunnel;
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
use super::secrets::Secrets;
use super::target::NetTarget;
use super::virtual_addresses::VirtualAddresses;
use inspect::{Inspector, Rewrite, Wire};
use quotas::Quotas;
use refusals::{Refusals, Refused};
pub use resolve_check::Brokered;
use resolve_check::{Resolve, ResolveCheck};
pub use shared_socket::{BrokerGate, Gatekeeper};

/// What a thread of the broker keeps. It calls the witness, who may keep its records in a folder that belongs to another user
/// than root: `sudo` leaves `HOME` as it was on many systems.
const KEPT: &[Capability] = &[Capability::CAP_CHOWN, Capability::CAP_DAC_OVERRIDE, Capability::CAP_FOWNER];

/// The stack of a thread: names are looked up on it, and TLS is spoken. What is not used of it takes no memory.
const STACK: usize = 1 << 20;

/// How long the end of all connections is waited for, once they are cut. A name that is being looked up cannot be cut.
const MAX_WAIT_AT_THE_END: Duration = Duration::from_secs(2);

/// How long a client may be silent while others wait for room.
const MAX_SILENCE: Duration = Duration::from_millis(100);

/// The connections of a run at a time, where nothing else is said.
pub const DEFAULT_CONNECTIONS: usize = 256;

/// So many clients may wait for room at a time.
const MAX_QUEUED: usize = 1024;

/// So many descriptors a connection takes at most where it is looked into.
const DESCRIPTORS: u64 = 12;

/// The bounds of a broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokerOptions {
    /// Connections at a time: [`DEFAULT_CONNECTIONS`]. More of them wait until one is closed; those that have not said for a
    /// while what they want go when others wait.
    pub connections: usize,
    /// Limit of requests in all; further requests are refused. Unlimited by default.
    pub requests: Option<u64>,
    /// How long a request may take to come, and an address to answer.
    pub patience: Duration,
    /// How long a connection stays through which nothing goes.
    pub idle: Duration,
    /// Whether every public host may be reached beside what the list names, so that it is seen which are needed:
    /// [`Broker::observed`]. What a list could not let through is not let through either.
    pub observes: bool,
    /// Files of certificates of authorities that hosts may be certified by, beside those of this machine. They count where it is
    /// looked into TLS, and are trusted within as well.
    pub extra_roots: Vec<PathBuf>,
    /// Name of the host list in error messages, so that a user knows which setting to change.
    pub list_name: String,
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
        }
    }
}

/// Puts a request on record and returns its name there, or says why that cannot be done; nothing is let through then.
type Witness = dyn Fn(&Brokered) -> Result<String, String> + Send + Sync;

/// A broker at work. When it is dropped, every connection through it is cut.
pub struct Broker {
    shared: Arc<Shared>,
    handoff: ListenerHandoff,
}

impl Broker {
    /// Begins to let through what a list names. `witness` puts each request on record and returns its name there, by which it is
    /// told of within as well; what it fails for is not let through.
    ///
    /// # Errors
    /// When no socket or no thread can be made.
    pub fn start(
        hosts: HostList,
        options: BrokerOptions,
        witness: impl Fn(&Brokered) -> Result<String, String> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::with_rewrite(hosts, options, None, witness)
    }

    /// The same, with something that is put into requests and taken out of answers.
    pub(crate) fn with_rewrite(
        hosts: HostList,
        options: BrokerOptions,
        rewrite: Option<Arc<dyn Rewrite>>,
        witness: impl Fn(&Brokered) -> Result<String, String> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::with(hosts, options, rewrite, Box::new(witness), Box::new(look_up))
    }

    /// As [`Broker::start`], and replaces placeholders in the requests of a command by secrets.
    ///
    /// # Errors
    /// As there.
    pub fn start_with_secrets(
        hosts: HostList,
        options: BrokerOptions,
        secrets: Option<Secrets>,
        witness: impl Fn(&Brokered) -> Result<String, String> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let rewrite = secrets.map(|secrets| Arc::new(secrets) as Arc<dyn Rewrite>);
        Self::with_rewrite(hosts, options, rewrite, witness)
    }

    fn with(
        hosts: HostList,
        options: BrokerOptions,
        rewrite: Option<Arc<dyn Rewrite>>,
        witness: Box<Witness>,
        resolve: Box<Resolve>,
    ) -> io::Result<Self> {
        raise_descriptors(options.connections);
        let mut virtual_addresses = VirtualAddresses::default();
        let looks_inside = rewrite.is_some() || hosts.may_look_into_tls();
        let inspector =
            looks_inside.then(|| Inspector::start(&options.extra_roots, rewrite)).transpose()?.map(Arc::new);
        let mut sockets = listening::sockets(&hosts, options.observes, &mut virtual_addresses);
        sockets.trust = inspector.as_ref().map(|inspector| inspector.trust());
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

    /// Returns the end of the sandboxes whose egress proxy this is: what their first process hands its sockets to.
    #[must_use]
    pub fn handoff(&self) -> ListenerHandoff {
        self.handoff.clone()
    }

    /// Returns what its clients are handed to that come by another way than a sandbox: [`Gatekeeper::broker`].
    #[must_use]
    pub fn handle(&self) -> BrokerHandle {
        BrokerHandle(Arc::clone(&self.shared))
    }

    /// Returns what was let through so far, as entries of a list; nothing if this broker was not to observe.
    #[must_use]
    pub fn observed(&self) -> Option<Observed> {
        self.shared.options.observes.then(|| self.shared.observations().needed())
    }
}

/// By which clients of a broker are handed to it. It does not keep the broker at work.
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

/// What all threads see.
struct Shared {
    check: ResolveCheck,
    /// What looks into connections, if any may have to be.
    inspector: Option<Arc<Inspector>>,
    witness: Box<Witness>,
    options: BrokerOptions,
    /// The virtual address of each name within the sandbox.
    virtual_addresses: Mutex<VirtualAddresses>,
    /// What was let through, of what has bounds.
    quotas: Mutex<Quotas>,
    /// What was refused of late.
    refusals: Mutex<Refusals>,
    /// What was let through, where that is to be seen.
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
    /// Clients with a token of the run that wait for room.
    queued: usize,
    requests: u64,
    /// Names that were asked for and are not reached; each is put on record once.
    unknown_names: BTreeSet<String>,
    /// What is to be cut at the end, by its age.
    sockets: BTreeMap<u64, KeptSocket>,
    next: u64,
}

struct KeptSocket {
    socket: OwnedFd,
    /// Since when its client has been silent that has not said yet what it wants.
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

    /// Puts on record that something is let through. What cannot be put there is not.
    fn told(&self, brokered: &Brokered) -> Result<(), Arc<Refused>> {
        (self.witness)(brokered).map(drop).map_err(|why| self.failed(brokered, "unrecorded", why))
    }

    /// Records a refusal, and keeps it for a command that asks for the reason. A refusal that cannot be recorded is still
    /// refused.
    fn refused(&self, refused: &Brokered) -> Arc<Refused> {
        self.keep_refused((self.witness)(refused).ok(), refused.clone())
    }

    /// What was let through and on record, and failed then.
    fn failed(&self, brokered: &Brokered, rule: &'static str, why: String) -> Arc<Refused> {
        self.keep_refused(None, Brokered::refused(&brokered.target, rule, why))
    }

    fn keep_refused(&self, id: Option<String>, refused: Brokered) -> Arc<Refused> {
        let refused = Arc::new(Refused::new(id, refused));
        self.refusals().keep(Arc::clone(&refused));
        refused
    }

    /// Returns the inspector of connections to a target, or `None` where connections pass uninspected.
    fn inspector_of(&self, target: &NetTarget, wire: Wire) -> Option<&Arc<Inspector>> {
        let looks_inside = || wire == Wire::Tls && self.check.looks_inside(target);
        self.inspector.as_ref().filter(|inspector| inspector.rewrites(target, wire) || looks_inside())
    }

    /// Whether anything may go through to a target, whatever it is.
    fn carries_anything(&self, target: &NetTarget) -> bool {
        // The inspector of plain requests does not tell whether a connection carries any, so only that of TLS counts.
        self.check.carries_anything(target) && self.inspector_of(target, Wire::Tls).is_none()
    }

    /// Keeps a socket among those that are cut at the end; nothing when that has come.
    fn keep(&self, socket: impl AsFd) -> Option<Kept<'_>> {
        self.keep_as(socket, None)
    }

    /// Keeps the socket of a client that has not said yet what it wants.
    fn keep_asking(&self, socket: impl AsFd) -> Option<Kept<'_>> {
        self.keep_as(socket, Some(Instant::now()))
    }

    fn keep_as(&self, socket: impl AsFd, silent_since: Option<Instant>) -> Option<Kept<'_>> {
        let socket = socket.as_fd().try_clone_to_owned().ok()?;
        let mut state = self.lock();
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

    /// Waits for room until then; nothing if there was none.
    fn room_until(self: &Arc<Self>, end: Instant) -> Option<Counted> {
        loop {
            if let Some(room) = self.room() {
                return Some(room);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            // Those that are silent have to be looked at meanwhile.
            let state = self.lock();
            drop(self.changed.wait_timeout(state, left.min(MAX_SILENCE)));
        }
    }

    /// Takes a place among those that wait for room; nothing if too many wait.
    fn place_in_queue(self: &Arc<Self>) -> Option<Counted> {
        let mut state = self.lock();
        if state.queued >= MAX_QUEUED {
            return None;
        }
        state.queued += 1;
        Some(Counted { shared: Arc::clone(self), count: |state| &mut state.queued })
    }

    /// Counts the thread that this is called in among those that are waited for at the end.
    fn thread(self: &Arc<Self>) -> Counted {
        self.lock().threads += 1;
        Counted { shared: Arc::clone(self), count: |state| &mut state.threads }
    }

    /// Counts a request, and says how many there were before it beyond those that are served; nothing if it is one of those.
    fn too_many(&self) -> Option<u64> {
        let mut state = self.lock();
        let before = state.requests;
        state.requests = before.saturating_add(1);
        self.options.requests.and_then(|most| before.checked_sub(most))
    }
}

/// A socket that is cut at the end.
struct Kept<'s> {
    shared: &'s Shared,
    number: u64,
}

impl Kept<'_> {
    /// The client has said what it wants.
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
    let counted = shared.thread();
    let thread = std::thread::Builder::new().name("broker".to_owned()).stack_size(STACK);
    thread
        .spawn(move || {
            let _counted = counted;
            // Fails closed: the socket is dropped with the work, and the client is refused.
            if keep_capabilities(KEPT).is_ok() {
                work();
            }
        })
        .map(drop)
}

/// Lets this program have as many files open as its connections need, as far as it may. Shells set a soft limit of 1024.
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
