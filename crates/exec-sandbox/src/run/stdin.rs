//! Passes the standard input of this program to a command. No process of a sandbox gets the descriptor itself: its flags and
//! terminal settings belong to the user's session, and changes would persist after the command.
//!
//! A terminal, a socket or a named pipe is read here and forwarded through a pipe. A file or an anonymous pipe is reopened, so
//! that the command consumes only what it reads, as without a sandbox.

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

/// The size of a read.
const CHUNK: usize = 64 << 10;

/// The file system of anonymous pipes (PIPEFS_MAGIC in linux/magic.h).
const PIPES: u64 = 0x5049_5045;

/// How standard input reaches the command.
pub(super) enum StdinSource {
    /// The command gets no input.
    Nothing,
    /// The command has the same file through another open file description. This descriptor shares its position.
    Reopened(OwnedFd),
    /// Input is copied into a pipe.
    Forwarded(ForwardedInput),
}

/// Input that is forwarded through a pipe.
pub(super) struct ForwardedInput {
    /// The write end; nothing after the end of the input.
    to: Option<OwnedFd>,
    /// The read end, to find out what the command has not read.
    from: OwnedFd,
    waiting: Vec<u8>,
    is_terminal: bool,
}

impl StdinSource {
    /// Returns the feed, and the command's standard input.
    pub(super) fn new(input: Input, provider: &Provider) -> io::Result<(Self, OwnedFd)> {
        match input {
            Input::Empty => Ok((Self::Nothing, File::open("/dev/null")?.into())),
            Input::Inherit => match reopened(provider) {
                Some(anew) => Ok((Self::Reopened(anew.try_clone()?), anew)),
                None => Self::forwarded(),
            },
        }
    }

    fn forwarded() -> io::Result<(Self, OwnedFd)> {
        let (from, to) = pipe_with(PipeFlags::CLOEXEC)?;
        // A command that does not read must not block this program.
        fcntl_setfl(&to, fcntl_getfl(&to)? | OFlags::NONBLOCK)?;
        let own = from.try_clone()?;
        let forwarded =
            ForwardedInput { to: Some(to), from: own, waiting: Vec::new(), is_terminal: isatty(stdin()) };
        Ok((Self::Forwarded(forwarded), from))
    }

    /// Returns the write end, which the sandbox must not inherit: the command would never see the end of its input.
    pub(super) fn number(&self) -> Option<RawFd> {
        let Self::Forwarded(forwarded) = self else { return None };
        forwarded.to.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// Returns the descriptor to poll.
    pub(super) fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        let Self::Forwarded(forwarded) = self else { return None };
        let to = forwarded.to.as_ref()?;
        if !forwarded.waiting.is_empty() {
            return Some((to.as_fd(), PollFlags::OUT));
        }
        forwarded.may_read().then(|| (stdin(), PollFlags::IN))
    }

    /// Reads available input, or writes it to the pipe.
    pub(super) fn advance(&mut self) {
        let Self::Forwarded(forwarded) = self else { return };
        if forwarded.waiting.is_empty() { forwarded.read() } else { forwarded.write() }
    }

    /// Rewinds standard input to what the command has read, if it is seekable, for the next reader (such as a script of a shell).
    pub(super) fn end(&mut self) {
        match self {
            Self::Reopened(anew) => {
                if let Ok(read) = seek(anew, SeekFrom::Current(0)) {
                    seek(stdin(), SeekFrom::Start(read)).ok();
                }
            }
            Self::Forwarded(forwarded) => {
                let unread = rustix::io::ioctl_fionread(&forwarded.from).unwrap_or_default();
                let back = unread + forwarded.waiting.len() as u64;
                seek(stdin(), SeekFrom::Current(-back.cast_signed())).ok();
            }
            Self::Nothing => {}
        }
        *self = Self::Nothing;
    }
}

impl ForwardedInput {
    /// Whether reading is permitted: the kernel stops a background process that reads its terminal (SIGTTIN).
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
            // The command closed its end.
            Err(_) => self.to = None,
        }
    }
}

/// Reopens standard input, so that it has flags of its own; nothing if that is impossible or would grant more access.
fn reopened(provider: &Provider) -> Option<OwnedFd> {
    let flags = fcntl_getfl(stdin()).ok()?;
    let kind = FileType::from_raw_mode(fstat(stdin()).ok()?.st_mode);
    let is_opened = match kind {
        // With bubblewrap there is no Landlock, so the command could reopen the file for writing through /proc/self/fd.
        FileType::RegularFile => !matches!(provider, Provider::Bwrap { .. }),
        FileType::Fifo => fstatfs(stdin()).is_ok_and(|system| system.f_type as u64 == PIPES),
        FileType::CharacterDevice => !isatty(stdin()),
        _ => false,
    };
    // Reopening must not add read access to a write-only descriptor.
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
