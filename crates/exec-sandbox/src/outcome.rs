//! How a command ended.

use std::path::PathBuf;
use std::time::Duration;

use crate::enforcement::Enforcement;

/// How a command ended, what it used, and what was enforced.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// The resources that the command and its descendants used.
    pub usage: ResourceUsage,
    /// The captured output, and how much of it was dropped.
    pub output: Output,
    /// What was enforced.
    pub enforcement: Enforcement,
    /// What the sandbox denied, if the command failed: found from its system calls and the limits that it hit.
    pub denials: Vec<crate::Denial>,
    /// Files that were found under a protected name afterwards, and where they were moved.
    pub quarantine: Vec<crate::quarantined::Quarantined>,
    /// Earlier entries of the quarantine that were deleted because they exceeded its maximum size or age.
    pub quarantine_dropped: Vec<DroppedGroup>,
    /// Files that other programs or agents obey and that were created, written or removed. Also new symlinks that resolve to a
    /// path outside of the workspace or to a file that other programs obey.
    pub changed: Vec<Changed>,
    /// Files with secrets that the command could read.
    pub exposed: Vec<crate::host::Exposed>,
    /// The changes under review, where the command worked on an overlay of the workspace.
    pub review: Option<crate::Reviewed>,
}

/// Exit codes of a program that runs a command in its place, where the code is not the command's own: those of timeout(1) and
/// env(1), and two that neither uses.
pub const EXIT_CODES: &[(u8, &str)] = &[
    (
        OUTPUT_CUT,
        "the command succeeded, but its output is incomplete: it exceeded the output limit, or could not be written",
    ),
    (
        LEFT_TO_RUN,
        "the command left a file that runs programs outside of the sandbox (see `stockade quarantine`), or a symlink to the home or to a file that other programs obey",
    ),
    (TIMED_OUT, "the command exceeded its time limit"),
    (
        COULD_NOT_RUN,
        "invalid options, or a required file could not be read, created or recorded; nothing ran",
    ),
    (NOT_EXECUTABLE, "the command was refused, or the program cannot be executed"),
    (NOT_FOUND, "program not found in the sandbox"),
];

impl Outcome {
    /// Returns the exit code of a program that ran this command in its place: that of its [end](End::exit_code), unless the
    /// command left a file that runs programs outside of the sandbox, or a harmful symlink, which must not look like success.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        let left =
            self.quarantine.iter().any(|found| found.left_by == crate::quarantined::LeftBy::ThisCommand);
        if left || self.changed.iter().any(|changed| changed.is_harmful) {
            return LEFT_TO_RUN;
        }
        self.end.exit_code()
    }

    /// Returns the same, for a program that forwards the output and has no other way to report that some of it is missing. The
    /// exit code of a failed command stays as it is.
    #[must_use]
    pub fn exit_code_with_output(&self) -> u8 {
        match self.exit_code() {
            0 if self.output.truncated() => OUTPUT_CUT,
            code => code,
        }
    }

    /// Returns an outcome of which nothing but the end is known: nothing was started, or a registered backend ran the command.
    #[must_use]
    pub fn of_nothing(end: End, enforcement: Enforcement) -> Self {
        let (usage, output) = (ResourceUsage::default(), Output::default());
        Self {
            end,
            usage,
            output,
            enforcement,
            denials: Vec::new(),
            quarantine: Vec::new(),
            quarantine_dropped: Vec::new(),
            changed: Vec::new(),
            exposed: Vec::new(),
            review: None,
        }
    }
}

/// A file that other programs or agents obey and that a command changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Changed {
    /// The path below the workspace.
    pub path: PathBuf,
    /// What the file is, in a few words: `agent instructions`.
    pub label: String,
    /// Whether it is harmful now: a symlink through which a write changes the home, or a file that other programs obey.
    pub is_harmful: bool,
}

impl Changed {
    /// Returns a harmless change.
    #[must_use]
    pub const fn new(path: PathBuf, label: String) -> Self {
        Self { path, label, is_harmful: false }
    }
}

