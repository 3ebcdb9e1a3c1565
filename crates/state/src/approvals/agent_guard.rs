//! A session by which the effect of a configuration is tried. Its decisions are not recorded.

use std::path::Path;

use stockade_guard::Session;
use stockade_guard::audit::{AuditOptions, AuditTrail};
use stockade_guard::config::{AgentConfig, Config};
use stockade_text::with_causes;
use tempfile::TempDir;

use crate::{StateError, agents};

/// Returns the settings of an agent.
pub(super) fn settings(config: &Config, agent: &str) -> Result<AgentConfig, StateError> {
    config.agent(agent).map_err(|unknown| StateError::input(&unknown).with_help(unknown.fix()))
}

/// Opens a session in a workspace. The directory of its trail must be kept until the session is dropped.
pub(crate) fn open(config: &Config, agent: &str, workspace: &Path) -> Result<(Session, TempDir), StateError> {
    let guard =
        agents::open(config, agent, workspace).map_err(|error| StateError::input(with_causes(&error)))?;
    let folder = tempfile::tempdir().map_err(StateError::unavailable)?;
    let trail = AuditTrail::open(&folder.path().join("tried.jsonl"), AuditOptions::default());
    let trail = trail.map_err(|error| StateError::unavailable(with_causes(&error)))?;
    Ok((agents::session(&guard, trail), folder))
}
