//! Opens files in the place of a command, which gets them as if it had opened them itself.

use std::ffi::OsString;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{
    CWD, FileType, Mode, OFlags, StatVfsMountFlags, fstat, fstatfs, fstatvfs, openat, readlinkat,
};
use rustix::io::Errno;

use super::super::caller::Caller;
use super::super::continued::Continued;
use super::how::{How, finish};
use super::rule::{Arrival, Verdict};
use super::target::{NameInFolder, Target, own_path, place_of, target};
use super::{Done, Names, Reply, Waits, pending};

/// How many links are followed.
const LINKS: usize = 40;

/// The device that is the controlling terminal of its opener.
const OWN_TERMINAL: (u32, u32) = (5, 0);

/// The kernel's files about a process that the process itself may write.
const ITS_OWN: &[&str] =
    &["comm", "oom_score_adj", "oom_adj", "coredump_filter", "timerslack_ns", "autogroup"];

/// Opens what a path leads to.
pub(super) fn open(names: &Names, caller: Caller<'_>, begin: Option<i32>, text: &[u8], how: How) -> Done {
    // It only gives a name for something, and makes nothing.
    if how.flags.contains(OFlags::PATH) {
        return Ok(Reply::GoesOn(Continued::NameAlone));
    }
    let mut begin = caller.begin(begin).or_else(|error| match text.first() {
        Some(b'/') => caller.root(),
        _ => Err(error),
    })?;
    if how.flags.contains(OFlags::TMPFILE) {
        let folder = super::target::folder(caller, &begin, text)?;
        names.umask(caller);
        return finish(openat(&folder, ".", how.here().difference(OFlags::NOFOLLOW), how.mode)?, how);
    }
    let mut text = text.to_vec();
    for _ in 0..LINKS {
        let place = match target(caller, &begin, &text)? {
            Target::Folder if how.makes_anew() => return Err(Errno::EXIST),
            Target::Folder => return Err(Errno::ISDIR),
            // What is made there is no folder.
            Target::Name(place) if how.makes() && place.is_folder => return Err(Errno::ISDIR),
            Target::Open(open) => return again(names, caller, &open, how),
            Target::Own(file) => return of_itself(caller, &file, how),
            Target::Name(place) => place,
        };
        if is_of_processes(place.folder.as_fd()) {
            return Err(Errno::ACCESS);
        }
        let found = place.found();
        let kind = found.map(|found| FileType::from_raw_mode(found.st_mode));
        match kind {
            Err(Errno::NOENT) if how.makes() => {}
            Err(error) => return Err(error),
            Ok(_) if how.makes_anew() => return Err(Errno::EXIST),
            Ok(FileType::Directory) if how.makes() => return Err(Errno::ISDIR),
            Ok(FileType::Symlink) if how.flags.contains(OFlags::NOFOLLOW) => return Err(Errno::LOOP),
            Ok(FileType::Symlink) => {
                text = readlinkat(&place.folder, &place.name, Vec::new())?.into_bytes();
                text.extend(place.is_folder.then_some(b'/'));
                begin = place.folder;
                continue;
            }
            Ok(_) => {}
        }
        if let Ok(found) = &found
            && FileType::from_raw_mode(found.st_mode) == FileType::CharacterDevice
            && let Some(reply) = terminal(caller, found.st_rdev, how)
        {
            return reply;
        }
        match at(names, caller, place, kind.ok(), how) {
            // It was taken away, or replaced by a link: it is looked at once more.
            Err(Errno::LOOP | Errno::NOENT | Errno::EXIST) => {}
            reply => return reply,
        }
    }
    Err(Errno::LOOP)
}

/// Opens what lies in a place, or makes a file there where nothing is.
fn at(names: &Names, caller: Caller<'_>, mut place: NameInFolder, there: Option<FileType>, how: How) -> Done {
    let arrival = if there.is_some() { Arrival::Opened } else { Arrival::File };
    let flags = match there {
        // Should it be gone by now, it is not made: that would be judged otherwise.
        Some(_) => how.here().difference(OFlags::CREATE | OFlags::EXCL),
        // A file that is made here is an ordinary one, at which nothing waits.
        None => how.here().difference(OFlags::NONBLOCK) | how.flags & OFlags::NONBLOCK | OFlags::EXCL,
    };
    let _turn = names.turn(&place);
    place.look_again()?;
    match names.rules.arrives(&place, arrival) {
        Verdict::Fine => {}
        Verdict::Completes => names.complete(&place)?,
        Verdict::Published(_) => return names.refuse(&place, "it is put there by moving it"),
        Verdict::Written(why) => return written(names, caller, &place, how, why),
        // Of what cannot be changed anyway, the kernel says so.
        Verdict::Refused(_) if there.is_some() && is_closed(&place) => return Err(Errno::ROFS),
        Verdict::Refused(why) => return names.refuse(&place, why),
    }
    names.umask(caller);
    match openat(&place.folder, place.as_named(), flags, how.mode) {
        Err(Errno::NXIO) if there == Some(FileType::Fifo) && !how.flags.contains(OFlags::NONBLOCK) => {
            Ok(Reply::Waits(again_and_again(place, flags, how)))
        }
        Err(Errno::AGAIN) if !how.flags.contains(OFlags::NONBLOCK) => {
            Ok(Reply::Waits(again_and_again(place, flags, how)))
        }
        Err(error) => Err(error),
        Ok(file) if there.is_none() => Ok(how.file(file)),
        Ok(file) => finish(file, how),
    }
}

