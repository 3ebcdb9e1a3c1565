//! Settings that a command writes directly into a complete repository, as `cp -r` does.
//!
//! The command gets an unnamed file (O_TMPFILE), and an empty file is created at the path. As soon as no process has the first
//! one open for writing, a copy of it is judged, and replaces the empty file.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{CWD, Mode, OFlags, fstat, openat};
use rustix::io::Errno;

use super::how::{How, finish};
use super::publish::{Stopped, publish_copy, put};
use super::target::{NameInFolder, own_path, place_of};
use super::{Done, Names};
use crate::host::FileIdentity;
use crate::sys::raw;
use crate::workspace::walk::stamp_of;

/// Maximum number of pending files, because each uses descriptors of this program.
const MAX_PENDING: usize = 64;

/// The files that are pending.
#[derive(Debug, Default)]
pub(super) struct Pending {
    written: Mutex<Vec<Written>>,
    is_any: AtomicBool,
}

/// A file that is pending.
#[derive(Debug)]
struct Written {
    file: OwnedFd,
    place: NameInFolder,
    /// The identity of the empty file.
    there: FileIdentity,
}

impl Pending {
    fn written(&self) -> MutexGuard<'_, Vec<Written>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a file is pending.
    pub(super) fn is_any(&self) -> bool {
        self.is_any.load(Ordering::SeqCst)
    }
}

/// Returns an unnamed file for new settings; nothing if the file system does not support that.
pub(super) fn begin(names: &Names, place: NameInFolder, how: How) -> Option<Done> {
    let mut written = names.pending.written();
    if written.len() >= MAX_PENDING {
        return None;
    }
    let flags = how.here().difference(OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW);
    let given =
        openat(&place.folder, ".", flags | OFlags::TMPFILE | OFlags::EXCL, how.mode | Mode::RUSR).ok()?;
    let file = openat(CWD, own_path(given.as_fd()), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    // A lease must detect the open writer here, or the end of writing could not be detected either.
    if raw::is_written(file.as_fd()) != Ok(true) {
        return None;
    }
    // The mode that the kernel chose for the unnamed file, which includes the command's umask.
    let mode = Mode::from_raw_mode(fstat(&given).ok()?.st_mode & 0o777);
    if let Err(error) = put(&[], mode | Mode::RUSR | Mode::WUSR, &place) {
        return Some(Err(error));
    }
    let there = stamp_of(place.folder.as_fd(), Path::new(&place.name)).ok()?.file;
    written.push(Written { file, place, there });
    names.pending.is_any.store(true, Ordering::SeqCst);
    Some(finish(given, how))
}

/// Publishes files that no process has open for writing, and all of them when the command has ended.
pub(super) fn settle(names: &Names, is_at_the_end: bool) {
    let mut written = names.pending.written();
    let is_over = |one: &mut Written| is_at_the_end || raw::is_written(one.file.as_fd()) != Ok(true);
    for one in written.extract_if(.., is_over).collect::<Vec<_>>() {
        let mut place = one.place;
        // The directory may have been moved meanwhile.
        let Ok(path) = place_of(place.folder.as_fd()) else { continue };
        place.path = path;
        let is_there =
            stamp_of(place.folder.as_fd(), Path::new(&place.name)).is_ok_and(|it| it.file == one.there);
        if !is_there {
            continue;
        }
        match publish_copy(&names.rules, one.file, &place) {
            Ok(()) => {}
            Err(Stopped::Refused(why)) => names.note(&place, why),
            Err(Stopped::Error(Errno::NOENT)) => {}
            Err(Stopped::Error(error)) => {
                names.note(&place, format!("its new content could not be read: {error}"));
            }
        }
    }
    names.pending.is_any.store(!written.is_empty(), Ordering::SeqCst);
}
