//! Moves what a command prints, up to a limit.

#![expect(clippy::disallowed_methods, reason = "reads what a command prints and hands it on")]

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd, RawFd};

use rustix::event::{PollFd, PollFlags};

use super::{Input, Stream, Streams};
use crate::outcome::Output;

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// What a pipe takes at once without making the writer wait, once it says that it takes anything.
const WITHOUT_WAITING: usize = 4096;

/// Both output streams of a command.
pub(super) struct Pump {
    channels: [Channel; 2],
    left: u64,
    pub(super) dropped: u64,
}

/// The ends of the streams that the command gets.
pub(super) struct Ends {
    _owned: Vec<OwnedFd>,
    numbers: [RawFd; 3],
}

impl Ends {
    pub(super) fn numbers(&self) -> [RawFd; 3] {
        self.numbers
    }
}

struct Channel {
    from: Option<OwnedFd>,
    /// Number of the stream of this program that it goes to; nothing if it is kept.
    to: Option<RawFd>,
    waiting: Vec<u8>,
    kept: Vec<u8>,
}

impl Pump {
    pub(super) fn new(streams: Streams) -> io::Result<(Self, Ends)> {
        let mut owned = Vec::new();
        let mut numbers = [0, 1, 2];
        if streams.stdin == Input::Empty {
            let nothing: OwnedFd = File::open("/dev/null")?.into();
            numbers[0] = nothing.as_raw_fd();
            owned.push(nothing);
        }
        let mut channel = |number: RawFd, stream: Stream| -> io::Result<Channel> {
            let mut channel = Channel { from: None, to: None, waiting: Vec::new(), kept: Vec::new() };
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
        Ok((Self { channels, left: u64::MAX, dropped: 0 }, Ends { _owned: owned, numbers }))
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
        interests.map(|(number, (from, flags))| (number, PollFd::from_borrowed_fd(from, flags))).collect()
    }

    /// Does what a channel is ready for.
    pub(super) fn advance(&mut self, number: usize) {
        let Some(channel) = self.channels.get_mut(number) else { return };
        if channel.waiting.is_empty() {
            channel.read(&mut self.left, &mut self.dropped);
        } else {
            channel.write(&mut self.dropped);
        }
    }

    pub(super) fn output(self) -> Output {
        let [stdout, stderr] = self.channels;
        Output { stdout: stdout.kept, stderr: stderr.kept, dropped: self.dropped }
    }
}

impl Channel {
    fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        match self.to {
            Some(to) if !self.waiting.is_empty() => Some((standard(to), PollFlags::OUT)),
            _ => Some((self.from.as_ref()?.as_fd(), PollFlags::IN)),
        }
    }

    fn read(&mut self, left: &mut u64, dropped: &mut u64) {
        let Some(from) = &self.from else { return };
        let mut chunk = vec![0; CHUNK];
        let count = match rustix::io::read(from, &mut chunk) {
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
        *dropped += (count - allowed) as u64;
        match self.to {
            Some(_) => self.waiting = chunk,
            None => self.kept.extend(chunk),
        }
    }

    fn write(&mut self, dropped: &mut u64) {
        let Some(to) = self.to else { return };
        let now = self.waiting.get(..WITHOUT_WAITING).unwrap_or(&self.waiting);
        match rustix::io::write(standard(to), now) {
            Ok(count) => drop(self.waiting.drain(..count.min(self.waiting.len()))),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(_) => {
                // Nobody reads any more. The command finds out when its end of the pipe is gone.
                *dropped += self.waiting.len() as u64;
                self.waiting.clear();
                self.from = None;
            }
        }
    }
}

fn standard(number: RawFd) -> BorrowedFd<'static> {
    if number == 1 { rustix::stdio::stdout() } else { rustix::stdio::stderr() }
}
