//! Performs calls that change modes and times of files, when only Landlock confines the command: it has no rights for them.
//!
//! The file is opened first, judged by its path, and changed through the same descriptor. So it cannot be exchanged in between.

#![expect(clippy::disallowed_methods, reason = "changes files of a command in its place")]

use std::ffi::OsString;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, Mode, OFlags, ResolveFlags, Timespec, Timestamps, UTIME_NOW, chmod, openat2, utimensat,
};
use rustix::io::Errno;

use super::caller::{Caller, argument, short};
use crate::mounts::MountKind;
use crate::plan::Plan;
use crate::seccomp::{ChangedFile, ModeChange, NewValue};
use crate::spec::MountAccess;
use crate::sys::raw::{self, Notice};

/// All mode bits except set-user-ID and set-group-ID.
const MODE: u32 = 0o1777;

/// Performs a call if the command may change the file.
pub(super) fn carry_out(
    plan: &Plan,
    shown: BorrowedFd<'_>,
    notice: &Notice,
    change: ModeChange,
) -> Result<(), Errno> {
    let file = open(Caller::of(shown, notice), notice, change)?;
    let value = value(notice, change.to)?;
    // The calling thread may have been killed, and its ID reused.
    if !raw::still_waits(shown, notice) {
        return Err(Errno::SRCH);
    }
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    if !may_change(plan, &std::fs::read_link(&own).map_err(|_| Errno::PERM)?) {
        return Err(Errno::PERM);
    }
    match value {
        Value::Mode(mode) => chmod(own, Mode::from_raw_mode(mode & MODE)),
        Value::Times(times) => utimensat(&file, "", &times, AtFlags::EMPTY_PATH),
    }
}

/// Whether the command may change a path. The innermost mount decides.
fn may_change(plan: &Plan, path: &Path) -> bool {
    let binds = plan.mounts.iter().rev().filter(|mount| matches!(mount.kind, MountKind::Bind { .. }));
    let around = binds.filter(|mount| path.starts_with(&mount.target));
    let innermost = around.max_by_key(|mount| mount.target.components().count());
    innermost.is_some_and(|it| matches!(it.kind, MountKind::Bind { access: MountAccess::ReadWrite, .. }))
}

/// The new mode or times of a file.
enum Value {
    Mode(u32),
    Times(Timestamps),
}

fn value(notice: &Notice, value: NewValue) -> Result<Value, Errno> {
    match value {
        NewValue::Mode(at) => Ok(Value::Mode(argument(notice, at) as u32)),
        NewValue::Times(at, parts) => times(notice, argument(notice, at), parts).map(Value::Times),
    }
}

fn times(notice: &Notice, at: u64, parts: Option<i64>) -> Result<Timestamps, Errno> {
    if at == 0 {
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        return Ok(Timestamps { last_access: now, last_modification: now });
    }
    let mut bytes = [0; 32];
    let room = bytes.get_mut(..if parts.is_some() { 32 } else { 16 }).ok_or(Errno::FAULT)?;
    let wanted = room.len();
    let read = raw::read_memory(notice.thread, at, room).map_err(|_| Errno::FAULT)?;
    if read < wanted {
        return Err(Errno::FAULT);
    }
    let mut words = bytes.chunks_exact(8).map(|word| i64::from_ne_bytes(word.try_into().unwrap_or_default()));
    let mut next = || words.next().unwrap_or_default();
    let mut time = || match parts {
        None => Timespec { tv_sec: next(), tv_nsec: 0 },
        Some(parts) => {
            let (tv_sec, part) = (next(), next());
            Timespec { tv_sec, tv_nsec: part.saturating_mul(1_000_000_000 / parts) }
        }
    };
    Ok(Timestamps { last_access: time(), last_modification: time() })
}

/// Opens a name of what is to be changed, and nothing but a name.
fn open(caller: Caller<'_>, notice: &Notice, change: ModeChange) -> Result<OwnedFd, Errno> {
    let flags = change.flags.map_or(0, |at| argument(notice, at) as u32);
    let flags = AtFlags::from_bits_retain(flags);
    let (folder, path) = match change.file {
        ChangedFile::Open(at) => return opened(caller, notice, at),
        ChangedFile::Here(path) => (None, path),
        // Without a path, the folder is the file.
        ChangedFile::Below(folder, path) if argument(notice, path) == 0 => {
            return opened(caller, notice, folder);
        }
        ChangedFile::Below(folder, path) => (Some(folder), path),
    };
    let named = caller.text(path)?;
    match folder {
        Some(at) if named.is_empty() && flags.contains(AtFlags::EMPTY_PATH) => {
            return opened(caller, notice, at);
        }
        _ if named.is_empty() => return Err(Errno::NOENT),
        _ => {}
    }
    let named = PathBuf::from(OsString::from_vec(named));
    if let Some(number) = named.strip_prefix("/proc/self/fd").ok().and_then(|it| it.to_str()?.parse().ok()) {
        return caller.descriptor(number);
    }
    let begin = caller.begin(folder.map(|at| short(notice, at).cast_signed()))?;
    let end = if flags.contains(AtFlags::SYMLINK_NOFOLLOW) { OFlags::NOFOLLOW } else { OFlags::empty() };
    openat2(begin, named, OFlags::PATH | OFlags::CLOEXEC | end, Mode::empty(), ResolveFlags::NO_MAGICLINKS)
}

fn opened(caller: Caller<'_>, notice: &Notice, at: u8) -> Result<OwnedFd, Errno> {
    caller.begin(Some(short(notice, at).cast_signed()))
}
