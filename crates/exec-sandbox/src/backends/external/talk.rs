//! Talks to a backend that is a program: within bounds of time and memory, and to its end.

#![expect(
    clippy::disallowed_methods,
    reason = "starts the program, reads what it says, keeps its time, and passes variables on"
)]

use std::env;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use stockade_handoff::helper_variables;

use super::program::{Program, Trust};
use super::refused::RefusedRequest;
use super::wire::{Answer, MAX_LINE, Request, stdin_line};
use crate::choices::SandboxBackend;
use crate::outcome::End;
use crate::run::{AddedCommand, Cancellation, RunError};
use crate::sys::raw;

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// How long a program may take to end a command and to say that it is gone.
const UNTIL_GONE: Duration = Duration::from_secs(10);

/// How long a program of a release may take to end a command and to say so.
const UNTIL_STOPPED: Duration = Duration::from_secs(60);

/// How long it may take to end itself when it has said everything.
const TO_END: Duration = Duration::from_secs(2);

/// A program that was started, in a group of its own. What is left of the group is ended with this.
struct Talk {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    /// What it said that is no whole line yet.
    said: Vec<u8>,
}

impl Talk {
    fn begin(program: &Program) -> io::Result<Self> {
        // It makes sandboxes as this program does, and so it has the same rights; of what this program knows, it is told little.
        let mut command = Command::new(&program.path);
        command.env_clear().envs(helper_variables());
        command.envs(program.variables.iter().filter_map(|name| Some((name, env::var_os(name)?))));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let mut child = command.spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?);
        for fd in [stdin.as_ref().map(|stdin| stdin.as_fd()), Some(stdout.as_fd())].into_iter().flatten() {
            fcntl_setfl(fd, fcntl_getfl(fd)? | OFlags::NONBLOCK)?;
        }
        Ok(Self { child, stdin, stdout, said: Vec::new() })
    }

    /// Reads what is there. Nothing, once it says no more.
    fn read(&mut self) -> io::Result<Option<()>> {
        let mut chunk = vec![0; CHUNK];
        match self.stdout.read(&mut chunk) {
            Ok(0) => Ok(None),
            Ok(count) => {
                self.said.extend(chunk.get(..count).unwrap_or_default());
                Ok(Some(()))
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Ok(Some(()))
            }
            Err(error) => Err(error),
        }
    }

    /// Takes the next whole line of what was read.
    fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        match self.said.iter().position(|byte| *byte == b'\n') {
            Some(at) => {
                let rest = self.said.split_off(at + 1);
                let mut line = std::mem::replace(&mut self.said, rest);
                line.pop();
                Ok(Some(line))
            }
            None if self.said.len() > MAX_LINE => {
                Err(io::Error::other("one of its lines is longer than 1 MiB"))
            }
            None => Ok(None),
        }
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.stdin = None;
        // It is not waited for yet, so both numbers are still its own.
        if let Ok(pid) = i32::try_from(self.child.id()) {
            raw::send_signal(-pid, libc::SIGKILL).ok();
        }
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Asks for one answer.
pub(super) fn ask(program: &Program, request: &Request, patience: Duration) -> io::Result<Answer> {
    let mut talk = Talk::begin(program)?;
    let late = Instant::now() + patience;
    let mut waiting = request.line();
    loop {
        if let Some(line) = talk.line()? {
            return Answer::read(&line).map_err(io::Error::other);
        }
        let rest = late.saturating_duration_since(Instant::now());
        if rest.is_zero() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "no answer in time"));
        }
        let mut fds = vec![PollFd::new(&talk.stdout, PollFlags::IN)];
        let writes = talk.stdin.as_ref().filter(|_| !waiting.is_empty());
        fds.extend(writes.map(|stdin| PollFd::new(stdin, PollFlags::OUT)));
        wait(&mut fds, Some(rest))?;
        let (reads, writes) = ready(&fds);
        drop(fds);
        if writes {
            write_some(talk.stdin.as_mut(), &mut waiting)?;
            if waiting.is_empty() {
                talk.stdin = None;
            }
        }
        if reads && talk.read()?.is_none() {
            return Err(io::Error::other("it exited without an answer"));
        }
    }
}

