//! Opens files in the place of a command, and passes it the descriptors.

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

/// Maximum number of followed symlinks, as in the kernel.
const LINKS: usize = 40;

/// The device number of /dev/tty.
const OWN_TERMINAL: (u32, u32) = (5, 0);

/// Files of procfs that a process may write about itself.
const ITS_OWN: &[&str] =
    &["comm", "oom_score_adj", "oom_adj", "coredump_filter", "timerslack_ns", "autogroup"];

/// Opens a path.
pub(super) fn open(names: &Names, caller: Caller<'_>, begin: Option<i32>, text: &[u8], how: How) -> Done {
    // O_PATH has no effect on the file, so the call continues.
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
            // Like the kernel: open(2) with O_CREAT does not create a directory.
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
            // The file was deleted, created or replaced by a symlink meanwhile, so the path is resolved again.
            Err(Errno::LOOP | Errno::NOENT | Errno::EXIST) => {}
            reply => return reply,
        }
    }
    Err(Errno::LOOP)
}

/// Opens or creates a file by its name in a directory.
fn at(names: &Names, caller: Caller<'_>, mut place: NameInFolder, there: Option<FileType>, how: How) -> Done {
    let arrival = if there.is_some() { Arrival::Opened } else { Arrival::File };
    let flags = match there {
        // Without O_CREAT: if the file was deleted meanwhile, creating it needs another judgement.
        Some(_) => how.here().difference(OFlags::CREATE | OFlags::EXCL),
        // O_EXCL guarantees a new regular file, which does not block, so O_NONBLOCK is not needed.
        None => how.here().difference(OFlags::NONBLOCK) | how.flags & OFlags::NONBLOCK | OFlags::EXCL,
    };
    let _turn = names.turn(&place);
    place.look_again()?;
    match names.rules.arrives(&place, arrival) {
        Verdict::Fine => {}
        Verdict::Completes => names.complete(&place)?,
        Verdict::Published(_) => return names.refuse(&place, "git replaces its settings by a rename"),
        Verdict::Written(why) => return written(names, caller, &place, how, why),
        // On a read-only mount, the kernel's error is returned.
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
        Ok(file) => {
            names.wrote(&place);
            if there.is_none() { Ok(how.file(file)) } else { finish(file, how) }
        }
    }
}

/// Opens settings of a repository that are judged after they are written.
fn written(names: &Names, caller: Caller<'_>, place: &NameInFolder, how: How, why: &'static str) -> Done {
    if !how.flags.intersects(OFlags::WRONLY | OFlags::RDWR) || is_read_only(place.folder.as_fd()) {
        return names.refuse(place, why);
    }
    names.umask(caller);
    pending::begin(names, place.again()?, how).unwrap_or_else(|| names.refuse(place, why))
}

/// Retries opening a file until it does not block.
fn again_and_again(place: NameInFolder, flags: OFlags, how: How) -> Waits {
    Waits::until(move || match openat(&place.folder, &place.name, flags, how.mode) {
        Err(Errno::NXIO | Errno::AGAIN) => None,
        opened => Some(opened.and_then(|file| finish(file, how))),
    })
}

/// Reopens a descriptor of the process.
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
    // A file is judged by its name. A deleted file has none, and no program obeys it.
    if kind == FileType::RegularFile && found.st_nlink > 0 {
        let place = named(caller, open)?;
        if let Verdict::Refused(why) = names.rules.arrives(&place, Arrival::Opened) {
            return names.refuse(&place, why);
        }
    }
    let flags = how.here().difference(OFlags::NOFOLLOW | OFlags::CREATE | OFlags::EXCL);
    finish(openat(CWD, own_path(open.as_fd()), flags, how.mode)?, how)
}

/// Returns the name of an open file, if the kernel's path for it still refers to it.
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

/// Opens a file of procfs about the calling process.
fn of_itself(caller: Caller<'_>, file: &Path, how: How) -> Done {
    let name = file.to_str().filter(|name| ITS_OWN.contains(name)).ok_or(Errno::ACCESS)?;
    finish(caller.opened(name, how.here().difference(OFlags::CREATE | OFlags::EXCL))?, how)
}

/// Returns the reply to opening the controlling terminal; `None` for another device.
///
/// Other terminals are opened by this program, and so do not become the controlling terminal of the command's session. The
/// command can use `TIOCSCTTY` for that, which takes a descriptor and no path.
fn terminal(caller: Caller<'_>, device: u64, how: How) -> Option<Done> {
    let number = (rustix::fs::major(device), rustix::fs::minor(device));
    (number == OWN_TERMINAL).then(|| own_terminal(caller, how))
}

/// Opens the controlling terminal of a process through one of its descriptors, or its path in /dev/pts.
fn own_terminal(caller: Caller<'_>, how: How) -> Done {
    /// Maximum number of tried descriptors.
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

/// Whether a directory is in procfs. Its access checks apply to the opening process, which would be this program.
pub(super) fn is_of_processes(folder: BorrowedFd<'_>) -> bool {
    fstatfs(folder).map_or(true, |found| found.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

/// Whether a file is a read-only mount.
fn is_closed(place: &NameInFolder) -> bool {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(&place.folder, &place.name, flags, Mode::empty()).is_ok_and(|open| is_read_only(open.as_fd()))
}

/// Whether a directory is on a read-only mount.
pub(super) fn is_read_only(folder: BorrowedFd<'_>) -> bool {
    fstatvfs(folder).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::RDONLY))
}
