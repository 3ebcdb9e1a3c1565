//! Limits that a caller sets for the commands of a session, in addition to the configuration's.

use std::time::Duration;

use super::Session;
use crate::exec::{ReviewMode, SandboxMode};
use stockade_config::ExecConfig;

/// Additional limits for the commands of a session.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CommandBounds {
    timeout: Option<Duration>,
    output: Option<u64>,
    mode: Option<SandboxMode>,
    review: ReviewMode,
}

impl CommandBounds {
    /// Returns the effective sandbox mode: the stricter one.
    pub(super) fn mode(&self, exec: &ExecConfig) -> SandboxMode {
        self.mode.map_or(exec.mode, |mode| mode.max(exec.mode))
    }

    /// Returns the effective review mode: the stricter one.
    pub(super) fn review(&self, exec: &ExecConfig, destroys: bool) -> ReviewMode {
        self.review.max(exec.review.of(destroys))
    }

    /// Whether the caller requested a sandbox mode.
    pub(super) const fn has_mode(&self) -> bool {
        self.mode.is_some()
    }

    /// Returns the effective time limit: the shorter one.
    pub(super) fn timeout(&self, exec: &ExecConfig) -> Option<Duration> {
        exec.spec.limits.wall_time.bound().into_iter().chain(self.timeout).min()
    }

    /// Returns the effective output limit: the smaller one.
    pub(super) fn output(&self, exec: &ExecConfig) -> u64 {
        exec.spec.limits.output.bound().into_iter().chain(self.output).min().unwrap_or(u64::MAX)
    }
}

impl Session {
    /// Limits the time and output of each command. Only values below the configured ones have an effect.
    pub fn bound_commands(&mut self, timeout: Option<Duration>, output: Option<u64>) {
        let before = self.bounds;
        self.bounds = CommandBounds {
            timeout: before.timeout.into_iter().chain(timeout).min(),
            output: before.output.into_iter().chain(output).min(),
            ..before
        };
    }

    /// Runs commands on overlays of the workspace. Only a mode stricter than the configured one has an effect.
    pub fn bound_review(&mut self, review: ReviewMode) {
        self.bounds.review = self.bounds.review.max(review);
    }

    /// Limits the sandbox mode of each command.
    ///
    /// # Errors
    /// The effective mode, if a more permissive one is requested. It stays in effect.
    pub fn bound_mode(&mut self, mode: SandboxMode) -> Result<(), SandboxMode> {
        let holds = self.bounds.mode(&self.guard.config().exec);
        if mode < holds {
            return Err(holds);
        }
        self.bounds.mode = Some(mode);
        Ok(())
    }
}
