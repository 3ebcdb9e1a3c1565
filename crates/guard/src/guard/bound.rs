//! Bounds that a caller sets for a while, below those of the configuration.

use std::time::Duration;

use super::Guard;

impl Guard {
    /// Bounds how long each command of the agent may take, and how many bytes it may print. The configuration can be
    /// narrowed like this and not widened.
    pub fn bound_commands(&mut self, timeout: Option<Duration>, output: Option<u64>) {
        let exec = &mut self.config.exec;
        exec.timeout = match (exec.timeout, timeout) {
            (Some(configured), Some(asked)) => Some(configured.min(asked)),
            (configured, asked) => configured.or(asked),
        };
        exec.output = exec.output.min(output.unwrap_or(u64::MAX));
    }
}
