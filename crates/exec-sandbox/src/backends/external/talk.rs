//! Talks to a backend that is a program: within bounds of time and memory, and to its end.

#![expect(clippy::disallowed_methods, reason = "starts the program, reads what it says, and keeps its time")]

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use stockade_handoff::helper_variables;

use super::program::Program;
use super::wire::{Answer, MAX_LINE, Request, stdin_line};
use crate::outcome::End;
use crate::run::{AddedCommand, RunError};
use crate::sys::raw;

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// How long a program may take to end a command and to say that it is gone.
const UNTIL_GONE: Duration = Duration::from_secs(10);

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
                Err(io::Error::other("a line of it is longer than a mebibyte"))
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
            return Err(io::Error::new(io::ErrorKind::TimedOut, "it does not answer"));
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
            return Err(io::Error::other("it ended without an answer"));
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

/// Runs a command in it, and returns when it said how that ended.
pub(super) fn run(
    program: &Program,
    request: &Request,
    kill: &Request,
    command: AddedCommand,
) -> Result<End, RunError> {
    let mut talk = Talk::begin(program).map_err(RunError::setup("starting the program of the backend"))?;
    match converse(&mut talk, request, command) {
        Ok(Some(end)) => Ok(end),
        // Somebody wants it to end: it is told to, and says when it is gone. Otherwise nobody knows whether it runs on.
        Ok(None) => {
            gone(program, kill).map_err(RunError::Watch)?;
            Ok(End::Cancelled)
        }
        Err(error) => {
            drop(talk);
            let ended = gone(program, kill);
            let more =
                ended.err().map(|error| format!("; its command may run on: {error}")).unwrap_or_default();
            Err(RunError::Watch(io::Error::new(
                error.kind(),
                format!("the backend broke off: {error}{more}"),
            )))
        }
    }
}

/// Has the program end a command, and believes nothing but the word that it is gone.
fn gone(program: &Program, kill: &Request) -> io::Result<()> {
    match ask(program, kill, UNTIL_GONE)? {
        Answer::Gone => Ok(()),
        Answer::Failed { why } => Err(io::Error::other(why)),
        other => Err(io::Error::other(format!("it answered `{}` and not that it is gone", other.name()))),
    }
}

/// Hands on what the command reads and prints until it has ended; nothing, where it has to be ended.
fn converse(talk: &mut Talk, request: &Request, command: AddedCommand) -> io::Result<Option<End>> {
    let AddedCommand { stdin, stdout, stderr, stop } = command;
    let (mut input, mut waiting) = (Some(File::from(stdin)), request.line());
    let bell = stop.bell()?;
    loop {
        while let Some(line) = talk.line()? {
            match Answer::read(&line).map_err(io::Error::other)? {
                Answer::Stdout(bytes) => stop.write_unless(&stdout, &bytes)?,
                Answer::Stderr(bytes) => stop.write_unless(&stderr, &bytes)?,
                Answer::End(end) => return ended(talk).map(|()| Some(end)),
                Answer::Failed { why } => return Err(io::Error::other(why)),
                other => {
                    return Err(io::Error::other(format!("it said `{}` while a command ran", other.name())));
                }
            }
        }
        if stop.is_cancelled() {
            return Ok(None);
        }
        let mut fds =
            vec![PollFd::new(&talk.stdout, PollFlags::IN), PollFd::from_borrowed_fd(bell, PollFlags::IN)];
        match (&talk.stdin, &input) {
            (Some(to), _) if !waiting.is_empty() => fds.push(PollFd::new(to, PollFlags::OUT)),
            (Some(_), Some(from)) => fds.push(PollFd::new(from, PollFlags::IN)),
            _ => {}
        }
        wait(&mut fds, None)?;
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
            return Err(io::Error::other("it ended without saying how the command ended"));
        }
    }
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

/// Whoever has said how it ended says nothing more, and ends itself.
fn ended(talk: &mut Talk) -> io::Result<()> {
    talk.stdin = None;
    let late = Instant::now() + TO_END;
    loop {
        if !talk.said.is_empty() {
            return Err(io::Error::other("it said something behind the end"));
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
