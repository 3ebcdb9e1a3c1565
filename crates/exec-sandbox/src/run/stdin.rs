//! Standard input of this program on its way to a command. No process of a sandbox ever holds a descriptor of it: its flags
//! and its settings belong to whoever uses this program, and would stay changed after the command.
//!
//! A terminal, a socket or a pipe with a name is read here and handed on through a pipe. A file and an ordinary pipe are opened
//! anew, so that the command takes from them what it reads and no more, as without a sandbox.

#![expect(clippy::disallowed_methods, reason = "reads standard input, and opens it anew")]

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use rustix::event::PollFlags;
use rustix::fs::{FileType, Mode, OFlags, SeekFrom, fcntl_getfl, fcntl_setfl, fstat, fstatfs, open, seek};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::getpgrp;
use rustix::stdio::stdin;
use rustix::termios::{isatty, tcgetpgrp};

use super::Input;
use crate::provider::Provider;

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// The file system of pipes without a name, from linux/magic.h.
const PIPES: u64 = 0x5049_5045;

/// How standard input reaches the command.
pub(super) enum Feed {
    /// The command has nothing of it.
    Nothing,
    /// The command has another descriptor of the same file; this one tells how far it read.
    OpenedAnew(OwnedFd),
    /// What is read here is written into a pipe.
    HandedOn(HandOn),
}

/// What is on its way through a pipe.
pub(super) struct HandOn {
    /// Nothing once the command gets no more.
    to: Option<OwnedFd>,
    /// The other end, which tells what the command has not read.
    from: OwnedFd,
    waiting: Vec<u8>,
    is_terminal: bool,
}

impl Feed {
    /// Returns it with what the command gets as its standard input.
    pub(super) fn new(input: Input, provider: &Provider) -> io::Result<(Self, OwnedFd)> {
        match input {
            Input::Empty => Ok((Self::Nothing, File::open("/dev/null")?.into())),
            Input::Inherit => match opened_anew(provider) {
                Some(anew) => Ok((Self::OpenedAnew(anew.try_clone()?), anew)),
                None => Self::hand_on(),
            },
        }
    }

    fn hand_on() -> io::Result<(Self, OwnedFd)> {
        let (from, to) = pipe_with(PipeFlags::CLOEXEC)?;
        // A command that does not read must not make this program wait.
        fcntl_setfl(&to, fcntl_getfl(&to)? | OFlags::NONBLOCK)?;
        let own = from.try_clone()?;
        let hand_on = HandOn { to: Some(to), from: own, waiting: Vec::new(), is_terminal: isatty(stdin()) };
        Ok((Self::HandedOn(hand_on), from))
    }

    /// What the command would wait for the end of, if anybody else kept it.
    pub(super) fn number(&self) -> Option<RawFd> {
        let Self::HandedOn(hand_on) = self else { return None };
        hand_on.to.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// What to wait for.
    pub(super) fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        let Self::HandedOn(hand_on) = self else { return None };
        let to = hand_on.to.as_ref()?;
        if !hand_on.waiting.is_empty() {
            return Some((to.as_fd(), PollFlags::OUT));
        }
        hand_on.may_read().then(|| (stdin(), PollFlags::IN))
    }

    /// Reads what is there, or hands it on.
    pub(super) fn advance(&mut self) {
        let Self::HandedOn(hand_on) = self else { return };
        if hand_on.waiting.is_empty() { hand_on.read() } else { hand_on.write() }
    }

    /// The command is gone: what it did not read is there for whoever comes next, as far as this can be.
    pub(super) fn end(&mut self) {
        match self {
            Self::OpenedAnew(anew) => {
                if let Ok(read) = seek(anew, SeekFrom::Current(0)) {
                    seek(stdin(), SeekFrom::Start(read)).ok();
                }
            }
            Self::HandedOn(hand_on) => {
                let unread = rustix::io::ioctl_fionread(&hand_on.from).unwrap_or_default();
                let back = unread + hand_on.waiting.len() as u64;
                seek(stdin(), SeekFrom::Current(-back.cast_signed())).ok();
            }
            Self::Nothing => {}
        }
        *self = Self::Nothing;
    }
}

impl HandOn {
    /// What is typed is for the program in front; who reads from behind is stopped by the kernel.
    fn may_read(&self) -> bool {
        !self.is_terminal || tcgetpgrp(stdin()).is_ok_and(|group| group == getpgrp())
    }

    fn read(&mut self) {
        let mut chunk = vec![0; CHUNK];
        match rustix::io::read(stdin(), &mut chunk) {
            Ok(count @ 1..) => {
                chunk.truncate(count);
                self.waiting = chunk;
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            Ok(_) | Err(_) => self.to = None,
        }
    }

    fn write(&mut self) {
        let Some(to) = &self.to else { return };
        match rustix::io::write(to, &self.waiting) {
            Ok(count) => drop(self.waiting.drain(..count.min(self.waiting.len()))),
            Err(Errno::INTR | Errno::AGAIN) => {}
            // The command reads no more.
            Err(_) => self.to = None,
        }
    }
}

/// Another descriptor of what standard input is, with flags of its own; nothing where that would be something else, or more.
fn opened_anew(provider: &Provider) -> Option<OwnedFd> {
    let flags = fcntl_getfl(stdin()).ok()?;
    let kind = FileType::from_raw_mode(fstat(stdin()).ok()?.st_mode);
    let is_opened = match kind {
        // Bubblewrap has no second wall, so that its command could open it once more, to write.
        FileType::RegularFile => !matches!(provider, Provider::Bwrap { .. }),
        FileType::Fifo => fstatfs(stdin()).is_ok_and(|system| system.f_type as u64 == PIPES),
        FileType::CharacterDevice => !isatty(stdin()),
        _ => false,
    };
    // What may not be read is not made readable.
    if !is_opened || flags & OFlags::RWMODE == OFlags::WRONLY {
        return None;
    }
    let anew =
        open("/proc/self/fd/0", OFlags::RDONLY | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    if kind == FileType::RegularFile {
        seek(&anew, SeekFrom::Start(seek(stdin(), SeekFrom::Current(0)).ok()?)).ok()?;
    }
    Some(anew)
}
