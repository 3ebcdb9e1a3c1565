//! The server of a shared proxy: its runs, and requests to its control socket.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufReader};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rustix::net::sockopt::socket_peercred;
use rustix::process::{geteuid, getpid};

use super::control;
use super::messages::{Answer, Ask, BrokerStatus, RunStatus, SecretStatus, heard, say};
use crate::audit::new_name;
use crate::bound_socket::{BoundSocket, BoundSocketError};
use crate::egress::{BrokerGate, BrokerHandle, Brokered, Gatekeeper, PassedHandoff, Secrets};
use crate::exec::Network;
use crate::runner::{Egress, EgressProxy, RunRecord, decision, lend};

/// Maximum number of simultaneous runs.
pub const MAX_RUNS: usize = 256;

/// Maximum number of connected programs: one for each run, and some that ask for the status.
const MAX_ASKING: usize = MAX_RUNS + 32;

/// Maximum lifetime of a token for unsandboxed programs.
const MAX_LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// Timeout for writing an answer.
const MOMENT: Duration = Duration::from_secs(10);

/// Interval between checks for expired tokens.
const LOOK: Duration = Duration::from_secs(1);

/// Maximum number of recorded clients without a token; all are counted.
const MAX_RECORDED: u64 = 64;

/// Options of a shared proxy.
#[derive(Debug, Clone)]
pub struct ServedEgress {
    /// The hosts, limits and secrets of each run.
    pub egress: Egress,
    /// The host list, as written.
    pub hosts: Vec<String>,
    /// The trail that records decisions.
    pub record: RunRecord,
    /// Additional users whose programs may connect.
    pub users: BTreeSet<u32>,
}

/// A proxy at a socket. Dropping it ends all runs and removes the socket.
#[derive(Debug)]
pub struct BrokerServer {
    /// These two are dropped first, so that no further client is accepted.
    _gate: BrokerGate,
    controlled: Controlled,
    _sockets: [BoundSocket; 2],
    served: Arc<Served>,
}

/// The control socket; its thread ends when this is dropped.
#[derive(Debug)]
struct Controlled(UnixListener);

impl Drop for Controlled {
    fn drop(&mut self) {
        rustix::net::shutdown(&self.0, rustix::net::Shutdown::Both).ok();
    }
}

#[derive(Debug)]
struct Served {
    what: ServedEgress,
    socket: PathBuf,
    since: SystemTime,
    runs: Mutex<BTreeMap<String, ServedRun>>,
    asking: AtomicUsize,
    all_runs: AtomicU64,
    /// Counts of ended runs.
    past: [AtomicU64; 2],
    without_token: AtomicU64,
}

/// A current run of the proxy.
#[derive(Debug)]
struct ServedRun {
    proxy: EgressProxy,
    secrets: Option<Secrets>,
    agent: Option<String>,
    name: Arc<OnceLock<String>>,
    since: SystemTime,
    until: Option<(Instant, SystemTime)>,
}

/// An error with its fix.
type Failure = (String, String);

impl BrokerServer {
    /// Starts a proxy at a socket. Secrets are read once to check their sources, and again for each run.
    ///
    /// # Errors
    /// When the socket cannot be created, or a secret cannot be read.
    pub fn bind(path: &Path, what: ServedEgress) -> Result<Self, BrokerServeError> {
        if let Some(secrets) =
            lend(&what.egress).map_err(|error| BrokerServeError::Secret(error.to_string()))?
        {
            secrets.get().map_err(|error| BrokerServeError::Secret(format!("{error}; {}", error.fix)))?;
        }
        let mode = if what.users.is_empty() { 0o600 } else { 0o666 };
        let asked = BoundSocket::bind(&control(path), 0o600).map_err(|error| match error {
            BoundSocketError::InUse { .. } => BoundSocketError::InUse { path: path.to_owned() },
            error => error,
        })?;
        let socket = BoundSocket::bind(path, mode)?;
        let served = Arc::new(Served {
            what,
            socket: socket.path().to_owned(),
            since: SystemTime::now(),
            runs: Mutex::default(),
            asking: AtomicUsize::new(0),
            all_runs: AtomicU64::new(0),
            past: Default::default(),
            without_token: AtomicU64::new(0),
        });
        let listener = socket.listener().try_clone().map_err(BrokerServeError::Thread)?;
        let gate =
            BrokerGate::open(listener, Arc::<Served>::clone(&served)).map_err(BrokerServeError::Thread)?;
        let listen = || asked.listener().try_clone();
        let (controlled, theirs) = (Controlled(listen().map_err(BrokerServeError::Thread)?), listen());
        let (theirs, at_work) = (theirs.map_err(BrokerServeError::Thread)?, Arc::clone(&served));
        spawn(move || listen_for_questions(&theirs, &at_work)).map_err(BrokerServeError::Thread)?;
        let (weak, look) = (Arc::downgrade(&served), thread::Builder::new().name("broker-time".to_owned()));
        look.spawn(move || {
            while let Some(served) = weak.upgrade() {
                served.end_late();
                drop(served);
                thread::sleep(LOOK);
            }
        })
        .map_err(BrokerServeError::Thread)?;
        Ok(Self { _gate: gate, controlled, _sockets: [asked, socket], served })
    }

