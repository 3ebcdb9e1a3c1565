//! The client of a shared proxy: programs whose commands use it, or that query its status.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::net::sockopt::socket_peercred;
use rustix::process::geteuid;
use thiserror::Error;

use super::messages::{Answer, Ask, BrokerStatus, heard, say};
use super::{SOCKET_VARIABLE, TOKEN_VARIABLE, control};
use crate::egress::SecretError;
use crate::exec::host::HostFacts;
use crate::exec::{Network, Plan, SandboxBackend, SandboxSpec, probe};
use crate::guard::Decision;
use crate::runner::{OUT_OF_SIGHT, unseen};

/// Timeout for an answer. The proxy may have to run a program to get a secret, which has 20 seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// The fix for a control socket that commands could reach.
const FOLDER: &str =
    "move the socket to a directory that the command does not see, such as one below `/run/user`";

/// Why a request to a shared proxy failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BrokerAskError {
    /// No program listens at the control socket.
    #[error("no egress proxy serves {}: {source}", socket.display())]
    NotServed {
        /// The socket.
        socket: PathBuf,
        /// The error of connecting to it.
        source: io::Error,
    },
    /// The listening program belongs to another user.
    #[error("the egress proxy at {} belongs to another user ({uid})", socket.display())]
    Anothers {
        /// The socket.
        socket: PathBuf,
        /// The user ID of its owner.
        uid: u32,
    },
    /// The proxy ended, or sent something unexpected.
    #[error("the egress proxy at {} does not answer: {source}", socket.display())]
    Silent {
        /// The socket.
        socket: PathBuf,
        /// What was received instead.
        source: io::Error,
    },
    /// The request was refused by the proxy or by this program.
    #[error("{why}")]
    Refused {
        /// The reason.
        why: String,
        /// The fix.
        fix: String,
    },
}

impl BrokerAskError {
    /// Returns the fix.
    #[must_use]
    pub fn fix(&self) -> String {
        match self {
            Self::NotServed { socket, .. } | Self::Silent { socket, .. } => {
                format!("start it: stockade broker serve --socket {} --allow-host HOST", socket.display())
            }
            Self::Anothers { .. } => {
                "run the command as that user, or start your own: stockade broker serve".to_owned()
            }
            Self::Refused { fix, .. } => fix.clone(),
        }
    }
}

/// A token for unsandboxed programs.
#[derive(Debug)]
#[non_exhaustive]
pub struct BrokerToken {
    /// The name of its run, in the status and in the audit trail.
    pub name: String,
    /// The token.
    pub token: String,
    /// Variables with the placeholders of secrets.
    pub variables: Vec<(String, String)>,
    /// The directory with the certificates of the proxy's authority, if it inspects TLS.
    pub trust: Option<PathBuf>,
}

/// A connection to the control socket.
struct Asking {
    stream: UnixStream,
    socket: PathBuf,
}

impl Asking {
    fn connect(socket: &Path) -> Result<Self, BrokerAskError> {
        let not_served = |source| BrokerAskError::NotServed { socket: socket.to_owned(), source };
        let stream = UnixStream::connect(control(socket)).map_err(not_served)?;
        let peer = socket_peercred(&stream).map_err(|error| not_served(error.into()))?;
        if peer.uid != geteuid() {
            return Err(BrokerAskError::Anothers { socket: socket.to_owned(), uid: peer.uid.as_raw() });
        }
        stream.set_read_timeout(Some(PATIENCE)).map_err(not_served)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(not_served)?;
        Ok(Self { stream, socket: socket.to_owned() })
    }

    fn ask(&self, ask: &Ask) -> Result<Answer, BrokerAskError> {
        let answer = say(&self.stream, ask).and_then(|()| {
            // A descriptor may follow the line, so bytes after it must not be read ahead.
            heard(&mut io::BufReader::with_capacity(1, &self.stream))
        });
        match answer {
            Ok(Some(Answer::Failed { why, fix })) => Err(BrokerAskError::Refused { why, fix }),
            Ok(Some(answer)) => Ok(answer),
            Ok(None) => Err(self.silent(io::ErrorKind::UnexpectedEof.into())),
            Err(error) => Err(self.silent(error)),
        }
    }

    fn silent(&self, source: io::Error) -> BrokerAskError {
        BrokerAskError::Silent { socket: self.socket.clone(), source }
    }

    fn odd(&self) -> BrokerAskError {
        self.silent(io::Error::other("unexpected response"))
    }
}

/// Returns the status of the proxy at a socket.
///
/// # Errors
/// When no proxy serves the socket.
pub fn broker_status(socket: &Path) -> Result<BrokerStatus, BrokerAskError> {
    let asking = Asking::connect(socket)?;
    match asking.ask(&Ask::Status)? {
        Answer::Status(status) => Ok(status),
        _ => Err(asking.odd()),
    }
}

/// Requests a token for unsandboxed programs from the proxy at a socket.
///
/// # Errors
/// When no proxy serves the socket, or a secret cannot be read.
pub fn broker_token(socket: &Path, lifetime: Duration) -> Result<BrokerToken, BrokerAskError> {
    let asking = Asking::connect(socket)?;
    match asking.ask(&Ask::Token { seconds: lifetime.as_secs() })? {
        Answer::Token { name, token, variables, trust } => Ok(BrokerToken { name, token, variables, trust }),
        _ => Err(asking.odd()),
    }
}

