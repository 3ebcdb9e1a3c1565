//! A terminal of the command's own. This program stands between it and the terminal of whoever uses the command, which no
//! process of the sandbox ever holds: what is typed is written to the one, what is printed is read from it.
//!
//! Keys such as Ctrl-C are bytes here; the command's own terminal makes signals of them. So the outer one is switched to hand
//! every byte on, and back again on every way out; a process that only waits does that should this program be killed.

#![expect(clippy::disallowed_methods, reason = "reads what is typed, and looks where a terminal is")]

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::event::PollFlags;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::getpgrp;
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, ptsname, unlockpt};
use rustix::stdio::{stdin, stdout};
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, Winsize, isatty, tcflush,
    tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr, tcsetwinsize,
};

use super::{Input, Stream, Streams};
use crate::sys::tty_restorer::TtyRestorer;

/// How much is read at once of what is typed.
const CHUNK: usize = 4096;

/// How many characters a terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    /// Lines.
    pub rows: u16,
    /// Characters in a line.
    pub columns: u16,
}

impl Default for TerminalSize {
    /// That of the first terminals with a screen, which programs still expect.
    fn default() -> Self {
        Self { rows: 24, columns: 80 }
    }
}

/// The terminal of a command, as this program holds it.
pub(super) struct Pty {
    controller: OwnedFd,
    /// Held so that the terminal stays while no process of the sandbox has it open.
    command: OwnedFd,
    size: Option<Winsize>,
    outer: Option<Outer>,
    /// Whether more can be typed.
    reads: bool,
    /// Whether what is printed is shown.
    shows: bool,
    waiting: Vec<u8>,
    last: Option<u8>,
}

impl Pty {
    /// Makes one. It has the settings and the size of the outer one, or this size where there is none.
    pub(super) fn new(streams: Streams, size: TerminalSize) -> io::Result<Self> {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&controller)?;
        unlockpt(&controller)?;
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let command = ioctl_tiocgptpeer(&controller, flags)?;
        // A command that does not read must not make this program wait: what it prints would wait as well.
        fcntl_setfl(&controller, fcntl_getfl(&controller)? | OFlags::NONBLOCK)?;
        let first = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&controller, first)?;
        let reads = streams.stdin == Input::Inherit;
        let shows = streams.stdout != Stream::Keep;
        let outer = if reads && isatty(stdin()) { Some(Outer::take_over()?) } else { None };
        if let Some(outer) = &outer {
            tcsetattr(&controller, OptionalActions::Now, &outer.settings)?;
        }
        let mut pty =
            Self { controller, command, size: None, outer, reads, shows, waiting: Vec::new(), last: None };
        pty.follow();
        Ok(pty)
    }

    /// What the command gets.
    pub(super) fn command(&self) -> io::Result<OwnedFd> {
        self.command.try_clone()
    }

    /// What the command prints can be read from here.
    pub(super) fn output(&self) -> io::Result<OwnedFd> {
        self.controller.try_clone()
    }

    /// Where this machine has the command's side; nothing if it is not to be found there.
    pub(super) fn path(&self) -> Option<PathBuf> {
        let name = ptsname(&self.controller, Vec::new()).ok()?;
        let path = Path::new(OsStr::from_bytes(name.to_bytes()));
        let (there, own) = (rustix::fs::lstat(path).ok()?, rustix::fs::fstat(&self.command).ok()?);
        (there.st_dev == own.st_dev && there.st_ino == own.st_ino).then(|| path.to_path_buf())
    }

    /// Gives the command's terminal the size of the outer one. The kernel tells the command when that changes something.
    pub(super) fn follow(&mut self) {
        let outer = [self.reads.then(stdin), self.shows.then(stdout)];
        let outer = outer.into_iter().flatten().find_map(|stream| tcgetwinsize(stream).ok());
        // Some programs that make terminals never say how large they are.
        let Some(size) = outer.filter(|size| size.ws_row > 0 && size.ws_col > 0) else { return };
        if self.size != Some(size) && tcsetwinsize(&self.controller, size).is_ok() {
            self.size = Some(size);
        }
    }

    /// Takes the outer terminal over again, after this program was stopped and goes on.
    pub(super) fn resume(&self) {
        if let Some(outer) = &self.outer {
            outer.hand_on_every_byte().ok();
        }
    }

    /// Nothing that is typed from now on is for the command.
    pub(super) fn end_input(&mut self) {
        self.reads = false;
        self.waiting.clear();
    }

    pub(super) fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        if !self.waiting.is_empty() {
            return Some((self.controller.as_fd(), PollFlags::OUT));
        }
        self.reads.then(|| (stdin(), PollFlags::IN))
    }

    /// Takes what was typed, or hands it on.
    pub(super) fn advance(&mut self) {
        if self.waiting.is_empty() { self.read() } else { self.write() }
    }

    fn read(&mut self) {
        let mut chunk = [0; CHUNK];
        match rustix::io::read(stdin(), &mut chunk) {
            Ok(count @ 1..) => {
                self.waiting.extend(chunk.iter().take(count));
                self.last = self.waiting.last().copied();
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            Ok(_) | Err(_) => {
                self.reads = false;
                self.waiting = self.end_of_input();
            }
        }
    }

    fn write(&mut self) {
        match rustix::io::write(&self.controller, &self.waiting) {
            Ok(count) => drop(self.waiting.drain(..count.min(self.waiting.len()))),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => self.end_input(),
        }
    }

    /// A terminal has no end of its input but a key for it, which ends a line that was begun, or the input.
    fn end_of_input(&self) -> Vec<u8> {
        let Ok(settings) = tcgetattr(&self.controller) else { return Vec::new() };
        if !settings.local_modes.contains(LocalModes::ICANON) {
            return Vec::new();
        }
        let key = settings.special_codes[SpecialCodeIndex::VEOF];
        let is_begun = self.last.is_some_and(|last| last != b'\n');
        vec![key; if is_begun { 2 } else { 1 }]
    }
}

/// The terminal of whoever uses the command, for as long as it hands every byte on.
struct Outer {
    settings: Termios,
    _restorer: TtyRestorer,
}

impl Outer {
    fn take_over() -> io::Result<Self> {
        let settings = tcgetattr(stdin())?;
        let restorer = TtyRestorer::new(stdin(), &settings)?;
        let outer = Self { settings, _restorer: restorer };
        // Where this runs in the background, the kernel stops it here until it is brought to the front.
        outer.set_raw()?;
        Ok(outer)
    }

    fn set_raw(&self) -> io::Result<()> {
        let mut raw = self.settings.clone();
        raw.make_raw();
        Ok(tcsetattr(stdin(), OptionalActions::Now, &raw)?)
    }

    fn hand_on_every_byte(&self) -> io::Result<()> {
        if is_in_front() { self.set_raw() } else { Ok(()) }
    }
}

impl Drop for Outer {
    fn drop(&mut self) {
        if !is_in_front() {
            return;
        }
        // A command can ask a terminal questions; an answer that it did not wait for would be typed into the shell.
        tcflush(stdin(), QueueSelector::IFlush).ok();
        tcsetattr(stdin(), OptionalActions::Now, &self.settings).ok();
    }
}

/// Whether the terminal is this program's, and not that of another job of the same shell.
fn is_in_front() -> bool {
    tcgetpgrp(stdin()).is_ok_and(|group| group == getpgrp())
}
