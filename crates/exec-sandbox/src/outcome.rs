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
    /// What it was refused, if it failed, by what it asked the kernel for and by the limits that it ran into.
    pub denials: Vec<crate::Denial>,
    /// What was found under a protected name afterwards, and where it was put.
    pub quarantine: Vec<crate::quarantined::Quarantined>,
    /// What had been in quarantine before and was dropped: there is room for so much, and for so long.
    pub quarantine_dropped: Vec<DroppedGroup>,
    /// Files that other programs or agents obey, and that are not as they were before: made, written or removed. Also new links
    /// that lead out of the workspace, or to what other programs obey.
    pub changed: Vec<Changed>,
    /// Files that it could read although secrets stand in them.
    pub exposed: Vec<crate::host::Exposed>,
    /// What it changed, where it worked on a view of the workspace.
    pub review: Option<crate::Reviewed>,
}

/// What a program ends with that ran a command in its own place, where that is no code of the command itself: the codes of
/// timeout(1) and env(1), and one that none of them uses.
pub const EXIT_CODES: &[(u8, &str)] = &[
    (
        OUTPUT_CUT,
        "it succeeded, and not all of its output is there: it printed more than it may, or could not be handed on",
    ),
    (
        LEFT_TO_RUN,
        "it left something that runs programs outside of the sandbox, which was put into quarantine, or could not be; or a link to the home or to what other programs obey",
    ),
    (TIMED_OUT, "it took longer than it may"),
    (
        COULD_NOT_RUN,
        "something that is needed could not be read, made or put on record, or the options are wrong; nothing ran",
    ),
    (NOT_EXECUTABLE, "it was refused, or the program cannot be run"),
    (NOT_FOUND, "there is no such program in the view of the command"),
];

impl Outcome {
    /// The exit code of a program that ran this command in its own place: that of its [end](End::exit_code), unless it left
    /// something that runs programs outside of the sandbox, or a link that does harm. Nobody is to take that for success.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        let left =
            self.quarantine.iter().any(|found| found.left_by == crate::quarantined::LeftBy::ThisCommand);
        if left || self.changed.iter().any(|changed| changed.is_harmful) {
            return LEFT_TO_RUN;
        }
        self.end.exit_code()
    }

    /// The same for a program that hands on what the command prints and has no other way to say that some of it is missing. A
    /// command that failed says so by itself.
    #[must_use]
    pub fn exit_code_with_output(&self) -> u8 {
        match self.exit_code() {
            0 if self.output.truncated() => OUTPUT_CUT,
            code => code,
        }
    }

    /// Returns the outcome of a command of which nothing more is known, such as where nothing was started, or by a backend of
    /// somebody's own.
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

/// A file that other programs or agents obey, and that is not as it was before a command.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Changed {
    /// Its path below the workspace.
    pub path: PathBuf,
    /// What it is, in a few words: `agent instructions`.
    pub label: String,
    /// Whether it does harm as it is: a link by which a write changes the home, or what other programs obey.
    pub is_harmful: bool,
}

impl Changed {
    /// A file that may be as it is.
    pub(crate) const fn new(path: PathBuf, label: String) -> Self {
        Self { path, label, is_harmful: false }
    }
}

/// Things that were in quarantine and were dropped, because there was no more room or they had been there for too long.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DroppedGroup {
    /// What the group was called.
    pub id: String,
    /// Where its things had lain, as far as that is known.
    pub paths: Vec<PathBuf>,
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
    /// The file systems that it may write to grew by more than they may.
    OutOfDisk,
    /// Somebody ended it from outside, by the means that whoever ran it had for that.
    Cancelled,
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
            Self::OutOfDisk => "out-of-disk",
            Self::Cancelled => "cancelled",
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
    /// Bytes that all processes wrote to disks, also what was removed again; nothing where nobody says so.
    pub written: Option<u64>,
    /// Bytes by which the file systems grew that it may write to, whoever wrote to them meanwhile.
    pub disk: u64,
    /// Files and folders by which they became more, likewise.
    pub files: u64,
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
    /// Whether what was handed on ends within a line, where whoever runs the command speaks too.
    pub ends_within_a_line: bool,
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
    use crate::quarantined::{LeftBy, Quarantined};

    #[test]
    fn what_a_command_left_changes_the_code_and_what_an_earlier_one_left_does_not() {
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
