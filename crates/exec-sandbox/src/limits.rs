//! What a command may use up. The unlimited case has a name.

use std::time::Duration;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// What a command, with all that it starts, may use up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceLimits {
    /// From start to end.
    pub wall_time: Limit<Duration>,
    /// Time of processors that one process may take.
    pub cpu_time: Limit<Duration>,
    /// Processors that all of it together runs on.
    pub processors: Limit<u32>,
    /// Bytes of memory: of all together where control groups permit it, else of each process.
    pub memory: Limit<u64>,
    /// Processes and threads at the same time.
    pub processes: Limit<u64>,
    /// Bytes of one file.
    pub file_size: Limit<u64>,
    /// Bytes by which the file systems may grow that it may write to, whoever writes to them meanwhile.
    pub disk: Limit<u64>,
    /// Files and folders by which they may become more, likewise.
    pub files: Limit<u64>,
    /// Files that one process has open.
    pub open_files: Limit<u64>,
    /// Bytes in the private `/tmp`; the private home and shared memory get half as much each. They lie in memory, so all three
    /// together are never more than what is bounded there.
    pub scratch: u64,
    /// Bytes that the command may print. What goes beyond is dropped, and counted in [`Output::dropped`](crate::Output::dropped).
    pub output: Limit<u64>,
    /// How the command competes for processors.
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
    /// Bytes in the private `/tmp`.
    pub(crate) fn temporary(&self) -> u64 {
        self.memory.bound().map_or(self.scratch, |memory| self.scratch.min(memory / 2))
    }

    /// Bytes in the private home, and as many in shared memory.
    pub(crate) fn beside_temporary(&self) -> u64 {
        self.temporary() / 2
    }

    /// Whether somebody named a bound on memory that is tighter than the usual one.
    pub(crate) fn is_tight(&self) -> bool {
        let usual = Self::default().memory.bound().unwrap_or(u64::MAX);
        self.memory.bound().is_some_and(|memory| memory < usual)
    }
}

/// Files and folders in a folder in memory at most; and where memory is bounded tightly, one for so many bytes of the folder: for each, the
/// kernel takes up to a thousand of its own, which old control groups do not count.
const MAX_NAMES: u64 = 200_000;
const OF_A_NAME: u64 = 5_000;

/// How many files and folders a folder in memory may hold.
pub(crate) const fn names_within(size: u64, is_tight: bool) -> u64 {
    match size / OF_A_NAME {
        names if is_tight && names < MAX_NAMES => names,
        _ => MAX_NAMES,
    }
}

/// A bound, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit<T> {
    /// So much and no more.
    AtMost(T),
    /// As much as the machine gives.
    Unlimited,
}

impl<T: Copy> Limit<T> {
    /// Returns the bound, if there is one.
    pub fn bound(self) -> Option<T> {
        match self {
            Self::AtMost(bound) => Some(bound),
            Self::Unlimited => None,
        }
    }
}

/// How a command competes for processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Priority {
    /// Like any other program of the user.
    Normal,
    /// A little behind the other programs of its user (`nice` 5). What an agent runs is what its user waits for.
    #[default]
    Low,
    /// Behind everything else, its session included: it gets what others leave, which is next to nothing on a busy machine.
    Idle,
}

impl Priority {
    /// All, from the least to the most considerate.
    pub const ALL: &'static [Self] = &[Self::Normal, Self::Low, Self::Idle];

    /// Their names, in the same order.
    pub const NAMES: &'static [&'static str] = &["normal", "low", "idle"];

    /// Returns the word for it in options and configurations.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Low => "low",
            Self::Idle => "idle",
        }
    }

    /// Returns what it means, for the help of an option.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Normal => "like any other program of yours",
            Self::Low => "a little behind your other programs (nice 5)",
            Self::Idle => "only what other programs leave, which is next to nothing on a busy machine",
        }
    }

    /// Returns the priority of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|one| one.name() == name)
    }

    /// How far a process stands back (`nice`).
    pub(crate) const fn nice(self) -> i32 {
        match self {
            Self::Normal => 0,
            Self::Low => 5,
            Self::Idle => 19,
        }
    }
}
