//! State for clients between requests: answers of the user, budgets, circuit breakers and steps.
#![expect(
    clippy::disallowed_methods,
    reason = "measures the time of its limits, and how long a session is idle"
)]

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use stockade_guard::admission::PathGuard;
use stockade_guard::admission::answers::CommandAnswers;
use stockade_guard::limits::Usage;
use stockade_guard::limits::breaker::CallOutcome;
use stockade_guard::limits::store::{
    AgentLimits, CallPermit, CallRefusal, CallVerdict, MemoryStore, SharedLimits,
};
use stockade_guard::policy::SandboxConfig;
use stockade_guard::{Call, Decision};

use super::connection_queue::ConnectionQueue;
use super::fault::{self, Fault};
use super::guarded::{Guarded, SessionRequest};
use super::locks::lock;
use super::methods::open_paths;
use crate::Server;

/// Maximum number of sessions.
const MAX_SESSIONS: usize = 1024;

/// Maximum number of sessions of one client, so that one client cannot use up all.
const MAX_OF_CLIENT: usize = 64;

/// Maximum number of unsettled calls of a session.
const MAX_PERMITS: usize = 256;

/// Maximum number of unanswered questions about tools of a session.
const MAX_ASKED: usize = 64;

/// Maximum length of names that clients choose, in bytes.
const MAX_NAME: usize = 128;

/// Time in which a session can be continued over another connection after its client disconnected.
const GRACE: Duration = Duration::from_secs(60);

/// Maximum time that a session may be idle.
const IDLE: Duration = Duration::from_secs(24 * 3600);

/// The clock of a session's limits.
type Clock = Box<dyn Fn() -> Duration + Send + Sync>;

/// The open sessions, by name.
#[derive(Debug, Default)]
pub(super) struct Sessions(Mutex<BTreeMap<String, Entry>>);

#[derive(Debug)]
struct Entry {
    session: Arc<Session>,
    client: u64,
    /// The client that is notified of changes.
    listener: Option<Weak<ConnectionQueue>>,
    has_left: bool,
    used: Instant,
}

/// A session, with its answers and limits.
#[derive(Debug)]
pub(super) struct Session {
    kind: Kind,
    permits: Mutex<Permits>,
    /// The user's answers to commands.
    answers: Arc<CommandAnswers>,
    /// Decisions about tools that the user was asked about and has not answered, oldest first.
    asked: Mutex<VecDeque<Decision>>,
}

#[derive(Debug)]
enum Kind {
    /// The session of an agent, with its configuration.
    Guarded(Box<Guarded>),
    /// A session without an agent, with the client's settings.
    Free(Box<Free>),
}

/// A session without an agent. Its client sets the limits.
#[derive(Debug)]
struct Free {
    /// The workspace and its rules, opened on first use.
    paths: Mutex<Paths>,
    limits: SharedLimits<MemoryStore<Clock>>,
}

#[derive(Debug)]
enum Paths {
    Configured(SandboxConfig),
    Open(Box<PathGuard>),
}

#[derive(Debug, Default)]
struct Permits {
    last: u64,
    open: BTreeMap<u64, Permit>,
}

/// A permit for a call, of the layer that granted it.
#[derive(Debug)]
pub(super) enum Permit {
    Guarded(Call),
    Free(CallPermit),
}

/// Why a call is refused.
#[derive(Debug)]
pub(super) struct Exhausted(pub(super) CallRefusal);

/// The agent name for calls of sessions without an agent.
const NO_AGENT: &str = "";

