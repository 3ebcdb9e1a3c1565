//! Moves what a command prints, up to a limit.

#![expect(clippy::disallowed_methods, reason = "reads what a command prints and hands it on")]

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd, RawFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::terminal::Pty;
use super::{Input, Stream, Streams, Terminal};
use crate::native::{Handed, OwnTerminal};
use crate::outcome::Output;

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// What a pipe takes at once without making the writer wait, once it says that it takes anything.
const WITHOUT_WAITING: usize = 4096;

/// How much is remembered of what came last.
const LAST: usize = 16 << 10;

/// How often something is read after the end, at most. A pipe holds much less than so many chunks.
const LAST_READS: usize = 256;

/// The number of what is typed, beside the numbers of the channels.
const TYPED: usize = 2;

/// Both output streams of a command, or its terminal.
pub(super) struct Pump {
    channels: [Channel; 2],
    terminal: Option<Pty>,
    /// Which channel brings errors.
    errors: usize,
    left: u64,
    dropped: u64,
    untaken: u64,
    /// How often something more is read after the end.
    reads: usize,
}

/// The ends of the streams that the command gets.
pub(super) struct Ends {
    owned: Vec<OwnedFd>,
    handed: Handed,
}

impl Ends {
    pub(super) fn handed(&self) -> &Handed {
        &self.handed
    }

    /// The terminal, if they are one.
    pub(super) fn terminal(&self) -> Option<BorrowedFd<'_>> {
        let own = self.handed.terminal != OwnTerminal::None;
        self.owned.first().filter(|_| own).map(OwnedFd::as_fd)
    }
}

#[derive(Default)]
struct Channel {
    from: Option<OwnedFd>,
    /// Number of the stream of this program that it goes to; nothing if it is kept.
    to: Option<RawFd>,
    waiting: Vec<u8>,
    kept: Vec<u8>,
    /// The last of what came, whatever becomes of it.
    last: VecDeque<u8>,
}

impl Pump {
    pub(super) fn new(streams: Streams) -> io::Result<(Self, Ends)> {
        match streams.terminal {
            Terminal::None => Self::of_pipes(streams),
            Terminal::Own(size) => Self::of_terminal(streams, Pty::new(streams, size)?),
        }
    }

    fn of_terminal(streams: Streams, terminal: Pty) -> io::Result<(Self, Ends)> {
        let first = Channel {
            from: Some(terminal.output()?),
            to: (streams.stdout != Stream::Keep).then_some(1),
            ..Channel::default()
        };
        let command = terminal.command()?;
        let streams = [command.as_raw_fd(); 3];
        let handed = Handed { streams, terminal: OwnTerminal::Own(terminal.path()) };
        let pump = Self {
            channels: [first, Channel::default()],
            terminal: Some(terminal),
            errors: 0,
            left: u64::MAX,
            dropped: 0,
            untaken: 0,
            reads: 0,
        };
        Ok((pump, Ends { owned: vec![command], handed }))
    }

    fn of_pipes(streams: Streams) -> io::Result<(Self, Ends)> {
        let mut owned = Vec::new();
        let mut numbers = [0, 1, 2];
        if streams.stdin == Input::Empty {
            let nothing: OwnedFd = File::open("/dev/null")?.into();
            numbers[0] = nothing.as_raw_fd();
            owned.push(nothing);
        }
        let mut channel = |number: RawFd, stream: Stream| -> io::Result<Channel> {
            let mut channel = Channel::default();
            if stream != Stream::Inherit {
                let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
                if let Some(place) = numbers.get_mut(number as usize) {
                    *place = write.as_raw_fd();
                }
                owned.push(write);
                channel.from = Some(read);
                channel.to = (stream == Stream::Relay).then_some(number);
            }
            Ok(channel)
        };
        let channels = [channel(1, streams.stdout)?, channel(2, streams.stderr)?];
        let pump =
            Self { channels, terminal: None, errors: 1, left: u64::MAX, dropped: 0, untaken: 0, reads: 0 };
        Ok((pump, Ends { owned, handed: Handed { streams: numbers, terminal: OwnTerminal::None } }))
    }

    /// Sets how many bytes of both streams together are handed on.
    pub(super) fn limit(&mut self, bytes: u64) {
        self.left = bytes;
    }

    /// Whether nothing more can come.
    pub(super) fn is_done(&self) -> bool {
        self.channels.iter().all(|channel| channel.from.is_none() && channel.waiting.is_empty())
    }

    /// Returns what to wait for, with the number of the channel.
    pub(super) fn interests(&self) -> Vec<(usize, PollFd<'_>)> {
        let channels = self.channels.iter().enumerate();
        let interests = channels.filter_map(|(number, channel)| Some((number, channel.interest()?)));
        let typed = self.terminal.as_ref().and_then(Pty::interest);
        let interests = interests.chain(typed.map(|typed| (TYPED, typed)));
        interests.map(|(number, (from, flags))| (number, PollFd::from_borrowed_fd(from, flags))).collect()
    }