    /// Returns the path of the socket, without symlinks.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.served.socket
    }
}

impl Drop for BrokerServer {
    fn drop(&mut self) {
        rustix::net::shutdown(&self.controlled.0, rustix::net::Shutdown::Both).ok();
        let runs = std::mem::take(&mut *self.served.runs());
        drop(runs);
    }
}

/// Why a shared proxy cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrokerServeError {
    /// The socket cannot be created.
    #[error(transparent)]
    Socket(#[from] BoundSocketError),
    /// A secret cannot be read, or has no reachable host.
    #[error("{0}")]
    Secret(String),
    /// A thread or descriptor cannot be created.
    #[error("cannot serve: {0}")]
    Thread(#[source] io::Error),
}

fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name("broker-asked".to_owned()).spawn(work).map(drop)
}

fn listen_for_questions(listener: &UnixListener, served: &Arc<Served>) {
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return,
            Err(_) => {
                thread::sleep(Duration::from_millis(10));
                continue;
            }
        };
        let is_ours = socket_peercred(&stream).is_ok_and(|peer| peer.uid == geteuid());
        let counted = Counted::of(served);
        if !is_ours || counted.is_too_many() {
            continue;
        }
        let served = Arc::clone(served);
        spawn(move || {
            let _counted = counted;
            // A broken connection concerns only its own client.
            converse(&served, &stream).ok();
        })
        .ok();
    }
}

/// Serves one client of the control socket.
struct Counted(Arc<Served>, usize);

impl Counted {
    fn of(served: &Arc<Served>) -> Self {
        Self(Arc::clone(served), served.asking.fetch_add(1, Ordering::Relaxed))
    }

    const fn is_too_many(&self) -> bool {
        self.1 >= MAX_ASKING
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.asking.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The run of a connection, which ends with the connection.
struct ConnectionRun<'s> {
    served: &'s Served,
    token: Option<String>,
}

impl Drop for ConnectionRun<'_> {
    fn drop(&mut self) {
        if let Some(token) = &self.token {
            self.served.end(token);
        }
    }
}

fn converse(served: &Served, stream: &UnixStream) -> io::Result<()> {
    stream.set_write_timeout(Some(MOMENT))?;
    let mut questions = BufReader::new(stream);
    let mut run = ConnectionRun { served, token: None };
    while let Some(ask) = heard::<Ask>(&mut questions)? {
        match answer(served, &mut run, ask) {
            Ok((answer, handoff)) => {
                say(stream, &answer)?;
                if let Some(Network::Proxy(handoff)) = handoff {
                    PassedHandoff::send(&handoff, stream)?;
                }
            }
            Err((why, fix)) => say(stream, &Answer::Failed { why, fix })?,
        }
    }
    Ok(())
}

