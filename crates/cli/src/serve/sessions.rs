//! What the server remembers for a client between requests: answers of people, budgets, breakers and steps.
#![expect(clippy::disallowed_methods, reason = "keeps the time of its limits")]

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use stockade_guard::limits::Usage;
use stockade_guard::limits::breaker::CallOutcome;
use stockade_guard::limits::budget::MAX_IN_FLIGHT;
use stockade_guard::limits::steps::{Step, Steps};
use stockade_guard::limits::store::{
    AgentLimits, CallPermit, CallRefusal, CallVerdict, MemoryStore, SharedLimits,
};
use stockade_guard::policy::SandboxConfig;
use stockade_guard::{CommandAnswers, PathGuard};

use super::fault::{self, Fault};
use super::methods::open_paths;

/// The most sessions at a time.
const MAX_SESSIONS: usize = 1024;

/// The clock of the limits of a session.
type Clock = Box<dyn Fn() -> Duration + Send + Sync>;

/// The open sessions, by name.
#[derive(Debug, Default)]
pub(super) struct Sessions(Mutex<BTreeMap<String, Arc<Session>>>);

/// An agent and what was agreed to on its behalf.
#[derive(Debug)]
pub(super) struct Session {
    agent: String,
    /// The workspace and its rules; opened when first asked about.
    paths: Mutex<Paths>,
    limits: SharedLimits<MemoryStore<Clock>>,
    steps: Mutex<Option<Steps>>,
    permits: Mutex<Permits>,
    /// What people have answered to commands.
    answers: Arc<CommandAnswers>,
}

#[derive(Debug)]
enum Paths {
    Configured(SandboxConfig),
    Open(Box<PathGuard>),
}

#[derive(Debug, Default)]
struct Permits {
    last: u64,
    open: BTreeMap<u64, CallPermit>,
}

/// Why a call must not be made.
#[derive(Debug)]
pub(super) enum Exhausted {
    Steps { limit: u32 },
    Call(CallRefusal),
}

impl Sessions {
    /// Opens a session and returns its name, which cannot be guessed: who knows it may answer for it.
    pub(super) fn open(&self, session: Session) -> Result<String, Fault> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).map_err(|error| Fault::internal(&error))?;
        let name: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut sessions = self.lock();
        if sessions.len() >= MAX_SESSIONS {
            let message = format!("{MAX_SESSIONS} sessions are open; close one with session.close");
            return Err(Fault::new(fault::BUSY, message));
        }
        sessions.insert(name.clone(), Arc::new(session));
        Ok(name)
    }

    pub(super) fn find(&self, name: &str) -> Result<Arc<Session>, Fault> {
        self.lock().get(name).cloned().ok_or_else(no_session)
    }

    pub(super) fn close(&self, name: &str) -> Result<(), Fault> {
        self.lock().remove(name).map(drop).ok_or_else(no_session)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Session>>> {
        lock(&self.0)
    }
}

fn no_session() -> Fault {
    Fault::parameters("there is no such session, or not any more; session.open opens one")
}

/// A value is changed in one step or not at all, so it is in order whatever happened to a thread that held it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    pub(super) fn new(
        agent: String,
        paths: SandboxConfig,
        limits: AgentLimits,
        max_steps: Option<u32>,
        answers: CommandAnswers,
    ) -> Self {
        let start = Instant::now();
        let clock: Clock = Box::new(move || start.elapsed());
        Self {
            agent,
            paths: Mutex::new(Paths::Configured(paths)),
            limits: SharedLimits::new(limits, MemoryStore::new(clock)),
            steps: Mutex::new(max_steps.map(Steps::new)),
            permits: Mutex::default(),
            answers: Arc::new(answers),
        }
    }

    /// Returns the agent that was named when it was opened, if one was.
    pub(super) fn agent(&self) -> &str {
        &self.agent
    }

    /// Returns what people have answered to commands.
    pub(super) const fn answers(&self) -> &Arc<CommandAnswers> {
        &self.answers
    }

    /// Asks the guard of the session, which remembers what was answered. Its configuration is that of the session, or
    /// of the first request that brings one.
    pub(super) fn with_paths<R>(
        &self,
        config: Option<SandboxConfig>,
        ask: impl FnOnce(&mut PathGuard) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let mut paths = lock(&self.paths);
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

    /// Asks for leave to make a call, which is one step.
    pub(super) fn admit(&self, execution: &str, estimate: Usage) -> Result<(u64, Option<u32>), Exhausted> {
        let mut steps = lock(&self.steps);
        if let Some(steps) = &*steps
            && steps.is_complete()
        {
            return Err(Exhausted::Steps { limit: steps.limit() });
        }
        let permit = match self.limits.admit(&self.agent, execution, estimate) {
            CallVerdict::Granted(permit) => permit,
            CallVerdict::Refused(refusal) => return Err(Exhausted::Call(refusal)),
        };
        let left = steps.as_mut().map(|steps| match steps.begin() {
            Step::Taken { left, .. } => left,
            Step::Complete { .. } => 0,
        });
        let mut permits = lock(&self.permits);
        permits.last += 1;
        let number = permits.last;
        permits.open.insert(number, permit);
        // What is older has run out of its lease and is charged: nobody can settle it any more.
        while permits.open.len() > MAX_IN_FLIGHT {
            permits.open.pop_first();
        }
        Ok((number, left))
    }

    /// Charges a call. Returns whether it cost more than it was admitted for.
    pub(super) fn settle(&self, permit: u64, used: Usage, outcome: CallOutcome) -> Result<bool, Fault> {
        let permit = lock(&self.permits).open.remove(&permit);
        let permit = permit.ok_or_else(|| {
            Fault::parameters("there is no such permit; each is given once and settled once")
        })?;
        let settled = self.limits.settle(permit, used, outcome).map_err(|error| Fault::internal(&error))?;
        Ok(settled.overrun != Usage::ZERO)
    }
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steps { limit } => write!(f, "all {limit} steps of the session are taken"),
            Self::Call(refusal) => refusal.fmt(f),
        }
    }
}
