//! A pseudo-terminal for the command. This program copies between it and the user's terminal, which no process of the sandbox
//! ever gets.
//!
//! Keys such as Ctrl-C are passed as bytes, and the command's terminal turns them into signals. So the user's terminal is in raw
//! mode meanwhile, and is restored on every exit path. A helper process restores it if this program is killed.

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

/// The size of a read of input.
const CHUNK: usize = 4096;

/// The size of a terminal in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    /// Number of lines.
    pub rows: u16,
    /// Number of characters per line.
    pub columns: u16,
}

impl Default for TerminalSize {
    /// 24 × 80, the size of the VT100, which programs still assume.
    fn default() -> Self {
        Self { rows: 24, columns: 80 }
    }
}

/// The controlling side of the command's pseudo-terminal.
pub(super) struct Pty {
    controller: OwnedFd,
    /// The command's side, kept open so that the terminal does not hang up while no process of the sandbox has it open.
    command: OwnedFd,
    size: Option<Winsize>,
    outer: Option<Outer>,
    /// Whether input is read.
    reads: bool,
    /// Whether output is forwarded.
    shows: bool,
    waiting: Vec<u8>,
    last: Option<u8>,
}

impl Pty {
    /// Creates a pseudo-terminal with the settings and size of the outer terminal, or with this size without one.
    pub(super) fn new(streams: Streams, size: TerminalSize) -> io::Result<Self> {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&controller)?;
        unlockpt(&controller)?;
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let command = ioctl_tiocgptpeer(&controller, flags)?;
        // A command that does not read must not block this program, which would block its output, too.
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

    /// Returns the command's side.
    pub(super) fn command(&self) -> io::Result<OwnedFd> {
        self.command.try_clone()
    }

    /// Returns a descriptor to read the command's output.
    pub(super) fn output(&self) -> io::Result<OwnedFd> {
        self.controller.try_clone()
    }

    /// Returns the path of the command's side; nothing if the path is another file, as in another mount namespace.
    pub(super) fn path(&self) -> Option<PathBuf> {
        let name = ptsname(&self.controller, Vec::new()).ok()?;
        let path = Path::new(OsStr::from_bytes(name.to_bytes()));
        let (there, own) = (rustix::fs::lstat(path).ok()?, rustix::fs::fstat(&self.command).ok()?);
        (there.st_dev == own.st_dev && there.st_ino == own.st_ino).then(|| path.to_path_buf())
    }

    /// Copies the size of the outer terminal. The kernel sends SIGWINCH to the command if it changes.
    pub(super) fn follow(&mut self) {
        let outer = [self.reads.then(stdin), self.shows.then(stdout)];
        let outer = outer.into_iter().flatten().find_map(|stream| tcgetwinsize(stream).ok());
        // Some terminal emulators never set a size.
        let Some(size) = outer.filter(|size| size.ws_row > 0 && size.ws_col > 0) else { return };
        if self.size != Some(size) && tcsetwinsize(&self.controller, size).is_ok() {
            self.size = Some(size);
        }
    }

    /// Puts the outer terminal back into raw mode after this program was stopped and continued.
    pub(super) fn resume(&self) {
        if let Some(outer) = &self.outer {
            outer.hand_on_every_byte().ok();
        }
    }

    /// Stops reading input.
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

    /// Reads input, or writes it to the command's terminal.
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

    /// Returns the bytes that signal end of input: the EOF character, twice in the middle of a line, where the first one only
    /// submits the line.
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

/// The user's terminal in raw mode, restored on drop.
struct Outer {
    settings: Termios,
    _restorer: TtyRestorer,
}

impl Outer {
    fn take_over() -> io::Result<Self> {
        let settings = tcgetattr(stdin())?;
        let restorer = TtyRestorer::new(stdin(), &settings)?;
        let outer = Self { settings, _restorer: restorer };
        // In a background process, the kernel stops it here (SIGTTOU) until it is in the foreground.
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
        // A command can send queries to the terminal; pending answers would be read by the user's shell as typed input.
        tcflush(stdin(), QueueSelector::IFlush).ok();
        tcsetattr(stdin(), OptionalActions::Now, &self.settings).ok();
    }
}

/// Whether this program is in the foreground process group of the terminal.
fn is_in_front() -> bool {
    tcgetpgrp(stdin()).is_ok_and(|group| group == getpgrp())
}