impl Sessions {
    /// Opens a session, and returns its name, which cannot be guessed, because clients that know it can answer questions of the
    /// session.
    pub(super) fn open(
        &self,
        session: Session,
        client: u64,
        listener: Option<Weak<ConnectionQueue>>,
    ) -> Result<String, Fault> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).map_err(|error| Fault::internal(&error))?;
        let name = stockade_text::to_hex(&bytes);
        let mut sessions = self.lock();
        sessions.retain(|_, entry| !entry.is_over());
        if sessions.values().filter(|entry| entry.client == client).count() >= MAX_OF_CLIENT {
            let message =
                format!("{MAX_OF_CLIENT} sessions of this client are open; close one with session.close");
            return Err(Fault::new(fault::BUSY, message));
        }
        if sessions.len() >= MAX_SESSIONS {
            // Sessions of disconnected clients are evicted first.
            let left = sessions.iter().filter(|(_, entry)| entry.has_left);
            let oldest = left.min_by_key(|(_, entry)| entry.used).map(|(name, _)| name.clone());
            let Some(oldest) = oldest else {
                let message = format!("{MAX_SESSIONS} sessions are open; close one with session.close");
                return Err(Fault::new(fault::BUSY, message));
            };
            sessions.remove(&oldest);
        }
        let entry =
            Entry { session: Arc::new(session), client, listener, has_left: false, used: Instant::now() };
        sessions.insert(name.clone(), entry);
        Ok(name)
    }

    pub(super) fn find(&self, name: &str) -> Result<Arc<Session>, Fault> {
        let mut sessions = self.lock();
        let entry = sessions.get_mut(name).filter(|entry| !entry.is_over()).ok_or_else(no_session)?;
        entry.used = Instant::now();
        Ok(Arc::clone(&entry.session))
    }

    pub(super) fn close(&self, name: &str) -> Result<Arc<Session>, Fault> {
        self.lock().remove(name).map(|entry| entry.session).ok_or_else(no_session)
    }

    /// Whether any session has an agent.
    pub(super) fn has_agents(&self) -> bool {
        self.lock().values().any(|entry| entry.session.of_agent().is_some())
    }

    /// Sends a notification to the listeners of a session, or of all. Clients that do not read miss it.
    pub(super) fn tell(&self, session: Option<&str>, line: &str) {
        let sessions = self.lock();
        let meant = sessions.iter().filter(|(name, _)| session.is_none_or(|session| session == *name));
        let listeners: Vec<_> = meant.filter_map(|(_, entry)| entry.listener.as_ref()?.upgrade()).collect();
        drop(sessions);
        let mut told: Vec<u64> = Vec::new();
        for listener in listeners {
            if !told.contains(&listener.client()) {
                told.push(listener.client());
                listener.notify(line, || false);
            }
        }
    }

    /// Handles a disconnected client. Its sessions end unless another connection continues them within the grace period.
    pub(super) fn left(&self, client: u64) {
        for entry in self.lock().values_mut().filter(|entry| entry.client == client) {
            (entry.has_left, entry.used) = (true, Instant::now());
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Entry>> {
        lock(&self.0)
    }
}

impl Entry {
    fn is_over(&self) -> bool {
        self.used.elapsed() >= if self.has_left { GRACE } else { IDLE }
    }
}

fn no_session() -> Fault {
    // A client that restarted its server has to open its sessions anew.
    Fault::parameters("unknown or ended session; start one with session.open")
        .with(serde_json::json!({"session": "unknown"}))
}

/// Refuses a name that is too long.
pub(super) fn is_short(what: &str, name: &str) -> Result<(), Fault> {
    match name.len() <= MAX_NAME {
        true => Ok(()),
        false => Err(Fault::parameters(format!("`{what}` has more than {MAX_NAME} bytes"))),
    }
}

impl Server {
    /// Returns the session of a request: the requested one, or that of the server's agent.
    pub(super) fn session_of(&self, name: Option<&str>) -> Result<Option<Arc<Session>>, Fault> {
        match (name, &self.options.agent) {
            (Some(name), _) => self.sessions.find(name).map(Some),
            (None, None) => Ok(None),
            (None, Some(agent)) => {
                let mut own = lock(&self.own_session);
                let session = match own.take() {
                    Some(session) => session,
                    None => {
                        Arc::new(Session::guarded(Guarded::open(self, agent, SessionRequest::default())?))
                    }
                };
                Ok(Some(Arc::clone(own.insert(session))))
            }
        }
    }
}

impl Session {
    /// A session of an agent.
    pub(super) fn guarded(guarded: Guarded) -> Self {
        let answers = Arc::clone(guarded.answers());
        Self {
            kind: Kind::Guarded(Box::new(guarded)),
            permits: Mutex::default(),
            answers,
            asked: Mutex::default(),
        }
    }

    /// A session without an agent.
    pub(super) fn free(paths: SandboxConfig, limits: AgentLimits, answers: CommandAnswers) -> Self {
        let start = Instant::now();
        let clock: Clock = Box::new(move || start.elapsed());
        let limits = SharedLimits::new(limits, MemoryStore::new(clock));
        let free = Box::new(Free { paths: Mutex::new(Paths::Configured(paths)), limits });
        Self {
            kind: Kind::Free(free),
            permits: Mutex::default(),
            answers: Arc::new(answers),
            asked: Mutex::default(),
        }
    }

    /// Returns the agent that was named on opening, if any.
    pub(super) fn agent(&self) -> &str {
        self.of_agent().map_or(NO_AGENT, Guarded::agent)
    }

    /// Returns the agent's session, if it has an agent.
    pub(super) fn of_agent(&self) -> Option<&Guarded> {
        match &self.kind {
            Kind::Guarded(guarded) => Some(guarded),
            Kind::Free(_) => None,
        }
    }

    /// Returns the user's answers to commands.
    pub(super) const fn answers(&self) -> &Arc<CommandAnswers> {
        &self.answers
    }

    /// Keeps a decision until the user answers. The oldest unanswered ones are forgotten.
    pub(super) fn ask(&self, mut decision: Decision) {
        // A command may be long, and its answer is recorded by the ID alone.
        (decision.subject, decision.reason, decision.fix) = (String::new(), String::new(), None);
        let mut asked = lock(&self.asked);
        asked.push_back(decision);
        while asked.len() > MAX_ASKED {
            asked.pop_front();
        }
    }

    /// Removes and returns the decision that is answered.
    pub(super) fn answered(&self, id: &str) -> Result<Decision, Fault> {
        let mut asked = lock(&self.asked);
        let at = asked.iter().position(|decision| decision.id == id);
        at.and_then(|at| asked.remove(at)).ok_or_else(|| {
            Fault::parameters("unknown question; each question of `tool.before` is answered once")
        })
    }

    /// Calls the path guard of a session without an agent, which remembers answers. Its configuration is that of the session, or
    /// of the first request with one.
    pub(super) fn with_paths<R>(
        &self,
        config: Option<SandboxConfig>,
        ask: impl FnOnce(&mut PathGuard) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let Kind::Free(free) = &self.kind else {
            return Err(Fault::parameters(
                "the session is that of an agent, whose configuration decides on paths",
            ));
        };
        let mut paths = lock(&free.paths);
        match (&mut *paths, config) {
            (Paths::Open(_), Some(_)) => Err(Fault::parameters(
                "`config` belongs to the first request of a session, or to session.open; answers were given for that one",
            )),
            (Paths::Open(guard), None) => ask(guard),
            (Paths::Configured(own), given) => {
                let mut guard = Box::new(open_paths(given.unwrap_or_else(|| own.clone()))?);
                let answer = ask(&mut guard);
                *paths = Paths::Open(guard);
                answer
            }
        }
    }

    /// Requests a permit for a call in a session without an agent. It counts as one step.
    pub(super) fn admit(&self, execution: &str, estimate: Usage) -> Result<(Permit, Option<u32>), Exhausted> {
        let Kind::Free(free) = &self.kind else {
            return Err(Exhausted(CallRefusal::Steps { limit: 0 }));
        };
        match free.limits.admit(NO_AGENT, execution, estimate) {
            CallVerdict::Granted(permit) => {
                let left = permit.steps_left();
                Ok((Permit::Free(permit), left))
            }
            CallVerdict::Refused(refusal) => Err(Exhausted(refusal)),
        }
    }

    /// Stores a permit until it is settled, and returns its number.
    pub(super) fn keep(&self, permit: Permit) -> u64 {
        let mut permits = lock(&self.permits);
        permits.last += 1;
        let number = permits.last;
        permits.open.insert(number, permit);
        // The oldest permit can no longer be settled: it is charged in full when its lease ends.
        while permits.open.len() > MAX_PERMITS {
            permits.open.pop_first();
        }
        number
    }

    /// Removes and returns a permit.
    pub(super) fn take(&self, permit: u64) -> Result<Permit, Fault> {
        lock(&self.permits)
            .open
            .remove(&permit)
            .ok_or_else(|| Fault::parameters("unknown permit; each permit is granted once and settled once"))
    }

    /// Charges a call of a session without an agent. Returns whether it cost more than its estimate.
    pub(super) fn settle(
        &self,
        permit: CallPermit,
        used: Usage,
        outcome: CallOutcome,
    ) -> Result<bool, Fault> {
        let Kind::Free(free) = &self.kind else { return Ok(false) };
        let settled = free.limits.settle(permit, used, outcome).map_err(|error| Fault::internal(&error))?;
        Ok(settled.overrun != Usage::ZERO)
    }
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
