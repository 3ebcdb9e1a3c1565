//! The guard of an agent, as commands of this program make one.

use std::path::Path;
use std::sync::Arc;

use stockade_guard::audit::AuditTrail;
use stockade_guard::config::Config;
use stockade_guard::policy::ToolCatalog;
use stockade_guard::{
    AnswerStore, AnswerTerms, CommandAnswers, Guard, GuardError, GuardOptions, LazyLimitStore, Session,
    SessionOptions,
};

/// Compiles the guard of an agent for a workspace.
pub(crate) fn open(config: &Config, agent: &str, workspace: &Path) -> Result<Guard, GuardError> {
    let options = GuardOptions {
        agent: agent.to_owned(),
        workspace: workspace.to_path_buf(),
        catalog: ToolCatalog::default(),
        rules: Vec::new(),
    };
    Guard::open(config, options)
}

/// Begins a session for one command. What the agent used is known to all of its sessions.
pub(crate) fn session(guard: &Guard, trail: AuditTrail) -> Session {
    let limits = Box::new(LazyLimitStore::new(guard.limit_store()));
    let mut session = guard.session(SessionOptions { limits, trail });
    // What a person has said for always counts wherever the command is run.
    session.use_answers(Arc::new(CommandAnswers::new(AnswerTerms::MAX_TERMS, AnswerStore::of_user())));
    session
}
