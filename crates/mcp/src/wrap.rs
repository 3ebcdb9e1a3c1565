//! Runs a server in the sandbox, and filters its messages: lines come from both sides, and one thread decides about all of them.
//!
//! ```text
//!  client ──► reader ──┐                    ┌── reader ◄── server
//!                      ├──► conversation ◄──┤
//!  client ◄────────────┘         │          └── its end
//!                                └──► writer ──► server
//! ```
#![expect(clippy::disallowed_methods, reason = "relays messages between two programs")]

mod ending;
mod outbox;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::pipe::{PipeFlags, pipe_with};
use stockade_guard::NotRun;
use stockade_guard::PreparedRun;
use stockade_guard::RunReport;
use stockade_guard::audit::AuditEvent;
use stockade_guard::exec::run::{Cancellation, Input, RunControl, Signals, Stream, Streams};
use stockade_text::escape;

use super::conversation::{Conversation, Judge, Out, Terms};
use super::judge::Judged;
use super::message::MAX_MESSAGE;
use ending::Ending;
use outbox::Outbox;
use stockade_files::{BoundedLine, BoundedLines};

/// How long a server may take to end after its client has left.
const GRACE: Duration = Duration::from_secs(5);

/// How long requests of the client are still answered after the server has ended, since the client may just be sending one.
const LINGER: Duration = Duration::from_secs(2);

/// Maximum number of messages for the user.
const MAX_NOTES: usize = 500;

/// Maximum number of queued messages, each of which may be large.
const WAITING: usize = 2;

/// Prefix of our lines on standard error.
const SPEAKER: &str = "stockade";

/// A line, or the end of a side.
enum Event {
    Client(Vec<u8>),
    ClientTooLong,
    ClientLeft,
    Server(Vec<u8>),
    ServerTooLong,
    /// The server has ended, for this reason.
    ServerEnded(String),
    /// A signal asks this program to end.
    Signal,
}

/// How a server ended, or why it did not start; and the signal that stopped this program, if one did.
pub type Ended = (Result<RunReport, NotRun>, Option<u8>);

/// Runs the server and forwards messages until either side ends, or a signal stops this program, and the server with it.
pub fn run(judged: &Judged, terms: Terms, prepared: PreparedRun, started: AuditEvent) -> io::Result<Ended> {
    let (client_in, client_out) = own_streams()?;
    let (server_in, to_server) = pipe_with(PipeFlags::CLOEXEC)?;
    let (from_server, server_out) = pipe_with(PipeFlags::CLOEXEC)?;
    // The command must not read this program's standard input.
    rustix::stdio::dup2_stdin(&server_in)?;
    drop(server_in);
    let cancellation = Cancellation::default();
    let control = RunControl {
        cancellation: Some(cancellation.clone()),
        stdout: Some(Arc::new(server_out)),
        stderr: None,
    };
    let streams = Streams {
        stdin: Input::Inherit,
        stdout: Stream::Hand,
        stderr: Stream::Relay,
        signals: Signals::Keep,
        speaks_as: Some(SPEAKER),
        ..Streams::default()
    };
    let (send, events) = sync_channel(WAITING);
    let ending = Ending::by_signal(cancellation.clone(), send.clone())?;
    let ended = thread::scope(|scope| {
        reader(
            File::from(client_in),
            send.clone(),
            Event::Client,
            || Event::ClientTooLong,
            || Some(Event::ClientLeft),
        )?;
        let read =
            reader(File::from(from_server), send.clone(), Event::Server, || Event::ServerTooLong, || None)?;
        let outbox = Outbox::new(File::from(to_server))?;
        let talk = thread::Builder::new().name("stockade-mcp".to_owned()).spawn_scoped(scope, || {
            let conversation = Conversation::new(judged.judging(), terms);
            Talk {
                conversation,
                client: File::from(client_out),
                outbox: Some(outbox),
                notes: 0,
                cancellation,
            }
            .go_on(&events);
            drop(events);
        })?;
        let ended = prepared.controlled(control).run(started, streams);
        // Lines that the server wrote before its end are handled first.
        read.join().ok();
        send.send(Event::ServerEnded(why(&ended))).ok();
        drop(send);
        talk.join()
            .map_err(|_| io::Error::other("internal error in the conversation, see standard error"))?;
        Ok::<_, io::Error>(ended)
    })?;
    Ok((ended, ending.signal()))
}

/// Returns the standard streams of this program, which belong to the client.
fn own_streams() -> io::Result<(OwnedFd, OwnedFd)> {
    let dup = |fd: rustix::fd::BorrowedFd<'_>| rustix::io::fcntl_dupfd_cloexec(fd, 3);
    Ok((dup(rustix::stdio::stdin())?, dup(rustix::stdio::stdout())?))
}

/// Describes how a server ended, for pending requests.
fn why(ended: &Result<RunReport, NotRun>) -> String {
    match ended {
        Ok(report) => {
            let code = report.outcome.exit_code();
            format!("the server ended with {code}; see its standard error")
        }
        Err(error) => format!("the server could not be started: {error}"),
    }
}

