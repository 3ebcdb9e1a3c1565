//! Forwards or captures the output of a command, up to a limit.

#![expect(clippy::disallowed_methods, reason = "reads what a command prints and hands it on")]

use std::io;
use std::os::fd::{AsFd as _, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::shared_target::{SharedTarget, standard};
use super::stdin::StdinSource;
use super::terminal::Pty;
use super::write_now::WriteNow;
use super::{Stream, Streams, Terminal};
use crate::native::{Handed, OwnTerminal};
use crate::outcome::Output;
use crate::provider::Provider;

/// The size of a read.
pub(super) const CHUNK: usize = 64 << 10;

/// Maximum number of reads after the end. The capacity of a pipe is much smaller.
const LAST_READS: usize = 256;

/// The index of standard input, after those of the output channels.
const TYPED: usize = 2;

/// The output streams and the input of a command, or its terminal.
pub(super) struct Relay {
    channels: [Channel; 2],
    terminal: Option<Pty>,
    stdin: StdinSource,
    shared: Option<SharedTarget>,
    left: u64,
    dropped: u64,
    untaken: u64,
    /// Remaining number of reads after the end.
    reads: usize,
}

/// The command's ends of the streams.
pub(super) struct Ends {
    owned: Vec<OwnedFd>,
    handed: Handed,
}

impl Ends {
    pub(super) fn handed(&self) -> &Handed {
        &self.handed
    }

    /// Returns the ends of three pipes; nothing if they are a terminal.
    pub(super) fn into_pipes(self) -> Option<[OwnedFd; 3]> {
        self.owned.try_into().ok()
    }

    /// Returns the terminal, if they are one.
    pub(super) fn terminal(&self) -> Option<BorrowedFd<'_>> {
        let own = self.handed.terminal != OwnTerminal::None;
        self.owned.first().filter(|_| own).map(OwnedFd::as_fd)
    }
}

#[derive(Default)]
struct Channel {
    from: Option<OwnedFd>,
    /// The descriptor of this program's stream that it is forwarded to; nothing if it is captured.
    to: Option<RawFd>,
    /// Whether it goes to the caller's descriptor, and that descriptor.
    is_handed: bool,
    out: Option<Arc<OwnedFd>>,
    writes: WriteNow,
    waiting: Vec<u8>,
    kept: Vec<u8>,
}

impl Relay {
    pub(super) fn new(streams: Streams, provider: &Provider) -> io::Result<(Self, Ends)> {
        match streams.terminal {
            Terminal::None => Self::of_pipes(streams, provider),
            Terminal::Own(size) => Self::of_terminal(streams, Pty::new(streams, size)?),
        }
    }

    fn of_terminal(streams: Streams, terminal: Pty) -> io::Result<(Self, Ends)> {
        let first = Channel {
            from: Some(terminal.output()?),
            to: (streams.stdout == Stream::Relay).then_some(1),
            is_handed: streams.stdout == Stream::Hand,
            ..Channel::default()
        };
        let command = terminal.command()?;
        let numbers = [command.as_raw_fd(); 3];
        let handed = Handed { streams: numbers, terminal: OwnTerminal::Own(terminal.path()), feeding: None };
        let mut relay = Self::of_channels([first, Channel::default()], StdinSource::Nothing, streams);
        relay.terminal = Some(terminal);
        Ok((relay, Ends { owned: vec![command], handed }))
    }

    fn of_pipes(streams: Streams, provider: &Provider) -> io::Result<(Self, Ends)> {
        let (source, stdin) = StdinSource::new(streams.stdin, provider)?;
        let channel = |number: RawFd, stream: Stream| -> io::Result<(Channel, OwnedFd)> {
            let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
            let to = (stream == Stream::Relay).then_some(number);
            let is_handed = stream == Stream::Hand;
            Ok((Channel { from: Some(read), to, is_handed, ..Channel::default() }, write))
        };
        let ((out, stdout), (errors, stderr)) = (channel(1, streams.stdout)?, channel(2, streams.stderr)?);
        let numbers = [&stdin, &stdout, &stderr].map(AsRawFd::as_raw_fd);
        let handed = Handed { streams: numbers, terminal: OwnTerminal::None, feeding: source.number() };
        let relay = Self::of_channels([out, errors], source, streams);
        Ok((relay, Ends { owned: vec![stdin, stdout, stderr], handed }))
    }

