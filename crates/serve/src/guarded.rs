//! Sessions of agents, each with a guard of the current configuration.
#![expect(clippy::disallowed_methods, reason = "asks in which folder it runs")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::json;
use stockade_guard::admission::answers::{AnswerTerms, CommandAnswers};
use stockade_guard::audit::AuditTrail;
use stockade_guard::config::UnknownAgent;
use stockade_guard::limits::store::LimitStore;
use stockade_guard::policy::{SandboxConfig, ToolCatalog};
use stockade_guard::{
    Decision, DecisionRule, Guard, GuardCacheError, GuardError, Narrowing, Session, SessionOptions,
    open_limit_store,
};

use super::bounds::{MAX_SAID, at_most};
use super::fault::{self, Fault};
use super::locks::lock;
use crate::Server;

/// A session of an agent.
#[derive(Debug)]
pub(super) struct Guarded {
    agent: String,
    /// The workspace; without one, each request names its own.
    workspace: Option<PathBuf>,
    catalog: ToolCatalog,
    session: Mutex<Session>,
    answers: Arc<CommandAnswers>,
    /// The default task of requests.
    execution: String,
}

/// The parameters of an agent's session.
#[derive(Debug, Default)]
pub(super) struct SessionRequest {
    pub(super) workspace: Option<PathBuf>,
    pub(super) catalog: ToolCatalog,
    pub(super) narrowing: Narrowing,
    pub(super) answers: AnswerTerms,
}

impl Guarded {
    pub(super) fn open(server: &Server, agent: &str, request: SessionRequest) -> Result<Self, Fault> {
        let agent = stockade_state::agents::parse_name(agent)
            .map_err(|why| Fault::parameters(format!("`agent`: {why}")))?;
        request.is_bounded()?;
        let SessionRequest { workspace, catalog, narrowing, answers } = request;
        let guard = guard(server, &agent, &folder(workspace.as_deref())?, &catalog)?;
        let mut session = session(server, &guard)?;
        session.narrow(narrowing).map_err(|error| Fault::of(&error))?;
        let configured = session.answer_terms();
        let answers =
            Arc::new(CommandAnswers::new(answers.shorter(configured), server.options.answers.clone()));
        let execution = new_execution()?;
        Ok(Self { agent, workspace, catalog, session: Mutex::new(session), answers, execution })
    }

    pub(super) fn agent(&self) -> &str {
        &self.agent
    }

    pub(super) const fn answers(&self) -> &Arc<CommandAnswers> {
        &self.answers
    }

    /// Returns the task of a request: the requested one, or that of the session.
    pub(super) fn execution<'e>(&'e self, named: &'e str) -> &'e str {
        if named.is_empty() { &self.execution } else { named }
    }

    /// Returns the session with the current configuration, for a request about its workspace.
    pub(super) fn now(&self, server: &Server) -> Result<Session, Fault> {
        let guard = guard(server, &self.agent, &folder(self.workspace.as_deref())?, &self.catalog)?;
        let mut held = lock(&self.session);
        if !held.guard().is(&guard) {
            *held = held.under(&guard);
            held.use_trail(trail(server, &guard)?);
        }
        Ok(held.clone())
    }

    /// Returns the session for a request with a workspace, which is permitted if the session has none.
    pub(super) fn within(&self, server: &Server, workspace: Option<&Path>) -> Result<Session, Fault> {
        let session = self.now(server)?;
        let Some(asked) = workspace else { return Ok(session) };
        let guard = guard(server, &self.agent, asked, &self.catalog)?;
        if guard.workspace() == session.guard().workspace() {
            return Ok(session);
        }
        if self.workspace.is_some() {
            let message = "the session is of another workspace: leave it out, or open a session there";
            return Err(Fault::parameters(message));
        }
        let mut moved = session.under(&guard);
        moved.use_trail(trail(server, &guard)?);
        Ok(moved)
    }

    /// Makes the agent a node of a graph run.
    #[cfg(target_os = "linux")]
    pub(super) fn join(&self, server: &Server, graph: &str) -> Result<(), Fault> {
        server.graphs.join(graph, &mut lock(&self.session))
    }

    /// Narrows all later requests.
    pub(super) fn change(&self, change: impl FnOnce(&mut Session)) {
        change(&mut lock(&self.session));
    }

    /// Ends the session's own task, because the client closed the session.
    pub(super) fn end(&self) {
        let session = lock(&self.session).clone();
        // If that cannot be stored, the task expires after a day.
        session.end(session.begin(self.execution.clone())).ok();
    }
}

impl SessionRequest {
    /// Checks that it is short enough to be remembered.
    fn is_bounded(&self) -> Result<(), Fault> {
        let names = self.catalog.tools.iter().chain(&self.catalog.mcp_servers);
        let said: usize =
            names.map(|name| name.len() + 32).sum::<usize>()
                + self.narrowing.paths.as_ref().map_or(0, said_of_paths)
                + self.narrowing.tools.as_ref().map_or(0, |tools| {
                    tools.allow.iter().chain(&tools.deny).map(|entry| entry.len() + 32).sum()
                });
        at_most(
            "bytes of `config`, `tools` and `mcpServers`",
            said,
            MAX_SAID,
            "say less, or in the configuration",
        )
    }
}

