//! The thread that makes an observed call: its memory, working directory, root and descriptors.
//!
//! Files are only opened as handles ([`OFlags::PATH`]), which has no side effects.

#![expect(clippy::disallowed_methods, reason = "looks into the process that makes a call")]

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::seccomp::PathArguments;
use crate::sys::raw::{self, Notice};

/// PATH_MAX, the maximum length of a path.
pub(super) const PATH: usize = 4096;

/// The smallest page size. Memory within a page is either mapped as a whole or not at all.
const PAGE: u64 = 4096;

/// The descriptor number that means the working directory.
const HERE: i32 = libc::AT_FDCWD;

/// A descriptor of a thread, and not of its process.
const THREAD: PidfdFlags = PidfdFlags::from_bits_retain(libc::O_EXCL.cast_unsigned());

/// An argument of a call.
pub(super) fn argument(notice: &Notice, number: u8) -> u64 {
    notice.arguments.get(usize::from(number)).copied().unwrap_or_default()
}

/// An argument of which the kernel looks at no more than the lower half.
pub(super) fn short(notice: &Notice, number: u8) -> u32 {
    argument(notice, number) as u32
}

/// The folder that an argument names; nothing for the one that the process is in.
pub(super) fn folder(notice: &Notice, place: PathArguments) -> Option<i32> {
    let number = place.folder.map(|number| short(notice, number).cast_signed());
    number.filter(|number| *number != HERE)
}

/// Reads a text that ends in 0.
pub(super) fn text(thread: u32, at: u64) -> Result<Vec<u8>, Errno> {
    let mut text = Vec::new();
    while text.len() < PATH {
        let from = at.checked_add(text.len() as u64).ok_or(Errno::FAULT)?;
        let mut page = [0; PAGE as usize];
        let room = page.get_mut(..(PAGE - from % PAGE) as usize).unwrap_or_default();
        let length = raw::read_memory(thread, from, room).ok().filter(|length| *length > 0);
        let read = length.and_then(|length| page.get(..length)).ok_or(Errno::FAULT)?;
        let end = read.iter().position(|byte| *byte == 0);
        text.extend_from_slice(read.get(..end.unwrap_or(read.len())).unwrap_or_default());
        if end.is_some() {
            break;
        }
    }
    if text.len() < PATH { Ok(text) } else { Err(Errno::NAMETOOLONG) }
}

/// A thread that waits for the answer to its call.
///
/// If it is killed, its ID may be reused by a thread outside of the sandbox. So after opening a file through /proc/ID, it checks
/// that the call is still pending, and only then uses the file.
#[derive(Clone, Copy)]
pub(super) struct Caller<'c> {
    shown: BorrowedFd<'c>,
    notice: &'c Notice,
}

impl<'c> Caller<'c> {
    pub(super) fn of(shown: BorrowedFd<'c>, notice: &'c Notice) -> Self {
        Self { shown, notice }
    }

    /// Returns the thread ID; 0 if the thread is in a PID namespace that is not visible here.
    pub(super) fn thread(self) -> u32 {
        self.notice.thread
    }

    /// Reads a NUL-terminated string from its memory.
    pub(super) fn text(self, argument: u8) -> Result<Vec<u8>, Errno> {
        text(self.thread(), self::argument(self.notice, argument))
    }

    /// Opens a handle to one of its descriptors, through the magic link of procfs.
    pub(super) fn descriptor(self, number: i32) -> Result<OwnedFd, Errno> {
        self.opened(&format!("fd/{number}"), OFlags::PATH).map_err(|error| match error {
            Errno::NOENT => Errno::BADF,
            error => error,
        })
    }

    /// Opens the directory to which a relative path refers.
    pub(super) fn begin(self, folder: Option<i32>) -> Result<OwnedFd, Errno> {
        match folder {
            None | Some(HERE) => self.opened("cwd", OFlags::PATH),
            Some(number) => self.descriptor(number),
        }
    }

    /// Opens its root directory, for absolute paths.
    pub(super) fn root(self) -> Result<OwnedFd, Errno> {
        self.opened("root", OFlags::PATH)
    }

