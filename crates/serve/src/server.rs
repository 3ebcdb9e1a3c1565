//! The server: its options, and what all connections share.

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
use crate::{ending, scanner};
use stockade_guard::GuardCache;
use stockade_guard::admission::answers::{AnswerStore, AnswerTerms, CommandAnswers};
use stockade_guard::audit::Unrecorded;
use stockade_guard::config::{AuditConfig, Config, ConfigSources};
#[cfg(target_os = "linux")]
use stockade_guard::exec::SandboxPool;
use stockade_guard::limits::store::LimitStore;

/// How many sandboxes are made beforehand: an agent runs one command after the other, and each that waits takes memory.
#[cfg(target_os = "linux")]
const READY_SANDBOXES: usize = 1;

/// How the server is set up.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// The longest line that is read, in bytes.
    pub max_request: usize,
    /// How many commands may run at the same time.
    pub max_commands: usize,
    /// Where commands are put on record.
    pub audit: Audit,
    /// The agent whose commands are run, and no others.
    pub agent: Option<String>,
    /// Whether decisions that are only asked for are put on record too.
    pub evaluations: Evaluations,
    /// Where answers are kept that are to hold in later sessions too.
    pub answers: Option<AnswerStore>,
    /// Where the rules are kept that decide before those of requests.
    pub rules: Option<SavedRules>,
    /// Whether requests may make these rules milder.
    pub may_widen: bool,
    /// Whether requests may ask for commands without a sandbox.
    pub may_leave_sandbox: bool,
    /// Below which folder runs of graphs have theirs.
    #[cfg(target_os = "linux")]
    pub graphs: Option<PathBuf>,
}

/// Whether decisions that are only asked for are put on record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evaluations {
    /// They never are, whatever the configuration says.
    Off,
    /// The configuration says so, as it is when the first of them is asked for.
    Configured,
}

/// What the configuration says of decisions that are only asked for, where they are to be put on record.
#[derive(Debug, Clone)]
pub(super) struct Recording {
    /// The trail that it names; that of this user where it names none.
    pub(super) audit: AuditConfig,
    /// What becomes of an answer that cannot be put on record.
    pub(super) unrecorded: Unrecorded,
}

/// Where commands are put on record.
#[derive(Debug, Clone)]
pub enum Audit {
    /// They are recorded in the trail of this user.
    Default,
    /// They are recorded in the trail of this file.
    File(PathBuf),
    /// They are not recorded.
    Off,
}

/// The stores of limits that are open, by the server that each is on and whether it may forget.
type LimitStores = BTreeMap<(Option<String>, bool), Arc<dyn LimitStore>>;

/// What all connections share.
#[derive(Debug)]
pub struct Server {
    pub(super) options: ServeOptions,
    /// For requests that are long, or that read the disk.
    pub(super) work: Pool,
    /// For requests that wait for a command.
    pub(super) run: Pool,
    pub(super) sessions: Sessions,
    pub(super) trail: Trail,
    /// Whether and where decisions that are only asked for are put on record, once it was looked up; or why not.
    pub(super) recording: OnceLock<Result<Option<Recording>, String>>,
    /// The answers that are kept for later sessions, for requests without one.
    pub(super) kept_answers: Arc<CommandAnswers>,
    /// Who is connected, and whether the server ends.
    pub(super) ending: shutdown::Ending,
    /// The rules for commands that decide before those of requests.
    pub(super) rules: OperatorRules,
    /// The rules that requests bring along, compiled.
    pub(super) compiled_rules: CompiledRules,
    /// What the configuration changes of rules of the scanner, for requests that are about no agent.
    pub(super) scanner_rules: scanner::ScannerRules,
    /// The guards of agents, each compiled once and again when its configuration changes.
    pub(super) guards: GuardCache,
    /// Where the limits of agents are kept.
    pub(super) limit_stores: Mutex<LimitStores>,
    /// The session of requests without one, where the server is for one agent.
    pub(super) own_session: Mutex<Option<Arc<sessions::Session>>>,
    /// The folders that nodes of graphs share.
    #[cfg(target_os = "linux")]
    pub(super) graphs: graphs::Graphs,
    /// Sandboxes that wait for the next command of the last kind.
    #[cfg(target_os = "linux")]
    pub(super) sandboxes: Arc<SandboxPool>,
}

impl Server {
    /// A client has left.
    pub(super) fn left(&self, client: u64) {
        self.sessions.left(client);
        #[cfg(target_os = "linux")]
        self.graphs.left(client);
    }

    /// Takes away what does not outlast the server.
    pub fn end(&self) {
        #[cfg(target_os = "linux")]
        self.graphs.end_all();
    }

    /// Says whether the server can decide, by the rules that it was started with.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn check(&self) -> Result<(), String> {
        self.rules.now().map(drop).map_err(|fault| fault.message)
    }

    /// Sets a server up. Its workers start with its first requests.
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
            ending: shutdown::Ending::default(),
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
    /// Returns where decisions that are only asked for are put on record, if they are.
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