/// Returns how much a session remembers about paths.
pub(super) fn said_of_paths(config: &SandboxConfig) -> usize {
    let lists = [
        &config.forbidden_globs,
        &config.read.allow,
        &config.read.deny,
        &config.write.allow,
        &config.write.deny,
    ];
    lists.into_iter().flatten().map(|glob| glob.len() + 32).sum()
}

impl Server {
    /// Returns the configured store of limits of a guard; each is opened once.
    fn limit_store(&self, guard: &Guard) -> Result<Arc<dyn LimitStore>, Fault> {
        let config = guard.limit_store();
        let mut stores = lock(&self.limit_stores);
        let key = (config.server.clone(), config.may_forget);
        if let Some(store) = stores.get(&key) {
            return Ok(Arc::clone(store));
        }
        let store: Arc<dyn LimitStore> = open_limit_store(config).map_err(|error| {
            let fault = Fault::internal(&error);
            let fix = config.fix();
            let message = format!("{}; nothing is allowed until then: {fix}", fault.message);
            Fault { code: fault::STORE_AWAY, message, ..fault }.with(json!({"limit": "store", "fix": fix}))
        })?;
        stores.insert(key, Arc::clone(&store));
        Ok(store)
    }
}

/// Returns a unique name for a task.
fn new_execution() -> Result<String, Fault> {
    let mut bytes = [0_u8; 8];
    getrandom::fill(&mut bytes).map_err(|error| Fault::internal(&error))?;
    Ok(format!("session-{}", stockade_text::to_hex(&bytes)))
}

/// Returns the guard of an agent in a workspace.
pub(super) fn guard(
    server: &Server,
    agent: &str,
    workspace: &Path,
    catalog: &ToolCatalog,
) -> Result<Guard, Fault> {
    server.guards.get_with(agent, workspace, catalog).map_err(|error| match &error {
        GuardCacheError::Config(error) => Fault::of(error),
        GuardCacheError::Guard(error @ GuardError::Tools(_)) => {
            let fault = Fault::of(error);
            let fix = "name the tools of your own in `tools` of session.open";
            Fault { message: format!("{}; {fix}", fault.message), ..fault }
        }
        GuardCacheError::Guard(GuardError::Agent(unknown)) => unknown_agent(unknown),
        GuardCacheError::Guard(error @ GuardError::Paths(_)) => {
            let fault = Fault::of(error);
            let fix = error.fix().map(|fix| format!("; {fix}")).unwrap_or_default();
            Fault { message: fault.message + &fix, ..fault }
        }
        _ => Fault::internal(&error),
    })
}

/// The configuration lists agents, but not this one.
pub(super) fn unknown_agent(unknown: &UnknownAgent) -> Fault {
    let data = json!({"agent": unknown.agent, "nearest": unknown.nearest, "fix": unknown.fix()});
    Fault::parameters(format!("{unknown}; {}", unknown.fix())).with(data)
}

/// Begins a session of an agent.
pub(super) fn session(server: &Server, guard: &Guard) -> Result<Session, Fault> {
    let limits = Box::new(server.limit_store(guard)?);
    Ok(guard.session(SessionOptions { limits, trail: trail(server, guard)? }))
}

/// Returns the trail that records an agent's actions.
pub(super) fn trail(server: &Server, guard: &Guard) -> Result<AuditTrail, Fault> {
    server.trail.get(Some(guard.audit()))?.ok_or_else(|| {
        Fault::new(
            fault::REFUSED,
            "actions of agents must be recorded, and this server was started with `--no-audit`",
        )
    })
}

/// Returns the default workspace of a session: that of the server.
fn folder(workspace: Option<&Path>) -> Result<PathBuf, Fault> {
    match workspace {
        Some(workspace) => Ok(workspace.to_owned()),
        None => std::env::current_dir().map_err(|error| Fault::internal(&error)),
    }
}

/// Returns the fault for a decision that could not be made or recorded.
pub(super) fn undecided(error: &GuardError) -> Fault {
    Fault::internal(error)
}

/// Returns the fault for a denial.
pub(super) fn refused(decision: &Decision) -> Fault {
    Fault::new(fault::REFUSED, decision.to_string()).with(json!({ "decision": decision }))
}

/// Returns the fault for an exhausted limit.
pub(super) fn exhausted(decision: &Decision) -> Fault {
    let code = match decision.rule {
        DecisionRule::LimitStore => fault::STORE_AWAY,
        _ => fault::EXHAUSTED,
    };
    let data = json!({"limit": decision.rule.name(), "fix": decision.fix, "decision": decision});
    Fault::new(code, decision.to_string()).with(data)
}
