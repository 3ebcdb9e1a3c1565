//! How a command ended.

use std::time::Duration;

use crate::enforcement::Enforcement;

/// How a command ended, what it used, and what was enforced meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// What it used up, with all that it started.
    pub usage: Usage,
    /// What it printed, where that was to be kept, and how much was dropped.
    pub output: Output,
    /// What was enforced.
    pub enforcement: Enforcement,
    /// What it was probably refused, if it failed and said so where it could be read.
    pub denials: Vec<crate::Denial>,
    /// What was found under a protected name afterwards, and where it was put.
    pub quarantine: Vec<crate::Quarantined>,
}

impl Outcome {
    /// The outcome where nothing was started.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_nothing(end: End, enforcement: Enforcement) -> Self {
        let (usage, output) = (Usage::default(), Output::default());
        Self { end, usage, output, enforcement, denials: Vec::new(), quarantine: Vec::new() }
    }
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// With an exit code of its own.
    Exited(i32),
    /// By a signal that it sent itself or was sent.
    Signalled(i32),
    /// It took too long.
    TimedOut,
    /// It used too much memory.
    OutOfMemory,
    /// A process of it used too much of a processor.
    OutOfCpuTime,
    /// There is no such program in its view.
    NotFound,
    /// The program cannot be run.
    NotExecutable,
}

impl End {
    /// Its stable name, for machines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exited(_) => "exited",
            Self::Signalled(_) => "signalled",
            Self::TimedOut => "timed-out",
            Self::OutOfMemory => "out-of-memory",
            Self::OutOfCpuTime => "out-of-cpu-time",
            Self::NotFound => "not-found",
            Self::NotExecutable => "not-executable",
        }
    }
}

/// What a command used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Usage {
    /// From start to end.
    pub wall_time: Duration,
    /// Time of processors, of all processes; nothing where nobody says so: bubblewrap does not, and a control group does.
    pub cpu_time: Option<Duration>,
    /// The most memory that one process, or all together in a control group, had at once; nothing where nobody says so.
    pub peak_memory: Option<u64>,
}

/// What a command printed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Output {
    /// Standard output, if it was to be kept.
    pub stdout: Vec<u8>,
    /// Standard error, if it was to be kept.
    pub stderr: Vec<u8>,
    /// Bytes of both that were dropped, because they were more than allowed.
    pub dropped: u64,
    /// Bytes of both that could not be written where they were to go, or that nobody took in time. Who has gone away, as
    /// `head` does, has missed nothing.
    pub untaken: u64,
}

impl Output {
    /// Whether not everything that was printed is there.
    pub fn truncated(&self) -> bool {
        self.dropped > 0 || self.untaken > 0
    }
}
