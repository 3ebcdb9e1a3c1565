//! Bounds that a caller sets for a session, below those of the configuration.

use std::time::Duration;

use super::Session;
use crate::config::ExecConfig;

/// What the commands of a session may take, besides what the configuration allows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CommandBounds {
    timeout: Option<Duration>,
    output: Option<u64>,
}

impl CommandBounds {
    /// Returns how long a command may take: whatever is less.
    pub(super) fn timeout(&self, exec: &ExecConfig) -> Option<Duration> {
        exec.timeout.into_iter().chain(self.timeout).min()
    }

    /// Returns how many bytes a command may print: whatever is less.
    pub(super) fn output(&self, exec: &ExecConfig) -> u64 {
        exec.output.min(self.output.unwrap_or(u64::MAX))
    }
}

impl Session {
    /// Bounds how long each command may take, and how many bytes it may print. The configuration can be narrowed like this
    /// and not widened.
    pub fn bound_commands(&mut self, timeout: Option<Duration>, output: Option<u64>) {
        let before = self.bounds;
        self.bounds = CommandBounds {
            timeout: before.timeout.into_iter().chain(timeout).min(),
            output: before.output.into_iter().chain(output).min(),
        };
    }
}
