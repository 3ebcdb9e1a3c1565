//! The settings of an agent, and a session by which their effect is tried.

use stockade_guard::config::{AgentConfig, Config};

use crate::StateError;

pub(crate) use crate::agents::unrecorded as open;

/// Returns the settings of an agent.
pub(super) fn settings(config: &Config, agent: &str) -> Result<AgentConfig, StateError> {
    config.agent(agent).map_err(|unknown| StateError::input(&unknown).with_help(unknown.fix()))
}