/// Opens settings of a repository that are judged when they are written to their end.
fn written(names: &Names, caller: Caller<'_>, place: &NameInFolder, how: How, why: &'static str) -> Done {
    if !how.flags.intersects(OFlags::WRONLY | OFlags::RDWR) || is_read_only(place.folder.as_fd()) {
        return names.refuse(place, why);
    }
    names.umask(caller);
    pending::begin(names, place.again()?, how).unwrap_or_else(|| names.refuse(place, why))
}

/// Opens it as soon as nobody has to wait for that.
fn again_and_again(place: NameInFolder, flags: OFlags, how: How) -> Waits {
    Waits::until(move || match openat(&place.folder, &place.name, flags, how.mode) {
        Err(Errno::NXIO | Errno::AGAIN) => None,
        opened => Some(opened.and_then(|file| finish(file, how))),
    })
}

/// Opens once more what a process has open.
fn again(names: &Names, caller: Caller<'_>, open: &OwnedFd, how: How) -> Done {
    if how.makes_anew() {
        return Err(Errno::EXIST);
    }
    let found = fstat(open)?;
    let kind = FileType::from_raw_mode(found.st_mode);
    if kind == FileType::Directory {
        return Err(Errno::ISDIR);
    }
    if kind == FileType::CharacterDevice
        && let Some(reply) = terminal(caller, found.st_rdev, how)
    {
        return reply;
    }
    // What has a name is judged by that. What has none any more, nobody obeys.
    if kind == FileType::RegularFile && found.st_nlink > 0 {
        let place = named(caller, open)?;
        if let Verdict::Refused(why) = names.rules.arrives(&place, Arrival::Opened) {
            return names.refuse(&place, why);
        }
    }
    let flags = how.here().difference(OFlags::NOFOLLOW | OFlags::CREATE | OFlags::EXCL);
    finish(openat(CWD, own_path(open.as_fd()), flags, how.mode)?, how)
}

/// The name of what is open, if it is there under the name that the kernel knows.
pub(super) fn named(caller: Caller<'_>, open: &OwnedFd) -> Result<NameInFolder, Errno> {
    let path = place_of(open.as_fd())?.into_os_string().into_vec();
    let Target::Name(place) = target(caller, &caller.root()?, &path)? else { return Err(Errno::ACCESS) };
    let (open, found) = (fstat(open)?, place.found()?);
    let is_it = (open.st_dev, open.st_ino) == (found.st_dev, found.st_ino);
    match is_it && !is_of_processes(place.folder.as_fd()) {
        true => Ok(place),
        false => Err(Errno::ACCESS),
    }
}

/// Opens a file of the kernel's about the process itself.
fn of_itself(caller: Caller<'_>, file: &Path, how: How) -> Done {
    let name = file.to_str().filter(|name| ITS_OWN.contains(name)).ok_or(Errno::ACCESS)?;
    finish(caller.opened(name, how.here().difference(OFlags::CREATE | OFlags::EXCL))?, how)
}

/// The reply to opening the controlling terminal; `None` for another device.
///
/// Every other terminal is opened here as well, and so becomes that of no session: that takes `TIOCSCTTY`, which is no path that
/// could lead elsewhere by the time the kernel looks at it.
fn terminal(caller: Caller<'_>, device: u64, how: How) -> Option<Done> {
    let number = (rustix::fs::major(device), rustix::fs::minor(device));
    (number == OWN_TERMINAL).then(|| own_terminal(caller, how))
}

/// Opens the terminal of a process by one of the descriptors by which it has it, or where such lie.
fn own_terminal(caller: Caller<'_>, how: How) -> Done {
    /// So many descriptors are looked at.
    const LOOKED_AT: i32 = 256;
    let device = caller.terminal().ok_or(Errno::NXIO)?;
    let is_it = |open: &OwnedFd| {
        fstat(open).is_ok_and(|it| {
            FileType::from_raw_mode(it.st_mode) == FileType::CharacterDevice && it.st_rdev == device
        })
    };
    let open = (0..LOOKED_AT).filter_map(|number| caller.descriptor(number).ok()).find(is_it);
    let number = rustix::fs::minor(device);
    let by_path = || -> Result<OwnedFd, Errno> {
        let path = PathBuf::from(OsString::from(format!("dev/pts/{number}")));
        openat(caller.root()?, path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
    };
    let open = open.or_else(|| by_path().ok().filter(is_it)).ok_or(Errno::NXIO)?;
    let flags = how.here().difference(OFlags::NOFOLLOW | OFlags::CREATE | OFlags::EXCL | OFlags::TRUNC);
    finish(openat(CWD, own_path(open.as_fd()), flags, how.mode)?, how)
}

/// Whether a folder is one of the kernel's about processes. Who opens what is there counts, and that would be this program.
pub(super) fn is_of_processes(folder: BorrowedFd<'_>) -> bool {
    fstatfs(folder).map_or(true, |found| found.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

/// Whether what lies in a place is a mount of its own that cannot be changed.
fn is_closed(place: &NameInFolder) -> bool {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(&place.folder, &place.name, flags, Mode::empty()).is_ok_and(|open| is_read_only(open.as_fd()))
}

/// Whether nothing can be changed in a folder.
pub(super) fn is_read_only(folder: BorrowedFd<'_>) -> bool {
    fstatvfs(folder).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::RDONLY))
}