    /// Does what a channel is ready for.
    pub(super) fn advance(&mut self, number: usize) {
        if let Some(terminal) = self.terminal.as_mut().filter(|_| number == TYPED) {
            return terminal.advance();
        }
        let Some(channel) = self.channels.get_mut(number) else { return };
        if channel.waiting.is_empty() {
            channel.read(&mut self.left, &mut self.dropped);
        } else {
            channel.write(&mut self.untaken);
        }
        // Nobody reads any more: the command is told so by a terminal that hangs up.
        if self.errors == number && channel.from.is_none() {
            self.terminal = None;
        }
    }

    /// Whoever wrote into the pipes is gone, so they fill no more.
    pub(super) fn begin_to_end(&mut self) {
        self.reads = LAST_READS;
        self.terminal.iter_mut().for_each(Pty::end_input);
    }

    /// Gives a terminal the size of the outer one. Says whether there is a terminal.
    pub(super) fn follow(&mut self) -> bool {
        self.terminal.as_mut().map(Pty::follow).is_some()
    }

    /// Takes the outer terminal over again.
    pub(super) fn resume(&self) {
        self.terminal.iter().for_each(Pty::resume);
    }

    /// Reads until a channel has something to hand on, or nothing is left in it. A pipe whose other end found its way to
    /// somebody outside is not waited for.
    pub(super) fn read_what_is_left(&mut self) {
        for channel in &mut self.channels {
            while channel.waiting.is_empty() && channel.from.is_some() {
                self.reads = self.reads.saturating_sub(1);
                if self.reads == 0 || !channel.has_more() {
                    channel.from = None;
                    break;
                }
                channel.read(&mut self.left, &mut self.dropped);
            }
        }
    }

    /// Drops what nobody took.
    pub(super) fn give_up(&mut self) {
        for channel in &mut self.channels {
            channel.from = None;
            self.untaken += channel.waiting.len() as u64;
            channel.waiting.clear();
        }
    }

    /// Returns the last that came on standard error.
    pub(super) fn last_errors(&self) -> Vec<u8> {
        let errors = self.channels.get(self.errors);
        errors.map(|errors| errors.last.iter().copied().collect()).unwrap_or_default()
    }

    pub(super) fn output(self) -> Output {
        let [stdout, stderr] = self.channels;
        Output { stdout: stdout.kept, stderr: stderr.kept, dropped: self.dropped, untaken: self.untaken }
    }
}

impl Channel {
    fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        match self.to {
            Some(to) if !self.waiting.is_empty() => Some((standard(to), PollFlags::OUT)),
            _ => Some((self.from.as_ref()?.as_fd(), PollFlags::IN)),
        }
    }

    fn remember(&mut self, chunk: &[u8]) {
        self.last.extend(chunk.get(chunk.len().saturating_sub(LAST)..).unwrap_or_default());
        self.last.drain(..self.last.len().saturating_sub(LAST));
    }

    fn has_more(&self) -> bool {
        let Some(from) = &self.from else { return false };
        let mut wait = [PollFd::new(from, PollFlags::IN)];
        poll(&mut wait, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }

    fn read(&mut self, left: &mut u64, dropped: &mut u64) {
        let Some(from) = &self.from else { return };
        let mut chunk = vec![0; CHUNK];
        let count = match rustix::io::read(from, &mut chunk) {
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return,
            // That of a terminal is an error.
            Ok(0) | Err(_) => {
                self.from = None;
                return;
            }
            Ok(count) => count,
        };
        chunk.truncate(count);
        self.remember(&chunk);
        let allowed = usize::try_from(*left).unwrap_or(usize::MAX).min(count);
        chunk.truncate(allowed);
        *left -= allowed as u64;
        *dropped += (count - allowed) as u64;
        match self.to {
            Some(_) => self.waiting = chunk,
            None => self.kept.extend(chunk),
        }
    }

    fn write(&mut self, untaken: &mut u64) {
        let Some(to) = self.to else { return };
        let now = self.waiting.get(..WITHOUT_WAITING).unwrap_or(&self.waiting);
        match rustix::io::write(standard(to), now) {
            Ok(count) => drop(self.waiting.drain(..count.min(self.waiting.len()))),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(error) => {
                // The command finds out when its end of the pipe is gone.
                if error != rustix::io::Errno::PIPE {
                    *untaken += self.waiting.len() as u64;
                }
                self.waiting.clear();
                self.from = None;
            }
        }
    }
}

fn standard(number: RawFd) -> BorrowedFd<'static> {
    if number == 1 { rustix::stdio::stdout() } else { rustix::stdio::stderr() }
}
