//! The record of a request: a decision before it is sent, and an end with its status and its bytes.

use std::fmt;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::refusals::Refused;
use super::relay::Over;
use super::resolve_check::Brokered;
use super::{Shared, State, spawn};

/// Maximum number of ends that wait to be recorded. Further ones are recorded by the thread that relays.
const MAX_WAITING: usize = 1_024;

/// Number of ends, and time, for which the thread that records them waits.
const AT_ONCE: usize = 256;
const LINGER: Duration = Duration::from_millis(50);

/// A request as it is recorded. Its query, its headers and its body may contain secrets, and are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BrokeredRequest {
    /// The method.
    pub method: String,
    /// The path, without the query. A placeholder in it stays one.
    pub path: String,
    /// The names of the secrets that were inserted.
    pub secrets: Vec<String>,
    /// The operations in the body, if an entry has conditions on them.
    pub operations: Vec<String>,
}

impl BrokeredRequest {
    /// Returns a request without secrets.
    pub(super) fn new(method: &str, path: &str) -> Self {
        let path = path.split_once('?').map_or(path, |(path, _)| path);
        Self { method: method.to_owned(), path: path.to_owned(), ..Self::default() }
    }
}

/// The end of an allowed request, or of a connection that was allowed as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BrokeredEnd {
    /// The ID of the decision.
    pub id: String,
    /// The target.
    pub target: String,
    /// The request, if it was visible.
    pub request: Option<BrokeredRequest>,
    /// The status code of the response, if there was one and it was visible.
    pub status: Option<u16>,
    /// The number of bytes sent to the host. The heads of inspected messages are counted approximately.
    pub sent: u64,
    /// The number of bytes received from the host.
    pub received: u64,
    /// The duration.
    pub took: Duration,
    /// The reason why the host could not be reached, or did not respond.
    pub error: Option<String>,
}

/// Records what a proxy decides. A function that takes decisions is one, and does not record their ends.
pub trait Witness: Send + Sync {
    /// Records a decision before it takes effect, and returns its ID in the record. An allowed request is refused on an error.
    ///
    /// # Errors
    /// When it cannot be recorded.
    fn decided(&self, brokered: &Brokered) -> Result<String, String>;

    /// Records ends of allowed requests and connections, after they were passed on.
    fn ended(&self, ends: &[BrokeredEnd]) {
        let _ = ends;
    }
}

impl<F: Fn(&Brokered) -> Result<String, String> + Send + Sync> Witness for F {
    fn decided(&self, brokered: &Brokered) -> Result<String, String> {
        self(brokered)
    }
}

/// An allowed request or connection until its end, which is recorded when this is dropped.
pub(super) struct Exchange {
    shared: Arc<Shared>,
    id: String,
    target: String,
    request: Option<BrokeredRequest>,
    began: Instant,
    /// The status code; 0 without a response.
    status: AtomicU16,
    sent: AtomicU64,
    received: AtomicU64,
    error: Mutex<Option<String>>,
}

impl Exchange {
    /// Records a decision to allow.
    ///
    /// # Errors
    /// With the refusal, when it cannot be recorded.
    pub(super) fn begin(shared: &Arc<Shared>, brokered: &Brokered) -> Result<Self, Arc<Refused>> {
        let id =
            shared.witness.decided(brokered).map_err(|why| shared.failed(brokered, "unrecorded", why))?;
        Ok(Self {
            shared: Arc::clone(shared),
            id,
            target: brokered.target.clone(),
            request: brokered.request.clone(),
            began: Instant::now(),
            status: AtomicU16::new(0),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
            error: Mutex::default(),
        })
    }

    /// Records an allowed request that could not be sent, and returns its refusal.
    pub(super) fn failed(
        shared: &Arc<Shared>,
        brokered: &Brokered,
        rule: &'static str,
        why: &str,
    ) -> Arc<Refused> {
        match Self::begin(shared, brokered) {
            Ok(exchange) => exchange.fails(brokered, rule, why),
            Err(unrecorded) => unrecorded,
        }
    }

    /// Sets the error with which it ends, and returns it as a refusal.
    pub(super) fn fails(&self, brokered: &Brokered, rule: &'static str, why: &str) -> Arc<Refused> {
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.to_owned());
        self.shared.failed(brokered, rule, why.to_owned())
    }

    /// Returns a refusal about its request.
    pub(super) fn about(&self, refused: Brokered) -> Brokered {
        Brokered { request: self.request.clone(), ..refused }
    }

    /// Counts relayed bytes.
    pub(super) fn carried(&self, direction: Over, bytes: usize) {
        let count = if direction == Over::Upload { &self.sent } else { &self.received };
        count.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Sets the status code of the response.
    pub(super) fn answered(&self, status: u16) {
        self.status.store(status, Ordering::Relaxed);
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let status = self.status.load(Ordering::Relaxed);
        let end = BrokeredEnd {
            id: std::mem::take(&mut self.id),
            target: std::mem::take(&mut self.target),
            request: self.request.take(),
            status: (status > 0).then_some(status),
            sent: self.sent.load(Ordering::Relaxed),
            received: self.received.load(Ordering::Relaxed),
            took: self.began.elapsed(),
            error: self.error.lock().unwrap_or_else(PoisonError::into_inner).take(),
        };
        Shared::has_ended(&self.shared, end);
    }
}

impl Shared {
    /// Lets another thread record an end. Neither the response nor the next request waits for the disk.
    fn has_ended(shared: &Arc<Self>, end: BrokeredEnd) {
        let mut state = shared.lock();
        if state.over.len() >= MAX_WAITING {
            drop(state);
            return shared.witness.ended(&[end]);
        }
        state.over.push(end);
        let is_new = !std::mem::replace(&mut state.writes_ends, true);
        let are_many = state.over.len() == AT_ONCE;
        drop(state);
        if are_many {
            shared.changed.notify_all();
        }
        let at_work = Arc::clone(shared);
        if is_new && spawn(shared, move || at_work.write_ends()).is_err() {
            shared.write_ends();
        }
    }

    /// Records ends until none has come for a moment, or the proxy ends.
    fn write_ends(&self) {
        loop {
            // One write records many: each waits for the disk, and the next decision waits for it.
            let few = |state: &mut State| state.over.len() < AT_ONCE && !state.ends;
            let waited = self.changed.wait_timeout_while(self.lock(), LINGER, few);
            let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
            let over = std::mem::take(&mut state.over);
            state.writes_ends = !over.is_empty();
            drop(state);
            if over.is_empty() {
                return;
            }
            self.witness.ended(&over);
        }
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange").field("id", &self.id).field("target", &self.target).finish_non_exhaustive()
    }
}
