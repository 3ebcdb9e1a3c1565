//! How a command ended.

use std::path::PathBuf;
use std::time::Duration;

use crate::enforcement::Enforcement;

/// How a command ended, what it used, and what was enforced meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// What it used up, with all that it started.
    pub usage: ResourceUsage,
    /// What it printed, where that was to be kept, and how much was dropped.
    pub output: Output,
    /// What was enforced.
    pub enforcement: Enforcement,
    /// What it was probably refused, if it failed and said so where it could be read.
    pub denials: Vec<crate::Denial>,
    /// What was found under a protected name afterwards, and where it was put.
    pub quarantine: Vec<crate::Quarantined>,
    /// Files that other programs or agents obey, and that are not as they were before: made, written or removed.
    pub changed: Vec<Changed>,
}

impl Outcome {
    /// The outcome where nothing was started.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_nothing(end: End, enforcement: Enforcement) -> Self {
        let (usage, output) = (ResourceUsage::default(), Output::default());
        Self {
            end,
            usage,
            output,
            enforcement,
            denials: Vec::new(),
            quarantine: Vec::new(),
            changed: Vec::new(),
        }
    }
}

/// A file that other programs or agents obey, and that is not as it was before a command.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Changed {
    /// Its path below the workspace.
    pub path: PathBuf,
    /// What it is, in a few words: `agent instructions`.
    pub label: String,
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

    /// The exit code of a program that ran this command in its own place, as shells and timeout(1) choose them.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Exited(code) => u8::try_from(code).unwrap_or(COULD_NOT_RUN),
            Self::Signalled(signal) => by_signal(signal),
            Self::TimedOut => TIMED_OUT,
            Self::OutOfMemory => by_signal(SIGKILL),
            Self::OutOfCpuTime => by_signal(SIGXCPU),
            Self::NotFound => NOT_FOUND,
            Self::NotExecutable => NOT_EXECUTABLE,
        }
    }
}

/// The exit codes that timeout(1) and env(1) use beside those of the command.
const TIMED_OUT: u8 = 124;
const COULD_NOT_RUN: u8 = 125;
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;

/// What a shell adds to the number of the signal that ended a command.
const BY_SIGNAL: i32 = 128;

/// These two have the same number on every system that this crate is built for.
const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;

fn by_signal(signal: i32) -> u8 {
    BY_SIGNAL.checked_add(signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(COULD_NOT_RUN)
}

/// What a command used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ResourceUsage {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_has_its_exit_code() {
        let rows = [
            (End::Exited(0), 0),
            (End::Exited(42), 42),
            (End::Exited(255), 255),
            (End::Exited(256), 125),
            (End::Exited(-1), 125),
            (End::Signalled(1), 129),
            (End::Signalled(9), 137),
            (End::Signalled(64), 192),
            (End::Signalled(128), 125),
            (End::Signalled(i32::MAX), 125),
            (End::Signalled(-200), 125),
            (End::TimedOut, 124),
            (End::OutOfMemory, 137),
            (End::OutOfCpuTime, 152),
            (End::NotFound, 127),
            (End::NotExecutable, 126),
        ];
        for (end, code) in rows {
            assert_eq!(end.exit_code(), code, "{end:?}");
        }
    }
}