/// Reads lines on a thread of its own.
fn reader(
    from: impl Read + Send + 'static,
    to: SyncSender<Event>,
    whole: fn(Vec<u8>) -> Event,
    too_long: fn() -> Event,
    end: fn() -> Option<Event>,
) -> io::Result<thread::JoinHandle<()>> {
    thread::Builder::new().name("stockade-read".to_owned()).spawn(move || {
        let mut lines = BoundedLines::new(from, MAX_MESSAGE);
        loop {
            let event = match lines.next_line() {
                Ok(BoundedLine::Whole(line)) if line.trim_ascii().is_empty() => continue,
                Ok(BoundedLine::Whole(line)) => whole(line.to_vec()),
                Ok(BoundedLine::TooLong) => too_long(),
                Ok(BoundedLine::End) | Err(_) => break,
            };
            if to.send(event).is_err() {
                return;
            }
        }
        if let Some(end) = end() {
            to.send(end).ok();
        }
    })
}

/// The state of the connection to both sides.
struct Talk<J> {
    conversation: Conversation<J>,
    client: File,
    /// `None` once nothing more is sent to the server.
    outbox: Option<Outbox>,
    notes: usize,
    cancellation: Cancellation,
}

impl<J: Judge> Talk<J> {
    fn go_on(mut self, events: &Receiver<Event>) {
        // Deadline, once one side has ended.
        let (mut until, mut is_over) = (None::<Instant>, false);
        loop {
            // Checked before each message, so that a steady stream of messages cannot postpone it.
            let now = Instant::now();
            let out = self.conversation.due(now);
            self.carry_out(out);
            if until.is_some_and(|until| now >= until) {
                self.cancellation.cancel();
                if is_over {
                    return;
                }
                until = None;
            }
            let due = [until, self.conversation.next_due()].into_iter().flatten().min();
            let wait = due.map_or(Duration::from_secs(3600), |due| due.saturating_duration_since(now));
            let event = match events.recv_timeout(wait) {
                Ok(event) => event,
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => continue,
            };
            let now = Instant::now();
            let out = match event {
                Event::Client(line) => self.conversation.hear_client(&line, now),
                Event::ClientTooLong => {
                    vec![Out::Note(format!("a message of the client was longer than {MAX_MESSAGE} bytes"))]
                }
                Event::Server(line) => self.conversation.hear_server(&line, now),
                Event::ServerTooLong => self.conversation.server_overflowed(),
                // After a signal, pending requests are not answered.
                Event::Signal => {
                    self.outbox = None;
                    if is_over {
                        return;
                    }
                    Vec::new()
                }
                Event::ClientLeft if is_over => return,
                Event::ClientLeft => {
                    if self.outbox.take().is_some() {
                        until = now.checked_add(GRACE);
                    }
                    Vec::new()
                }
                Event::ServerEnded(why) => {
                    let client_is_gone = self.outbox.is_none();
                    let out = self.conversation.server_ended(&why);
                    self.carry_out(out);
                    if client_is_gone {
                        return;
                    }
                    (until, is_over) = (now.checked_add(LINGER), true);
                    Vec::new()
                }
            };
            // The client has closed its input. Shutdown starts only once, however many responses follow.
            if !self.carry_out(out) && self.outbox.take().is_some() {
                until = now.checked_add(GRACE);
            }
        }
    }

    /// Returns whether the client still reads.
    fn carry_out(&mut self, out: Vec<Out>) -> bool {
        for one in out {
            match one {
                Out::Client(line) => {
                    if self.client.write_all(format!("{line}\n").as_bytes()).is_err() {
                        return false;
                    }
                }
                Out::Server(line) => {
                    let is_taken = self.outbox.as_ref().is_none_or(|outbox| outbox.put(line));
                    if !is_taken {
                        self.stop("the server does not read its input");
                    }
                }
                Out::Note(what) => self.note(&what),
                Out::Stop(why) => self.stop(&why),
            }
        }
        true
    }

    fn stop(&mut self, why: &str) {
        self.note(why);
        self.cancellation.cancel();
        let out = self.conversation.server_ended(why);
        for line in out {
            if let Out::Client(line) = line {
                self.client.write_all(format!("{line}\n").as_bytes()).ok();
            }
        }
    }

    fn note(&mut self, what: &str) {
        self.notes += 1;
        let what = match self.notes {
            MAX_NOTES => "further messages are omitted",
            notes if notes > MAX_NOTES => return,
            _ => what.strip_prefix("stockade: ").unwrap_or(what),
        };
        // A failure to write to standard error cannot be reported anywhere.
        io::stderr().write_all(format!("{SPEAKER}: {}\n", escape(what)).as_bytes()).ok();
    }
}

/// Returns the exit code of this program for that of the server.
pub fn exit((ended, signal): &Ended) -> ExitCode {
    match (ended, signal) {
        (_, Some(signal)) => ExitCode::from(128_u8.saturating_add(*signal)),
        (Ok(report), None) => ExitCode::from(report.outcome.exit_code()),
        (Err(_), None) => ExitCode::from(126),
    }
}