    /// Opens one of its files in procfs.
    pub(super) fn opened(self, what: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let path = format!("/proc/{}/{what}", self.thread());
        let opened = openat(CWD, path, flags | OFlags::CLOEXEC, Mode::empty())?;
        match raw::still_waits(self.shown, self.notice) {
            true => Ok(opened),
            false => Err(Errno::SRCH),
        }
    }

    /// Duplicates one of its descriptors: both refer to the same open file description.
    pub(super) fn taken(self, number: i32) -> Result<OwnedFd, Errno> {
        let taken =
            raw::take_descriptor(self.process()?.as_fd(), number).map_err(Errno::from_raw_os_error)?;
        match raw::still_waits(self.shown, self.notice) {
            true => Ok(taken),
            false => Err(Errno::SRCH),
        }
    }

    /// Opens a pidfd of the thread, or of its process before Linux 6.9 (PIDFD_THREAD). Their descriptor tables are the same,
    /// unless the thread has called unshare(CLONE_FILES).
    fn process(self) -> Result<OwnedFd, Errno> {
        let number = |number: u32| Pid::from_raw(number.cast_signed()).ok_or(Errno::SRCH);
        match pidfd_open(number(self.thread())?, THREAD) {
            Err(Errno::INVAL) => {
                let process = self.status("Tgid").and_then(|text| text.parse().ok()).ok_or(Errno::SRCH)?;
                pidfd_open(number(process)?, PidfdFlags::empty())
            }
            opened => opened,
        }
    }

    /// Returns the error with which its call ends if a signal is pending; nothing if none is.
    pub(super) fn interrupted(self) -> Option<i32> {
        /// ERESTARTSYS: restarts the call after the handler, if that has SA_RESTART. The kernel only evaluates it in the thread
        /// that handles the signal, so it is only used for single-threaded processes.
        const RESTART: i32 = 512;
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.thread())).ok()?;
        let line = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(":\t"));
        let set =
            |name: &str| line(name).and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0);
        let waiting = (set("SigPnd") | set("ShdPnd")) & !set("SigBlk") & !set("SigIgn");
        let is_alone = line("Threads").is_some_and(|count| count.trim() == "1");
        (waiting != 0).then_some(if is_alone { RESTART } else { libc::EINTR })
    }

    /// Returns a field of its /proc/ID/status.
    pub(super) fn status(self, name: &str) -> Option<String> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.thread())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        Some(line.trim().to_owned())
    }

    /// Whether this is its process ID in its own PID namespace.
    pub(super) fn is_numbered(self, number: &str) -> bool {
        let numbers = self.status("NStgid").into_iter().chain(self.status("NSpid"));
        numbers.into_iter().any(|numbers| numbers.split_whitespace().next_back() == Some(number))
    }

    /// Returns the device number of its controlling terminal; nothing if it has none.
    pub(super) fn terminal(self) -> Option<u64> {
        /// The seventh field of proc_pid_stat(5), counted after the program's name, which may contain spaces.
        const TERMINAL: usize = 4;
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.thread())).ok()?;
        let (_, rest) = stat.rsplit_once(')')?;
        let device: u64 = rest.split_whitespace().nth(TERMINAL)?.parse().ok()?;
        (device != 0).then_some(device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_a_command_are_read_completely_or_not_at_all() {
        let this = std::process::id();
        let mut bytes = vec![b'x'; 3 * PATH];
        let at = |bytes: &[u8]| bytes.as_ptr() as u64;
        assert_eq!(text(this, at(&bytes)), Err(Errno::NAMETOOLONG));
        for end in [0, 1, 100, PATH - 1] {
            bytes[end] = 0;
            assert_eq!(text(this, at(&bytes)), Ok(vec![b'x'; end]));
            bytes[end] = b'x';
        }
        bytes[PATH] = 0;
        assert_eq!(text(this, at(&bytes)), Err(Errno::NAMETOOLONG));
        for nowhere in [0, 1, u64::MAX, u64::MAX - 5000] {
            assert_eq!(text(this, nowhere), Err(Errno::FAULT), "{nowhere}");
        }
    }
}