    fn of_channels(channels: [Channel; 2], stdin: StdinSource, streams: Streams) -> Self {
        let targets = channels.each_ref().map(|channel| channel.to);
        let shared = streams.speaks_as.and_then(|word| SharedTarget::new(targets, word));
        Self { channels, terminal: None, stdin, shared, left: u64::MAX, dropped: 0, untaken: 0, reads: 0 }
    }

    /// Sets the limit for both streams together.
    pub(super) fn limit(&mut self, bytes: u64) {
        self.left = bytes;
    }

    /// Sets the caller's descriptors.
    pub(super) fn hand_to(&mut self, outs: [Option<Arc<OwnedFd>>; 2]) {
        for (channel, out) in self.channels.iter_mut().zip(outs) {
            channel.out = out.filter(|_| channel.is_handed);
        }
    }

    /// Whether all output was forwarded.
    pub(super) fn is_done(&self) -> bool {
        let is_written = self.shared.as_ref().is_none_or(SharedTarget::is_written);
        is_written && self.channels.iter().all(|channel| channel.from.is_none() && channel.waiting.is_empty())
    }

    /// Returns the descriptors to poll, with the index of the channel.
    pub(super) fn interests(&self) -> Vec<(usize, PollFd<'_>)> {
        // While a marked piece of the other channel is partly written, this channel waits, so that lines are not mixed.
        let may_go_on = |number: &usize| self.shared.as_ref().is_none_or(|shared| shared.lets(*number));
        let channels = self.channels.iter().enumerate().filter(|(number, _)| may_go_on(number));
        let has_piece = |number| self.shared.as_ref().is_some_and(|shared| shared.has_piece(number));
        let interests =
            channels.filter_map(|(number, channel)| Some((number, channel.interest(has_piece(number))?)));
        let typed = self.terminal.as_ref().map_or_else(|| self.stdin.interest(), Pty::interest);
        let interests = interests.chain(typed.map(|typed| (TYPED, typed)));
        interests.map(|(number, (from, flags))| (number, PollFd::from_borrowed_fd(from, flags))).collect()
    }

    /// Reads or writes a channel that is ready.
    pub(super) fn advance(&mut self, number: usize) {
        if number == TYPED {
            return self.terminal.as_mut().map_or_else(|| self.stdin.advance(), Pty::advance);
        }
        let Some(channel) = self.channels.get_mut(number) else { return };
        let shared = self.shared.as_mut().filter(|shared| shared.takes(number));
        let has_piece = shared.as_ref().is_some_and(|shared| shared.has_piece(number));
        match shared {
            _ if channel.waiting.is_empty() && !has_piece => channel.read(&mut self.left, &mut self.dropped),
            Some(shared) => channel.write_marked(shared, number, &mut self.untaken),
            None => channel.write(&mut self.untaken),
        }
        // The reader of the output is gone, so the terminal is closed, and the command gets SIGHUP.
        if number == 0 && channel.from.is_none() {
            self.terminal = None;
        }
    }

    /// Switches to draining: all writers are gone, so the pipes get no more data.
    pub(super) fn begin_to_end(&mut self) {
        self.reads = LAST_READS;
        self.terminal.iter_mut().for_each(Pty::end_input);
        self.stdin.end();
    }

    /// Copies the size of the outer terminal. Returns whether the command has a terminal.
    pub(super) fn follow(&mut self) -> bool {
        self.terminal.as_mut().map(Pty::follow).is_some()
    }

