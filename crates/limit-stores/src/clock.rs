//! A wall clock without jumps.
#![expect(clippy::disallowed_methods, reason = "reads the clocks that limits are given")]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Starts at the time of day, and advances by the monotonic clock, which cannot be set.
///
/// Setting the machine's clock while a process runs therefore neither resets a budget nor freezes it.
#[derive(Debug)]
pub(crate) struct SteadyClock {
    began: Instant,
    time_of_day: Duration,
}

impl SteadyClock {
    pub(crate) fn start() -> Self {
        let time_of_day = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { began: Instant::now(), time_of_day }
    }

    /// Returns the time since 1970.
    pub(crate) fn now(&self) -> Duration {
        self.time_of_day.saturating_add(self.began.elapsed())
    }
}
