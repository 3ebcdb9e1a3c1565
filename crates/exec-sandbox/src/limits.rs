//! Resource limits of a command.

use std::time::Duration;

use crate::choices::words;
use crate::processors::Processors;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Resource limits of a command, including all its processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceLimits {
    /// Elapsed time from start to end.
    pub wall_time: Limit<Duration>,
    /// CPU time per process.
    pub cpu_time: Limit<Duration>,
    /// Processors that all processes together use.
    pub processors: Limit<Processors>,
    /// Bytes of memory: of all processes together where control groups are available, otherwise of each process.
    pub memory: Limit<u64>,
    /// Number of processes and threads at the same time.
    pub processes: Limit<u64>,
    /// Bytes per file.
    pub file_size: Limit<u64>,
    /// Bytes by which the writable file systems may grow, including writes of other programs.
    pub disk: Limit<u64>,
    /// Number of files and directories by which they may grow, including those of other programs.
    pub files: Limit<u64>,
    /// Open files per process.
    pub open_files: Limit<u64>,
    /// Bytes in the private `/tmp`; the private home and shared memory get half as much each. All three are in memory (tmpfs), so
    /// together they never exceed the memory limit.
    pub scratch: u64,
    /// Bytes of output. Further output is dropped, and counted in [`Output::dropped`](crate::Output::dropped).
    pub output: Limit<u64>,
    /// CPU priority.
    pub priority: Priority,
}

impl Default for ResourceLimits {
    fn default() -> Self {
        Self {
            wall_time: Limit::Unlimited,
            cpu_time: Limit::Unlimited,
            processors: Limit::Unlimited,
            memory: Limit::AtMost(2 * GIB),
            processes: Limit::AtMost(1024),
            file_size: Limit::AtMost(2 * GIB),
            disk: Limit::Unlimited,
            files: Limit::Unlimited,
            open_files: Limit::AtMost(4096),
            scratch: 512 * MIB,
            output: Limit::AtMost(32 * MIB),
            priority: Priority::Low,
        }
    }
}

impl ResourceLimits {
    /// Returns limits without a bound. What is not a bound has its default.
    #[must_use]
    pub fn unlimited() -> Self {
        Self {
            memory: Limit::Unlimited,
            processes: Limit::Unlimited,
            file_size: Limit::Unlimited,
            open_files: Limit::Unlimited,
            output: Limit::Unlimited,
            ..Self::default()
        }
    }

    /// Returns the bytes in the private `/tmp`.
    #[must_use]
    pub fn temporary(&self) -> u64 {
        self.memory.bound().map_or(self.scratch, |memory| self.scratch.min(memory / 2))
    }

    /// Returns the bytes in the private home, which are as many as in shared memory.
    #[must_use]
    pub fn beside_temporary(&self) -> u64 {
        self.temporary() / 2
    }

    /// Whether the memory limit is lower than the default.
    pub(crate) fn is_tight(&self) -> bool {
        let usual = Self::default().memory.bound().unwrap_or(u64::MAX);
        self.memory.bound().is_some_and(|memory| memory < usual)
    }
}

/// Maximum number of files and directories in a tmpfs.
const MAX_NAMES: u64 = 200_000;

/// Bytes of a tmpfs per file where memory is limited tightly: for each inode, the kernel uses up to a thousand bytes of its own
/// memory, which version 1 of control groups does not count.
const OF_A_NAME: u64 = 5_000;

/// Returns the maximum number of files and directories in a tmpfs of this size.
pub(crate) const fn names_within(size: u64, is_tight: bool) -> u64 {
    match size / OF_A_NAME {
        names if is_tight && names < MAX_NAMES => names,
        _ => MAX_NAMES,
    }
}

/// A limit, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit<T> {
    /// At most this much.
    AtMost(T),
    /// As much as the machine has.
    Unlimited,
}

/// Without a bound, it is [`Limit::Unlimited`].
impl<T> From<Option<T>> for Limit<T> {
    fn from(bound: Option<T>) -> Self {
        bound.map_or(Self::Unlimited, Self::AtMost)
    }
}

impl<T: Copy> Limit<T> {
    /// Returns the limit, if there is one.
    pub fn bound(self) -> Option<T> {
        match self {
            Self::AtMost(bound) => Some(bound),
            Self::Unlimited => None,
        }
    }
}

/// CPU priority of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Priority {
    /// Like any other program of the user.
    Normal,
    /// Slightly below other programs of the user (`nice` 5), because the user waits for the commands of an agent.
    #[default]
    Low,
    /// Below everything else, including its own session: only idle CPU time, which is almost none on a busy machine.
    Idle,
}

words! { Priority {
    Normal "normal" "like your other programs",
    Low "low" "slightly below your other programs (nice 5)",
    Idle "idle" "idle CPU time only, which is almost none on a busy machine",
} }

impl Priority {
    /// Returns the `nice` value.
    pub(crate) const fn nice(self) -> i32 {
        match self {
            Self::Normal => 0,
            Self::Low => 5,
            Self::Idle => 19,
        }
    }
}