fn answer(
    served: &Served,
    run: &mut ConnectionRun<'_>,
    ask: Ask,
) -> Result<(Answer, Option<Network>), Failure> {
    match ask {
        Ask::Status => Ok((Answer::Status(served.status()), None)),
        Ask::Revoke { name } => served.revoke(&name).map(|answer| (answer, None)),
        Ask::Token { seconds } => served.token(Duration::from_secs(seconds)).map(|answer| (answer, None)),
        Ask::Run { .. } if run.token.is_some() => {
            Err(failure("the connection already has a run", "open a connection for each run"))
        }
        Ask::Run { agent } => {
            let (token, network) = served.begin(agent, None)?;
            run.token = Some(token.clone());
            let Network::Proxy(handoff) = &network else {
                return Err(failure("its proxy has no control socket", "restart the proxy"));
            };
            let handoff = PassedHandoff::of(handoff, Some(served.socket.clone()));
            let files = served.files(&token);
            Ok((Answer::Run { token, handoff, files }, Some(network)))
        }
        Ask::Lend { given } => {
            let variables = served.lend(run.token.as_deref(), &given)?;
            Ok((Answer::Lent { variables }, None))
        }
        Ask::Started { run: name, skill } => {
            let runs = served.runs();
            if let Some(served) = run.token.as_ref().and_then(|token| runs.get(token)) {
                served.proxy.started_by(&name, skill.as_deref());
                served.name.set(name).ok();
            }
            Ok((Answer::Noted, None))
        }
        Ask::End => {
            let ended = run.token.take().map(|token| served.end(&token)).unwrap_or_default();
            Ok((Answer::Ended { refused: ended.into_iter().map(Into::into).collect() }, None))
        }
    }
}

fn failure(why: impl Into<String>, fix: impl Into<String>) -> Failure {
    (why.into(), fix.into())
}

impl Served {
    fn runs(&self) -> MutexGuard<'_, BTreeMap<String, ServedRun>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates a run. Returns its token, and the network of its sandboxes.
    fn begin(&self, agent: Option<String>, lifetime: Option<Duration>) -> Result<(String, Network), Failure> {
        if self.runs().len() >= MAX_RUNS {
            return Err(failure(
                format!("{MAX_RUNS} runs are in progress, which is the maximum"),
                "end one, and try again",
            ));
        }
        let failed = |error: io::Error| failure(format!("cannot start a run: {error}"), "try again");
        let token = new_name().map_err(failed)?;
        let secrets = lend(&self.what.egress).map_err(failed)?;
        let owner = RunRecord { agent: agent.clone(), ..self.what.record.clone() };
        let proxy = EgressProxy::start(self.what.egress.clone(), secrets.clone(), owner).map_err(failed)?;
        let (network, now) = (proxy.network(), (Instant::now(), SystemTime::now()));
        let until = lifetime.map(|lifetime| (now.0 + lifetime, now.1 + lifetime));
        let run = ServedRun { proxy, secrets, agent, name: Arc::default(), since: now.1, until };
        self.runs().insert(token.clone(), run);
        self.all_runs.fetch_add(1, Ordering::Relaxed);
        Ok((token, network))
    }

    /// Creates a run for unsandboxed programs.
    fn token(&self, lifetime: Duration) -> Result<Answer, Failure> {
        if lifetime.is_zero() || lifetime > MAX_LIFETIME {
            let hours = MAX_LIFETIME.as_secs() / 3600;
            return Err(failure(
                "the lifetime of a token is out of range",
                format!("use at most {hours} hours"),
            ));
        }
        let (token, network) = self.begin(None, Some(lifetime))?;
        let mut run = ConnectionRun { served: self, token: Some(token.clone()) };
        let variables = self.lend(Some(&token), &[])?;
        // The name in the audit trail must not reveal the token.
        let name =
            new_name().map_err(|error| failure(format!("cannot generate a name: {error}"), "try again"))?;
        if let Some(run) = self.runs().get(&token) {
            run.proxy.started_by(&name, None);
            run.name.set(name.clone()).ok();
        }
        let trust = match &network {
            Network::Proxy(handoff) => PassedHandoff::of(handoff, None).trust().cloned(),
            _ => None,
        };
        run.token = None;
        Ok(Answer::Token { name, token, variables, trust })
    }

    /// Returns the files with the secrets of a run.
    fn files(&self, token: &str) -> Vec<(String, PathBuf)> {
        let runs = self.runs();
        let secrets = runs.get(token).and_then(|run| run.secrets.as_ref());
        let files = secrets.into_iter().flat_map(Secrets::files);
        files.map(|(name, path)| (name.to_owned(), path.to_owned())).collect()
    }

