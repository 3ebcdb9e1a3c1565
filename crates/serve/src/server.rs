//! The server: its options, and the state that all connections share.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use stockade_state::saved_rules::SavedRules;

use crate::fault::{self, Fault};
#[cfg(target_os = "linux")]
use crate::graphs;
use crate::methods::{CompiledRules, Trail};
use crate::operator_rules::OperatorRules;
use crate::pool::{self, Pool};
use crate::sessions::{self, Sessions};
use crate::{scanner, shutdown};
use stockade_guard::GuardCache;
use stockade_guard::admission::answers::{AnswerStore, AnswerTerms, CommandAnswers};
use stockade_guard::audit::Unrecorded;
use stockade_guard::config::{AuditConfig, Config, ConfigSources};
#[cfg(target_os = "linux")]
use stockade_guard::exec::SandboxPool;
use stockade_guard::limits::store::LimitStore;

/// Number of sandboxes that are created in advance. An agent runs one command after the other, and each waiting sandbox needs
/// memory.
#[cfg(target_os = "linux")]
const READY_SANDBOXES: usize = 1;

/// Options of the server.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Maximum length of a line, in bytes.
    pub max_request: usize,
    /// Maximum number of simultaneous commands.
    pub max_commands: usize,
    /// The trail that records commands.
    pub audit: Audit,
    /// The only agent that is served, if set.
    pub agent: Option<String>,
    /// Whether decisions without an action are recorded.
    pub evaluations: Evaluations,
    /// The store of answers that apply to later sessions.
    pub answers: Option<AnswerStore>,
    /// The file of the rules that precede those of requests.
    pub rules: Option<SavedRules>,
    /// Whether requests may make these rules milder.
    pub may_widen: bool,
    /// Whether requests may run commands without a sandbox.
    pub may_leave_sandbox: bool,
    /// The parent directory of graph runs.
    #[cfg(target_os = "linux")]
    pub graphs: Option<PathBuf>,
}

/// Whether decisions without an action are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evaluations {
    /// Never, regardless of the configuration.
    Off,
    /// As configured when the first of them is requested.
    Configured,
}

/// The configured recording of decisions without an action.
#[derive(Debug, Clone)]
pub(super) struct Recording {
    /// The configured trail; by default, that of this user.
    pub(super) audit: AuditConfig,
    /// Whether an answer that cannot be recorded is withheld.
    pub(super) unrecorded: Unrecorded,
}

/// The trail that records commands.
#[derive(Debug, Clone)]
pub enum Audit {
    /// In the trail of this user.
    Default,
    /// In the trail of this file.
    File(PathBuf),
    /// Commands are not recorded at all.
    Off,
}

/// Open stores of limits, by server and whether it may lose usage.
type LimitStores = BTreeMap<(Option<String>, bool), Arc<dyn LimitStore>>;

/// The state that all connections share.
#[derive(Debug)]
pub struct Server {
    pub(super) options: ServeOptions,
    /// Workers for requests that take long or access the disk.
    pub(super) work: Pool,
    /// Workers for requests that wait for a command.
    pub(super) run: Pool,
    pub(super) sessions: Sessions,
    pub(super) trail: Trail,
    /// The recording of decisions without an action, or the error of looking it up; empty until then.
    pub(super) recording: OnceLock<Result<Option<Recording>, String>>,
    /// Stored answers, for requests without a session.
    pub(super) kept_answers: Arc<CommandAnswers>,
    /// Connected clients, and whether the server is shutting down.
    pub(super) shutdown: shutdown::Shutdown,
    /// Command rules that precede those of requests.
    pub(super) rules: OperatorRules,
    /// Compiled rules of requests.
    pub(super) compiled_rules: CompiledRules,
    /// Configured changes of scanner rules, for requests without an agent.
    pub(super) scanner_rules: scanner::ScannerRules,
    /// Guards of agents, compiled once and again when the configuration changes.
    pub(super) guards: GuardCache,
    /// Stores of the limits of agents.
    pub(super) limit_stores: Mutex<LimitStores>,
    /// The default session, if the server serves one agent.
    pub(super) own_session: Mutex<Option<Arc<sessions::Session>>>,
    /// Directories of graph runs.
    #[cfg(target_os = "linux")]
    pub(super) graphs: graphs::Graphs,
    /// Sandboxes created in advance for another command like the last one.
    #[cfg(target_os = "linux")]
    pub(super) sandboxes: Arc<SandboxPool>,
}

impl Server {
    /// Handles a disconnected client.
    pub(super) fn left(&self, client: u64) {
        self.sessions.left(client);
        #[cfg(target_os = "linux")]
        self.graphs.left(client);
    }

    /// Prepares sandboxes for further commands, after answers were sent.
    pub(super) fn answered(&self) {
        #[cfg(target_os = "linux")]
        self.sandboxes.answered();
    }

    /// Deletes everything that must not outlast the server.
    pub fn end(&self) {
        #[cfg(target_os = "linux")]
        self.graphs.end_all();
    }

    /// Checks that the rules that the server was started with can be used.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn check(&self) -> Result<(), String> {
        self.rules.now().map(drop).map_err(|fault| fault.message)
    }

    /// Creates a server. Its workers start with the first requests.
    #[must_use]
    pub fn new(options: ServeOptions) -> Self {
        Self {
            work: Pool::new("stockade-work", pool::processors().max(2)),
            run: Pool::new("stockade-run", options.max_commands),
            sessions: Sessions::default(),
            trail: Trail::new(options.audit.clone()),
            recording: OnceLock::new(),
            kept_answers: Arc::new(CommandAnswers::new(
                AnswerTerms { session: Duration::ZERO, ..AnswerTerms::MAX_TERMS },
                options.answers.clone(),
            )),
            shutdown: shutdown::Shutdown::default(),
            rules: OperatorRules::new(options.rules.clone(), options.may_widen),
            compiled_rules: CompiledRules::default(),
            scanner_rules: scanner::ScannerRules::default(),
            guards: GuardCache::default(),
            limit_stores: Mutex::default(),
            own_session: Mutex::default(),
            #[cfg(target_os = "linux")]
            graphs: graphs::Graphs::default(),
            #[cfg(target_os = "linux")]
            sandboxes: Arc::new(SandboxPool::new(READY_SANDBOXES)),
            options,
        }
    }
}

impl Server {
    /// Returns the recording of decisions without an action, if configured.
    pub(super) fn recording(&self) -> Result<Option<&Recording>, Fault> {
        let looked_up = self.recording.get_or_init(|| match self.options.evaluations {
            Evaluations::Off => Ok(None),
            Evaluations::Configured => Recording::configured(),
        });
        match looked_up {
            Ok(recording) => Ok(recording.as_ref()),
            Err(why) => Err(Fault::new(fault::INTERNAL, format!("the configuration cannot be used: {why}"))),
        }
    }
}

impl Recording {
    #[expect(
        clippy::disallowed_methods,
        reason = "asks in which folder it runs, for the configuration there"
    )]
    fn configured() -> Result<Option<Self>, String> {
        let folder = std::env::current_dir().unwrap_or_default();
        let config = Config::load(&ConfigSources::of_process(&folder)).map_err(|error| error.to_string())?;
        let audit = config.audit();
        Ok(audit
            .evaluations
            .then(|| Self { audit: audit.clone(), unrecorded: stockade_state::trail::unrecorded(&config) }))
    }
}
