//! The streams of a command, between the protocol and the pipes that a run takes.

#![expect(clippy::disallowed_methods, reason = "reads what the command gets, and what it prints")]

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustix::event::{PollFd, PollFlags, poll};
use serde::Deserialize;
use stockade_exec_sandbox::backends::protocol::BackendLine;
use stockade_exec_sandbox::run::Cancellation;

use super::UNTIL_READ;
use super::answer::Lines;

/// How much is read at once: in base64 and JSON, it is a line far below the limit of a mebibyte.
const CHUNK: usize = 64 << 10;

/// The longest line that is read.
const MAX_LINE: u64 = 1 << 20;

/// What `stockade` sends while a command runs.
#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Fed {
    Stdin { data: String },
    StdinEnd,
}

/// What the command reads.
pub(super) struct CommandInput;

impl CommandInput {
    /// Makes a pipe the standard input of this program, and writes into it what comes by the protocol: a run takes the input of its
    /// command from there. When `stockade` closes its end, the command is to be ended, or `stockade` was killed.
    pub(super) fn from(mut lines: BufReader<File>, cancellation: &Cancellation) -> io::Result<()> {
        let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        rustix::stdio::dup2_stdin(&read)?;
        let closed = rustix::io::dup(lines.get_ref())?;
        let (told, cancellation) = (cancellation.clone(), cancellation.clone());
        std::thread::Builder::new().name("closed".to_owned()).spawn(move || {
            // A pipe reports this although its content was not read: the command may read nothing.
            let mut fds = [PollFd::new(&closed, PollFlags::empty())];
            if rustix::io::retry_on_intr(|| poll(&mut fds, None)).is_ok() {
                told.cancel();
            }
        })?;
        std::thread::Builder::new().name("input".to_owned()).spawn(move || {
            let mut pipe = Some(File::from(write));
            while let Some(fed) = next(&mut lines) {
                match fed {
                    // A command that reads no more has closed its input.
                    Fed::Stdin { data } => {
                        let bytes = STANDARD.decode(data).unwrap_or_default();
                        pipe = pipe.filter(|pipe| (&*pipe).write_all(&bytes).is_ok());
                    }
                    Fed::StdinEnd => {
                        drop(pipe);
                        return;
                    }
                }
            }
            // It broke off without the end of the input.
            cancellation.cancel();
        })?;
        Ok(())
    }
}

fn next(lines: &mut impl io::BufRead) -> Option<Fed> {
    let mut line = Vec::new();
    lines.take(MAX_LINE).read_until(b'\n', &mut line).ok()?;
    serde_json::from_slice(&line).ok()
}

/// A stream of the command, whose bytes become lines of the protocol.
pub(super) struct Relay {
    end: Arc<OwnedFd>,
    done: Receiver<()>,
}

impl Relay {
    pub(super) fn start(lines: &Lines, line: fn(String) -> BackendLine) -> io::Result<Self> {
        let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let (sender, done) = channel();
        let lines = lines.clone();
        std::thread::Builder::new().name("output".to_owned()).spawn(move || {
            let mut from = File::from(read);
            let mut chunk = vec![0; CHUNK];
            while let Ok(count @ 1..) = from.read(&mut chunk) {
                let data = STANDARD.encode(chunk.get(..count).unwrap_or_default());
                if lines.write(&line(data)).is_err() {
                    break;
                }
            }
            sender.send(()).ok();
        })?;
        Ok(Self { end: Arc::new(write), done })
    }

    /// The end that a run writes to.
    pub(super) fn end(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.end)
    }

    /// Waits until everything that was written is in lines.
    pub(super) fn finish(self) {
        drop(self.end);
        self.done.recv_timeout(UNTIL_READ).ok();
    }
}