/// Whether the first may be read, and the second written.
fn ready(fds: &[PollFd<'_>]) -> (bool, bool) {
    let is = |at: usize| fds.get(at).is_some_and(|fd| !fd.revents().is_empty());
    (is(0), is(1))
}

fn wait(fds: &mut [PollFd<'_>], rest: Option<Duration>) -> io::Result<()> {
    let rest = rest.and_then(|rest| Timespec::try_from(rest).ok());
    rustix::io::retry_on_intr(|| poll(fds, rest.as_ref()))?;
    Ok(())
}

fn write_some(to: Option<&mut ChildStdin>, waiting: &mut Vec<u8>) -> io::Result<()> {
    let Some(to) = to else { return Ok(()) };
    match to.write(waiting) {
        Ok(count) => drop(waiting.drain(..count.min(waiting.len()))),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

/// How a command ended, as its program says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) end: End,
    pub(super) ran_out_of_memory: bool,
}

/// The last line of a run.
enum Last {
    Ended(Ended),
    Refused(RefusedRequest),
    Failed {
        why: String,
        doing: Option<String>,
    },
    /// None: the command has to be ended, by another request.
    Kill,
}

/// Runs a command by a program of a user, and returns when it said how that ended.
pub(super) fn run(
    program: &Program,
    request: &Request,
    kill: &Request,
    command: AddedCommand,
) -> Result<End, RunError> {
    let mut talk = Talk::begin(program).map_err(RunError::setup("starting the program of the backend"))?;
    let last = converse(&mut talk, request, command, Trust::OwnWord).and_then(|last| match last {
        Last::Ended(Ended { end: End::TimedOut | End::Cancelled | End::OutOfDisk, .. }) => {
            Err(io::Error::other("it reported a cause that is reserved for the backends of a release"))
        }
        Last::Ended(ended) => Ok(Some(ended.end)),
        Last::Kill => Ok(None),
        Last::Failed { why, .. } => Err(io::Error::other(why)),
        Last::Refused(_) => Err(io::Error::other("unexpected line `refused` while a command ran")),
    });
    match last {
        Ok(Some(end)) => Ok(end),
        // It is told to end the command, and says when it is gone. Otherwise the command may run on.
        Ok(None) => {
            gone(program, kill).map_err(RunError::Watch)?;
            Ok(End::Cancelled)
        }
        Err(error) => {
            drop(talk);
            let ended = gone(program, kill);
            let more = ended
                .err()
                .map(|error| format!("; its command may still be running: {error}"))
                .unwrap_or_default();
            Err(RunError::Watch(io::Error::new(error.kind(), format!("the backend failed: {error}{more}"))))
        }
    }
}

/// Runs a command by a program of a release, which ends the command itself when its input is closed.
pub(super) fn run_of_release(
    program: &Program,
    request: &Request,
    command: AddedCommand,
    backend: SandboxBackend,
) -> Result<Ended, RunError> {
    let mut talk = Talk::begin(program).map_err(RunError::setup("starting the program of the backend"))?;
    match converse(&mut talk, request, command, Trust::Release) {
        Ok(Last::Ended(ended)) => Ok(ended),
        Ok(Last::Refused(refused)) => Err(refused.refusal(backend).into()),
        Ok(Last::Failed { why, doing: Some(doing) }) => Err(RunError::setup(doing)(io::Error::other(why))),
        Ok(Last::Failed { why, doing: None }) => Err(RunError::Watch(io::Error::other(why))),
        Ok(Last::Kill) => Err(RunError::Watch(io::Error::other("its program did not end the command"))),
        Err(error) => {
            let message = format!("its program failed, and the command may still be running: {error}");
            Err(RunError::Watch(io::Error::new(error.kind(), message)))
        }
    }
}

/// Has the program end a command, and believes nothing but the word that it is gone.
fn gone(program: &Program, kill: &Request) -> io::Result<()> {
    match ask(program, kill, UNTIL_GONE)? {
        Answer::Gone => Ok(()),
        Answer::Failed { why, .. } => Err(io::Error::other(why)),
        other => Err(io::Error::other(format!("unexpected answer `{}` to the kill request", other.name()))),
    }
}

/// Hands on what the command reads and prints, until its program says the last line or it has to be ended.
fn converse(talk: &mut Talk, request: &Request, command: AddedCommand, trust: Trust) -> io::Result<Last> {
    let AddedCommand { stdin, stdout, stderr, stop } = command;
    let (mut input, mut waiting) = (Some(File::from(stdin)), request.line());
    let bell = stop.bell()?;
    let mut late = None;
    loop {
        if let Some(last) = hand_on(talk, &stop, &stdout, &stderr)? {
            return Ok(last);
        }
        if stop.is_cancelled() && trust == Trust::OwnWord {
            return Ok(Last::Kill);
        }
        if stop.is_cancelled() {
            talk.stdin = None;
            let late = *late.get_or_insert_with(|| Instant::now() + UNTIL_STOPPED);
            if Instant::now() >= late {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "it did not end the command in time"));
            }
        }
        let mut fds = vec![PollFd::new(&talk.stdout, PollFlags::IN)];
        // Once it was told to end the command, only its last line is of interest.
        if late.is_none() {
            fds.push(PollFd::from_borrowed_fd(bell, PollFlags::IN));
            match (&talk.stdin, &input) {
                (Some(to), _) if !waiting.is_empty() => fds.push(PollFd::new(to, PollFlags::OUT)),
                (Some(_), Some(from)) => fds.push(PollFd::new(from, PollFlags::IN)),
                _ => {}
            }
        }
        wait(&mut fds, late.map(|late| late.saturating_duration_since(Instant::now())))?;
        let is_ready = |at: usize| fds.get(at).is_some_and(|fd| !fd.revents().is_empty());
        let (reads, feeds) = (is_ready(0), is_ready(2));
        drop(fds);
        if feeds && !waiting.is_empty() {
            // A program that reads no more has closed its input; what it says is what counts.
            if write_some(talk.stdin.as_mut(), &mut waiting).is_err() {
                (talk.stdin, input) = (None, None);
                waiting.clear();
            }
        } else if feeds {
            waiting = next_input(&mut input)?;
        }
        if reads && talk.read()?.is_none() {
            return Err(io::Error::other("it exited without reporting how the command ended"));
        }
    }
}

/// Hands on every whole line that was read, up to the last one of a run.
fn hand_on(
    talk: &mut Talk,
    stop: &Cancellation,
    stdout: &OwnedFd,
    stderr: &OwnedFd,
) -> io::Result<Option<Last>> {
    while let Some(line) = talk.line()? {
        match Answer::read(&line).map_err(io::Error::other)? {
            Answer::Stdout(bytes) => stop.write_unless(stdout, &bytes)?,
            Answer::Stderr(bytes) => stop.write_unless(stderr, &bytes)?,
            Answer::End { end, ran_out_of_memory } => {
                return ended(talk).map(|()| Some(Last::Ended(Ended { end, ran_out_of_memory })));
            }
            Answer::Refused(refused) => return Ok(Some(Last::Refused(refused))),
            Answer::Failed { why, doing } => return Ok(Some(Last::Failed { why, doing })),
            other => {
                return Err(io::Error::other(format!(
                    "unexpected line `{}` while a command ran",
                    other.name()
                )));
            }
        }
    }
    Ok(None)
}

fn next_input(input: &mut Option<File>) -> io::Result<Vec<u8>> {
    let mut chunk = vec![0; CHUNK];
    let Some(file) = input else { return Ok(Vec::new()) };
    let count = file.read(&mut chunk)?;
    if count == 0 {
        *input = None;
    }
    Ok(stdin_line(chunk.get(..count).unwrap_or_default()))
}

/// A program that has reported the end writes nothing more, and ends itself.
fn ended(talk: &mut Talk) -> io::Result<()> {
    talk.stdin = None;
    let late = Instant::now() + TO_END;
    loop {
        if !talk.said.is_empty() {
            return Err(io::Error::other("it wrote a line after `end`"));
        }
        let rest = late.saturating_duration_since(Instant::now());
        if rest.is_zero() {
            return Ok(());
        }
        let mut fds = [PollFd::new(&talk.stdout, PollFlags::IN)];
        wait(&mut fds, Some(rest))?;
        let reads = !fds[0].revents().is_empty();
        if reads && talk.read()?.is_none() {
            return Ok(());
        }
    }
}

/// A name that no other run has.
pub(super) fn name_of_a_run() -> io::Result<String> {
    let mut bytes = [0; 12];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(stockade_text::to_hex(&bytes))
}