/// Ends a run of the proxy at a socket by its name. Its token is not accepted any more, and its connections are closed.
///
/// # Errors
/// When no proxy serves the socket, or it has no run of this name.
pub fn broker_revoke(socket: &Path, name: &str) -> Result<(), BrokerAskError> {
    let asking = Asking::connect(socket)?;
    match asking.ask(&Ask::Revoke { name: name.to_owned() })? {
        Answer::Ended { .. } => Ok(()),
        _ => Err(asking.odd()),
    }
}

/// The run of a command at a shared proxy.
pub(crate) struct JoinedBroker {
    asking: Asking,
    token: String,
    files: Vec<(String, PathBuf)>,
}

impl std::fmt::Debug for JoinedBroker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JoinedBroker").field("socket", &self.asking.socket).finish_non_exhaustive()
    }
}

impl JoinedBroker {
    /// Creates a run at the proxy whose socket a command gets. Returns nothing if the socket belongs to another program: the
    /// command then gets the socket, and that program decides.
    pub(crate) fn join(spec: &mut SandboxSpec, agent: Option<&str>) -> Result<Option<Self>, BrokerAskError> {
        let Network::Broker { socket } = &spec.network else { return Ok(None) };
        if fs::symlink_metadata(control(socket)).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Ok(None);
        }
        let mut writable = std::iter::once(&spec.workspace).chain(&spec.shared);
        if let Some(folder) = writable.find(|folder| socket.starts_with(folder)) {
            let why = format!("the socket is in `{}`, which is visible to the command", folder.display());
            return Err(BrokerAskError::Refused { why, fix: FOLDER.to_owned() });
        }
        let asking = Asking::connect(socket)?;
        let Answer::Run { token, handoff, files } =
            asking.ask(&Ask::Run { agent: agent.map(str::to_owned) })?
        else {
            return Err(asking.odd());
        };
        let handoff = handoff.receive(&asking.stream).map_err(|error| asking.silent(error))?;
        // Other backends only mount the socket, so programs need its path.
        let has_listener = match spec.backend {
            SandboxBackend::Native => true,
            SandboxBackend::Auto => probe(spec).kernel.namespaces,
            _ => false,
        };
        if has_listener {
            spec.network = Network::Proxy(handoff);
        }
        Ok(Some(Self { asking, token, files }))
    }

    /// Returns the variables with the socket and the token. The token must be kept secret.
    pub(crate) fn variables(&self) -> [(OsString, OsString); 2] {
        let socket = self.asking.socket.clone().into_os_string();
        [(SOCKET_VARIABLE.into(), socket), (TOKEN_VARIABLE.into(), self.token.clone().into())]
    }

    /// Requests the placeholders of the command's secrets.
    ///
    /// # Errors
    /// When a secret cannot be read, or the command could see it anyway, or could reach the control socket.
    pub(crate) fn lend(
        &self,
        plan: &Plan,
        spec: &mut SandboxSpec,
        facts: &HostFacts,
    ) -> Result<(), SecretError> {
        let control = control(&self.asking.socket);
        for (name, path) in &self.files {
            unseen(name, path, plan, OUT_OF_SIGHT)?;
        }
        unseen(TOKEN_VARIABLE, &control, plan, FOLDER)?;
        let handed_on = spec.environment.pass.iter().filter_map(|name| facts.environment.get(name));
        let set = spec.environment.set.iter().map(|(_, value)| value);
        let given = handed_on.chain(set).chain(&spec.command);
        let given = given.map(|text| text.to_string_lossy().into_owned()).collect();
        let variables = match self.asking.ask(&Ask::Lend { given }) {
            Ok(Answer::Lent { variables }) => variables,
            Ok(_) => {
                return Err(SecretError::new(
                    "?",
                    "is not available: unexpected response of the egress proxy",
                    "restart the egress proxy",
                ));
            }
            Err(error) => {
                let why = format!("is not available: {error}");
                return Err(SecretError::new("?", why, error.fix()));
            }
        };
        for (name, value) in variables {
            let name = OsString::from(name);
            if spec.environment.set.iter().any(|(set, _)| *set == name)
                || spec.environment.pass.contains(&name)
            {
                let shown = name.to_string_lossy();
                let why = format!("has the same value as the variable `{shown}` of the command");
                return Err(SecretError::new(&shown, why, "rename one of them"));
            }
            spec.environment.set.push((name, value.into()));
        }
        Ok(())
    }

    /// Sends the name of the run in the audit trail.
    pub(crate) fn started_by(&self, run: &str, skill: Option<&str>) {
        let (run, skill) = (run.to_owned(), skill.map(str::to_owned));
        // An ended proxy is noticed at the end of the run.
        self.asking.ask(&Ask::Started { run, skill }).ok();
    }

    /// Ends the run, and returns the refused requests, or why they are unknown: the proxy ended before.
    pub(crate) fn end(self) -> Result<Vec<Decision>, String> {
        match self.asking.ask(&Ask::End) {
            Ok(Answer::Ended { refused }) => Ok(refused.into_iter().map(Decision::from).collect()),
            Ok(_) | Err(_) => Err(format!(
                "the egress proxy at {} ended while the command ran; the command had no network from then on",
                self.asking.socket.display()
            )),
        }
    }
}