    /// Puts the outer terminal back into raw mode.
    pub(super) fn resume(&self) {
        self.terminal.iter().for_each(Pty::resume);
    }

    /// Reads until a channel has data to forward, or is empty. It does not wait for end of file, because the command may have
    /// passed its end of the pipe to a process outside.
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

    /// Drops output that was not read.
    pub(super) fn give_up(&mut self) {
        for channel in &mut self.channels {
            channel.from = None;
            self.untaken += channel.waiting.len() as u64;
            channel.waiting.clear();
        }
        if let Some(shared) = &mut self.shared {
            self.untaken += shared.piece().len() as u64;
            shared.piece().clear();
        }
    }

    pub(super) fn output(self) -> Output {
        let [stdout, stderr] = self.channels;
        let (dropped, untaken) = (self.dropped, self.untaken);
        let ends_within_a_line = self.shared.is_some_and(|shared| !shared.is_at_start());
        Output { stdout: stdout.kept, stderr: stderr.kept, dropped, untaken, ends_within_a_line }
    }
}

impl Channel {
    fn interest(&self, has_piece: bool) -> Option<(BorrowedFd<'_>, PollFlags)> {
        match target(self.out.as_ref(), self.to) {
            // Reads only after everything was written, so at most one chunk is buffered and the command blocks like on a pipe.
            Some(to) if has_piece || !self.waiting.is_empty() => Some((to, PollFlags::OUT)),
            _ => Some((self.from.as_ref()?.as_fd(), PollFlags::IN)),
        }
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
            // Reading a terminal whose other side is closed fails with EIO.
            Ok(0) | Err(_) => {
                self.from = None;
                return;
            }
            Ok(count) => count,
        };
        chunk.truncate(count);
        let allowed = usize::try_from(*left).unwrap_or(usize::MAX).min(count);
        chunk.truncate(allowed);
        *left -= allowed as u64;
        // Output above the limit is read and dropped: a command that blocks on a full pipe would not end.
        *dropped += (count - allowed) as u64;
        match target(self.out.as_ref(), self.to) {
            Some(_) => self.waiting = chunk,
            None => self.kept.extend(chunk),
        }
    }

    fn write(&mut self, untaken: &mut u64) {
        let Some(to) = target(self.out.as_ref(), self.to) else { return };
        if let Err(lost) = write_some(&mut self.writes, to, &mut self.waiting) {
            *untaken += lost;
            self.from = None;
        }
    }

    fn write_marked(&mut self, shared: &mut SharedTarget, number: usize, untaken: &mut u64) {
        let Some(to) = self.to else { return };
        shared.take_piece(&mut self.waiting, number);
        if let Err(lost) = write_some(&mut self.writes, standard(to), shared.piece()) {
            *untaken += if lost == 0 { 0 } else { lost + self.waiting.len() as u64 };
            self.waiting.clear();
            self.from = None;
        }
    }
}

/// Returns the destination of a channel; nothing if it is captured.
fn target(out: Option<&Arc<OwnedFd>>, to: Option<RawFd>) -> Option<BorrowedFd<'_>> {
    out.map(|out| out.as_fd()).or_else(|| to.map(standard))
}

/// Writes as much as possible without blocking. On an error the data is dropped, and `Err` contains the number of lost bytes: 0
/// if the reader closed its end. The command gets SIGPIPE when its own pipe is closed then.
fn write_some(writes: &mut WriteNow, to: BorrowedFd<'_>, waiting: &mut Vec<u8>) -> Result<(), u64> {
    match writes.write(to, waiting) {
        Ok(count) => drop(waiting.drain(..count.min(waiting.len()))),
        Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
        Err(error) => {
            let missed = if error == rustix::io::Errno::PIPE { 0 } else { waiting.len() as u64 };
            waiting.clear();
            return Err(missed);
        }
    }
    Ok(())
}
