//! `stockade serve`: every layer for a program in any language, by JSON-RPC 2.0 with one message a line.
//!
//! ```text
//!            lines ──► reader ──► small and quick: answered at once ──► traffic ──► writer ──► lines
//!                        │                                                ▲
//!                        └──► long or slow: a pool of workers ────────────┘
//! ```
//!
//! `requests` and `wire` know JSON-RPC, `lines` cuts the input, `traffic` bounds what is under way, `pool` works, `connection` joins
//! them, `socket` makes connections, and `methods` has one file for each group of methods and the table of all.
#![cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "only the method `exec` needs it, which other systems lack")
)]

mod bounds;
mod connection;
mod ending;
mod fault;
#[cfg(target_os = "linux")]
mod graphs;
mod guarded;
mod listeners;
mod locks;
mod methods;
mod operator_rules;
mod pool;
mod requests;
mod scanner;
mod schema;
mod sessions;
mod socket;
mod traffic;
mod under_way;
mod wire;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use stockade_state::saved_rules::SavedRules;
use stockade_text::with_causes;

pub(crate) use bounds::MAX_REQUEST;
pub(crate) use connection::converse;
pub(crate) use ending::end_by_signal;
pub(crate) use schema::document as schema;
pub(crate) use socket::{SocketError, listen};

use fault::Fault;
use methods::{CompiledRules, Trail};
use operator_rules::OperatorRules;
use pool::Pool;
use sessions::Sessions;
use stockade_guard::audit::Unrecorded;
use stockade_guard::config::{AuditConfig, Config, ConfigSources};
#[cfg(target_os = "linux")]
use stockade_guard::exec::SandboxPool;
use stockade_guard::limits::store::LimitStore;
use stockade_guard::{AnswerStore, AnswerTerms, CommandAnswers, GuardCache};

/// How many sandboxes are made beforehand: an agent runs one command after the other, and each that waits takes memory.
#[cfg(target_os = "linux")]
const READY_SANDBOXES: usize = 1;

/// How the server is set up.
#[derive(Debug, Clone)]
pub(crate) struct ServeOptions {
    /// The longest line that is read, in bytes.
    pub(crate) max_request: usize,
    /// How many commands may run at the same time.
    pub(crate) max_commands: usize,
    /// Where commands are put on record.
    pub(crate) audit: Audit,
    /// The agent whose commands are run, and no others.
    pub(crate) agent: Option<String>,
    /// Whether decisions that are only asked for are put on record too.
    pub(crate) evaluations: Evaluations,
    /// Where answers are kept that are to hold in later sessions too.
    pub(crate) answers: Option<AnswerStore>,
    /// Where the rules are kept that decide before those of requests.
    pub(crate) rules: Option<SavedRules>,
    /// Whether requests may make these rules milder.
    pub(crate) may_widen: bool,
    /// Whether requests may ask for commands without a sandbox.
    pub(crate) may_leave_sandbox: bool,
    /// Below which folder runs of graphs have theirs.
    #[cfg(target_os = "linux")]
    pub(crate) graphs: Option<PathBuf>,
}

/// Whether decisions that are only asked for are put on record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evaluations {
    /// They never are, whatever the configuration says.
    Off,
    /// The configuration says so, as it is when the first of them is asked for.
    Configured,
}

/// What the configuration says of decisions that are only asked for, where they are to be put on record.
#[derive(Debug, Clone)]
struct Recording {
    /// The trail that it names; that of this user where it names none.
    audit: AuditConfig,
    /// What becomes of an answer that cannot be put on record.
    unrecorded: Unrecorded,
}

/// Where commands are put on record.
#[derive(Debug, Clone)]
pub(crate) enum Audit {
    /// In the trail of this user.
    Default,
    /// In this trail.
    File(PathBuf),
    /// Nowhere.
    Off,
}

/// The stores of limits that are open, by the server that each is on and whether it may forget.
type LimitStores = BTreeMap<(Option<String>, bool), Arc<dyn LimitStore>>;

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Server {
    options: ServeOptions,
    /// For requests that are long, or that read the disk.
    work: Pool,
    /// For requests that wait for a command.
    run: Pool,
    sessions: Sessions,
    trail: Trail,
    /// Whether and where decisions that are only asked for are put on record, once it was looked up; or why not.
    recording: OnceLock<Result<Option<Recording>, String>>,
    /// The answers that are kept for later sessions, for requests without one.
    kept_answers: Arc<CommandAnswers>,
    /// Who is connected, and whether the server ends.
    ending: ending::Ending,
    /// The rules for commands that decide before those of requests.
    rules: OperatorRules,
    /// The rules that requests bring along, compiled.
    compiled_rules: CompiledRules,
    /// What the configuration changes of rules of the scanner, for requests that are about no agent.
    scanner_rules: scanner::ScannerRules,
    /// The guards of agents, each compiled once and again when its configuration changes.
    guards: GuardCache,
    /// Where the limits of agents are kept.
    limit_stores: Mutex<LimitStores>,
    /// The session of requests without one, where the server is for one agent.
    own_session: Mutex<Option<Arc<sessions::Session>>>,
    /// The folders that nodes of graphs share.
    #[cfg(target_os = "linux")]
    graphs: graphs::Graphs,
    /// Sandboxes that wait for the next command of the last kind.
    #[cfg(target_os = "linux")]
    sandboxes: Arc<SandboxPool>,
}

impl Server {
    /// A client has left.
    fn left(&self, client: u64) {
        self.sessions.left(client);
        #[cfg(target_os = "linux")]
        self.graphs.left(client);
    }

    /// Takes away what does not outlast the server.
    pub(crate) fn end(&self) {
        #[cfg(target_os = "linux")]
        self.graphs.end_all();
    }

    /// Says whether the server can decide, by the rules that it was started with.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.rules.now().map(drop).map_err(|fault| fault.message)
    }

    pub(crate) fn new(options: ServeOptions) -> Self {
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
            ending: ending::Ending::default(),
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
    fn recording(&self) -> Result<Option<&Recording>, Fault> {
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
