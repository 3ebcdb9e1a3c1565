//! The supervisor's handle of a command in a container.

use std::sync::{Mutex, PoisonError};

use super::RunError;
use crate::backends::engine::{Contained, Exit, end_client};
use crate::outcome::End;
use crate::sys::raw;

/// A container that was started.
pub(super) struct Container {
    container: Mutex<Contained>,
    has_cpu_bound: bool,
}

impl Container {
    pub(super) fn new(container: Contained, has_cpu_bound: bool) -> Self {
        Self { container: Mutex::new(container), has_cpu_bound }
    }

    /// Returns how the command ended.
    pub(super) fn result(&self) -> Result<End, RunError> {
        let container = self.container.lock().unwrap_or_else(PoisonError::into_inner);
        match container.report(self.has_cpu_bound).map_err(RunError::Watch)? {
            Exit::Ended(end) => Ok(end),
            Exit::NeverBegan(why) => {
                // Podman's client prints the reason on the standard error of the command.
                let why = if why.is_empty() { "see its standard error".to_owned() } else { why };
                Err(RunError::setup("beginning a command in a container")(std::io::Error::other(why)))
            }
        }
    }

    /// Forwards a signal.
    pub(super) fn signal(&self, signal: i32) {
        self.container.lock().unwrap_or_else(PoisonError::into_inner).signal(signal);
    }

    /// Removes the container and waits until it is gone; then ends the client, which has no more output to forward.
    pub(super) fn end(&self, client: i32) -> Result<raw::Used, RunError> {
        let removed = self.container.lock().unwrap_or_else(PoisonError::into_inner).remove();
        let used = end_client(client);
        removed.map_err(RunError::Watch)?;
        used.map_err(|errno| RunError::Watch(std::io::Error::from_raw_os_error(errno)))
    }
}