    /// Reads the secrets of a run, unless an input of its command contains one.
    fn lend(&self, token: Option<&str>, given: &[String]) -> Result<Vec<(String, String)>, Failure> {
        let secrets = match token.map(|token| (token, self.runs())) {
            Some((token, runs)) => match runs.get(token) {
                Some(run) => run.secrets.clone(),
                None => return Err(failure("its run is over", "begin another")),
            },
            None => return Err(failure("it has no run", "begin one")),
        };
        let Some(secrets) = secrets else { return Ok(Vec::new()) };
        secrets.get().map_err(|error| failure(error.to_string(), error.fix.clone()))?;
        if let Some(name) = given.iter().find_map(|text| secrets.named_in(text.as_bytes())) {
            let why = format!("the secret `{name}` is visible to the command in a variable or an argument");
            return Err(failure(
                why,
                "remove it: the command uses the placeholder in the secret's variable instead",
            ));
        }
        let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
        Ok(secrets.variables().into_iter().map(|(name, value)| (text(name), text(value))).collect())
    }

    /// Ends the run of this name.
    fn revoke(&self, name: &str) -> Result<Answer, Failure> {
        let is_called = |run: &ServedRun| run.name.get().is_some_and(|own| own == name);
        let token = self.runs().iter().find(|(_, run)| is_called(run)).map(|(token, _)| token.clone());
        let unknown =
            || failure(format!("it has no run `{name}`"), "`stockade broker status` lists its runs");
        let refused = self.end(&token.ok_or_else(unknown)?);
        Ok(Answer::Ended { refused: refused.into_iter().map(Into::into).collect() })
    }

    /// Ends a run, and returns its refused requests.
    fn end(&self, token: &str) -> Vec<crate::Decision> {
        let Some(run) = self.runs().remove(token) else { return Vec::new() };
        let counts = run.proxy.counts();
        for (past, now) in self.past.iter().zip(counts) {
            past.fetch_add(now, Ordering::Relaxed);
        }
        run.proxy.end().0
    }

    fn end_late(&self) {
        let now = Instant::now();
        let is_late = |run: &ServedRun| run.until.is_some_and(|(until, _)| now >= until);
        let late: Vec<String> =
            self.runs().iter().filter(|(_, run)| is_late(run)).map(|(token, _)| token.clone()).collect();
        for token in late {
            drop(self.end(&token));
        }
    }

    fn status(&self) -> BrokerStatus {
        let seconds = |time: SystemTime| {
            time.duration_since(SystemTime::UNIX_EPOCH).map(|since| since.as_secs()).unwrap_or_default()
        };
        let runs = self.runs();
        let shown = runs.values().map(|run| {
            let [allowed, refused] = run.proxy.counts();
            RunStatus {
                name: run.name.get().cloned().unwrap_or_else(|| "not started yet".to_owned()),
                agent: run.agent.clone(),
                since: seconds(run.since),
                until: run.until.map(|until| seconds(until.1)),
                allowed,
                refused,
            }
        });
        let shown: Vec<RunStatus> = shown.collect();
        let [allowed, refused] =
            [0, 1].map(|at| self.past.get(at).map_or(0, |past| past.load(Ordering::Relaxed)));
        let secrets = self
            .what
            .egress
            .secrets
            .iter()
            .map(|secret| SecretStatus { name: secret.name().to_owned(), to: secret.destination() });
        BrokerStatus {
            pid: getpid().as_raw_nonzero().get().unsigned_abs(),
            since: seconds(self.since),
            socket: self.socket.clone(),
            users: self.what.users.iter().copied().collect(),
            hosts: self.what.hosts.clone(),
            secrets: secrets.collect(),
            all_runs: self.all_runs.load(Ordering::Relaxed),
            allowed: allowed + shown.iter().map(|run| run.allowed).sum::<u64>(),
            refused: refused + shown.iter().map(|run| run.refused).sum::<u64>(),
            without_token: self.without_token.load(Ordering::Relaxed),
            runs: shown,
        }
    }
}

impl Gatekeeper for Served {
    fn knows(&self, uid: u32) -> bool {
        uid == geteuid().as_raw() || self.what.users.contains(&uid)
    }

    fn broker(&self, token: &str) -> Option<BrokerHandle> {
        let runs = self.runs();
        let run = runs.get(token)?;
        let is_over = run.until.is_some_and(|(until, _)| Instant::now() >= until);
        (!is_over).then(|| run.proxy.handle())
    }

    fn turned_away(&self, refused: &Brokered) -> Option<String> {
        let before = self.without_token.fetch_add(1, Ordering::Relaxed);
        // Bounded, so that clients without a token cannot fill the trail.
        (before < MAX_RECORDED)
            .then(|| decision(refused, &self.what.record, None).ok())
            .flatten()
            .map(|one| one.id)
    }
}
