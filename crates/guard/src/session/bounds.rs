//! Bounds that a caller sets for a session, below those of the configuration.

use std::time::Duration;

use super::Session;
use crate::exec::{ReviewMode, SandboxMode};
use stockade_config::ExecConfig;

/// What the commands of a session may take, besides what the configuration allows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CommandBounds {
    timeout: Option<Duration>,
    output: Option<u64>,
    mode: Option<SandboxMode>,
    review: ReviewMode,
}

impl CommandBounds {
    /// Returns how much a command may do: whatever is less.
    pub(super) fn mode(&self, exec: &ExecConfig) -> SandboxMode {
        self.mode.map_or(exec.mode, |mode| mode.max(exec.mode))
    }

    /// Returns what becomes of what a command changes: whatever is stricter.
    pub(super) fn review(&self, exec: &ExecConfig, destroys: bool) -> ReviewMode {
        self.review.max(exec.review.of(destroys))
    }

    /// Whether the caller has chosen a sandbox mode, whatever is configured.
    pub(super) const fn has_mode(&self) -> bool {
        self.mode.is_some()
    }

    /// Returns how long a command may take: whatever is less.
    pub(super) fn timeout(&self, exec: &ExecConfig) -> Option<Duration> {
        exec.spec.limits.wall_time.bound().into_iter().chain(self.timeout).min()
    }

    /// Returns how many bytes a command may print: whatever is less.
    pub(super) fn output(&self, exec: &ExecConfig) -> u64 {
        exec.spec.limits.output.bound().into_iter().chain(self.output).min().unwrap_or(u64::MAX)
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
            ..before
        };
    }

    /// Lets commands work on views of the workspace. The configuration can be narrowed like this and not widened.
    pub fn bound_review(&mut self, review: ReviewMode) {
        self.bounds.review = self.bounds.review.max(review);
    }

    /// Bounds how much each command may do. The configuration can be narrowed like this and not widened.
    ///
    /// # Errors
    /// The mode that holds, where more than that is asked for. It holds on.
    pub fn bound_mode(&mut self, mode: SandboxMode) -> Result<(), SandboxMode> {
        let holds = self.bounds.mode(&self.guard.config().exec);
        if mode < holds {
            return Err(holds);
        }
        self.bounds.mode = Some(mode);
        Ok(())
    }
}
