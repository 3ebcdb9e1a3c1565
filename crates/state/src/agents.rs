//! The guard of an agent, opened the same way by every front end.

use std::path::Path;
#[cfg(target_os = "linux")]
use std::sync::Arc;

#[cfg(target_os = "linux")]
use stockade_guard::admission::answers::{AnswerStore, AnswerTerms, CommandAnswers};
#[cfg(target_os = "linux")]
use stockade_guard::audit::{AuditOptions, AuditTrail};
use stockade_guard::config::Config;
use stockade_guard::policy::ToolCatalog;
use stockade_guard::{Guard, GuardError, GuardOptions};
#[cfg(target_os = "linux")]
use stockade_guard::{LazyLimitStore, Session, SessionOptions};
#[cfg(target_os = "linux")]
use stockade_text::with_causes;
#[cfg(target_os = "linux")]
use tempfile::TempDir;

#[cfg(target_os = "linux")]
use crate::StateError;

/// Parses the id of an agent.
///
/// # Errors
/// When it has characters other than letters, digits, `-` and `_`, or is too long.
pub fn parse_name(text: &str) -> Result<String, String> {
    match Config::key(&format!("agents.{text}.maxSteps")) {
        Some(_) if !["*", "<id>"].contains(&text) => Ok(text.to_owned()),
        _ => Err("an agent's id has at most 64 letters, digits, `-` and `_`".to_owned()),
    }
}

/// Compiles the guard of an agent for a workspace.
pub fn open(config: &Config, agent: &str, workspace: &Path) -> Result<Guard, GuardError> {
    let options = GuardOptions {
        agent: agent.to_owned(),
        workspace: workspace.to_path_buf(),
        catalog: ToolCatalog::default(),
        rules: Vec::new(),
    };
    Guard::open(config, options)
}

/// Opens a session for one command. Usage is shared by all sessions of the agent.
#[cfg(target_os = "linux")]
pub fn session(guard: &Guard, trail: AuditTrail) -> Session {
    let limits = Box::new(LazyLimitStore::new(guard.limit_store()));
    let mut session = guard.session(SessionOptions { limits, trail });
    // The user's saved answers apply at every entry point.
    session.use_answers(Arc::new(CommandAnswers::new(AnswerTerms::MAX_TERMS, AnswerStore::of_user())));
    session
}

/// Opens a session whose decisions are not recorded, to look at what it would decide. The directory of its trail must be kept until
/// the session is dropped.
#[cfg(target_os = "linux")]
pub fn unrecorded(config: &Config, agent: &str, workspace: &Path) -> Result<(Session, TempDir), StateError> {
    let guard = open(config, agent, workspace).map_err(|error| {
        let failed = StateError::input(with_causes(&error));
        match error.fix() {
            Some(fix) => failed.with_help(fix),
            None => failed,
        }
    })?;
    let folder = tempfile::tempdir().map_err(StateError::unavailable)?;
    let trail = AuditTrail::open(&folder.path().join("unrecorded.jsonl"), AuditOptions::default());
    let trail = trail.map_err(|error| StateError::unavailable(with_causes(&error)))?;
    Ok((session(&guard, trail), folder))
}

#[cfg(test)]
mod tests {
    use super::parse_name;

    #[test]
    fn agents_have_plain_names() {
        for (name, is_one) in [
            ("bot", true),
            ("a-b_7", true),
            ("*", false),
            ("<id>", false),
            ("a b", false),
            ("a.b", false),
            ("", false),
        ] {
            assert_eq!(parse_name(name).is_ok(), is_one, "{name}");
        }
    }
}