/// Entries of the quarantine that were deleted because they exceeded its maximum size or age.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DroppedGroup {
    /// The identifier of the group.
    pub id: String,
    /// The original paths of its entries, as far as they are known.
    pub paths: Vec<PathBuf>,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// It exited with this code.
    Exited(i32),
    /// A signal ended it.
    Signalled(i32),
    /// It exceeded its time limit.
    TimedOut,
    /// It exceeded its memory limit.
    OutOfMemory,
    /// One of its processes exceeded the CPU time limit.
    OutOfCpuTime,
    /// The writable file systems grew by more than the disk limit.
    OutOfDisk,
    /// The caller cancelled it.
    Cancelled,
    /// The program was not found in the sandbox.
    NotFound,
    /// The program cannot be executed.
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
            Self::OutOfDisk => "out-of-disk",
            Self::Cancelled => "cancelled",
            Self::NotFound => "not-found",
            Self::NotExecutable => "not-executable",
        }
    }

    /// Returns the exit code of a program that ran this command in its place, as shells and timeout(1) choose them.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Exited(code) => u8::try_from(code).unwrap_or(COULD_NOT_RUN),
            Self::Signalled(signal) => by_signal(signal),
            Self::TimedOut => TIMED_OUT,
            Self::OutOfMemory | Self::OutOfDisk | Self::Cancelled => by_signal(SIGKILL),
            Self::OutOfCpuTime => by_signal(SIGXCPU),
            Self::NotFound => NOT_FOUND,
            Self::NotExecutable => NOT_EXECUTABLE,
        }
    }
}

const OUTPUT_CUT: u8 = 122;
const LEFT_TO_RUN: u8 = 123;
const TIMED_OUT: u8 = 124;
const COULD_NOT_RUN: u8 = 125;
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;

/// The offset that shells add to the number of the signal that ended a command.
const BY_SIGNAL: i32 = 128;

/// These two have the same number on every system that this crate is built for.
const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;

fn by_signal(signal: i32) -> u8 {
    BY_SIGNAL.checked_add(signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(COULD_NOT_RUN)
}

/// Resources that a command used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ResourceUsage {
    /// Elapsed time from start to end.
    pub wall_time: Duration,
    /// CPU time of all processes, if it was measured: a control group reports it, bubblewrap does not.
    pub cpu_time: Option<Duration>,
    /// Peak memory of one process, or of all together in a control group, if it was measured.
    pub peak_memory: Option<u64>,
    /// Bytes that all processes wrote to disks, including deleted files, if it was measured.
    pub written: Option<u64>,
    /// Bytes by which the writable file systems grew, including writes of other programs.
    pub disk: u64,
    /// Number of files and directories by which they grew, including those of other programs.
    pub files: u64,
}

/// The output of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Output {
    /// Standard output, if it was captured.
    pub stdout: Vec<u8>,
    /// Standard error, if it was captured.
    pub stderr: Vec<u8>,
    /// Bytes of both that were dropped because they exceeded the output limit.
    pub dropped: u64,
    /// Bytes of both that could not be written to their destination, or that its reader did not read in time. A reader that
    /// closed its end on purpose, such as `head`, does not count.
    pub untaken: u64,
    /// Whether forwarded output ends within a line, so that a message of the calling program needs a line break first.
    pub ends_within_a_line: bool,
}

impl Output {
    /// Whether some of the output is missing.
    pub fn truncated(&self) -> bool {
        self.dropped > 0 || self.untaken > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quarantined::{LeftBy, Quarantined};

    #[test]
    fn only_files_left_by_this_command_change_the_exit_code() {
        let left = |left_by, moved_to| Quarantined { path: ".envrc".into(), moved_to, id: None, left_by };
        let moved = Some("/q/.envrc".into());
        let rows = [
            (vec![], 7),
            (vec![left(LeftBy::EarlierCommand, moved.clone())], 7),
            (vec![left(LeftBy::ThisCommand, moved)], 123),
            (vec![left(LeftBy::EarlierCommand, None), left(LeftBy::ThisCommand, None)], 123),
        ];
        for (quarantine, code) in rows {
            let outcome = Outcome {
                end: End::Exited(7),
                usage: ResourceUsage::default(),
                output: Output::default(),
                enforcement: Enforcement::default(),
                denials: Vec::new(),
                quarantine,
                quarantine_dropped: Vec::new(),
                changed: Vec::new(),
                exposed: Vec::new(),
                review: None,
            };
            assert_eq!(outcome.exit_code(), code, "{outcome:?}");
        }
    }

    #[test]
    fn the_table_of_exit_codes_has_each_code_once_and_in_order() {
        assert!(EXIT_CODES.is_sorted_by(|(one, _), (next, _)| one < next));
        for end in [End::TimedOut, End::NotExecutable, End::NotFound, End::Exited(256)] {
            assert!(EXIT_CODES.iter().any(|(code, _)| *code == end.exit_code()), "{end:?}");
        }
    }

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
            (End::Cancelled, 137),
            (End::OutOfDisk, 137),
            (End::OutOfCpuTime, 152),
            (End::NotFound, 127),
            (End::NotExecutable, 126),
        ];
        for (end, code) in rows {
            assert_eq!(end.exit_code(), code, "{end:?}");
        }
    }
}
