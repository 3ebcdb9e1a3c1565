//! Settings of a repository that a command writes where the repository is complete already, as `cp -r` does.
//!
//! The command gets a file that has no name, and an empty one lies in the place. As soon as nobody has the first one open for
//! writing any more, a copy of it is judged, and put there.

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

/// So many at once: each takes descriptors of this program.
const MAX_PENDING: usize = 64;

/// What is being written.
#[derive(Debug, Default)]
pub(super) struct Pending {
    written: Mutex<Vec<Written>>,
    is_any: AtomicBool,
}

/// One file that is.
#[derive(Debug)]
struct Written {
    file: OwnedFd,
    place: NameInFolder,
    /// The empty file that lies there meanwhile.
    there: FileIdentity,
}

impl Pending {
    fn written(&self) -> MutexGuard<'_, Vec<Written>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether something is being written.
    pub(super) fn is_any(&self) -> bool {
        self.is_any.load(Ordering::SeqCst)
    }
}

/// Hands out a file without a name for the settings that come to lie in a place. Nothing where this disk cannot do that.
pub(super) fn begin(names: &Names, place: NameInFolder, how: How) -> Option<Done> {
    let mut written = names.pending.written();
    if written.len() >= MAX_PENDING {
        return None;
    }
    let flags = how.here().difference(OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW);
    let given =
        openat(&place.folder, ".", flags | OFlags::TMPFILE | OFlags::EXCL, how.mode | Mode::RUSR).ok()?;
    let file = openat(CWD, own_path(given.as_fd()), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    // It is open for writing, and that must be seen.
    if raw::is_written(file.as_fd()) != Ok(true) {
        return None;
    }
    // As the file was made: the mask of the command counts for both.
    let mode = Mode::from_raw_mode(fstat(&given).ok()?.st_mode & 0o777);
    if let Err(error) = put(&[], mode | Mode::RUSR | Mode::WUSR, &place) {
        return Some(Err(error));
    }
    let there = stamp_of(place.folder.as_fd(), Path::new(&place.name)).ok()?.file;
    written.push(Written { file, place, there });
    names.pending.is_any.store(true, Ordering::SeqCst);
    Some(finish(given, how))
}

/// Puts in place what was written to its end: what nobody has open for writing, and all of it where the command is over.
pub(super) fn settle(names: &Names, is_at_the_end: bool) {
    let mut written = names.pending.written();
    let is_over = |one: &mut Written| is_at_the_end || raw::is_written(one.file.as_fd()) != Ok(true);
    for one in written.extract_if(.., is_over).collect::<Vec<_>>() {
        let mut place = one.place;
        // The folder may lie elsewhere by now.
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
                names.note(&place, format!("what was written could not be read: {error}"));
            }
        }
    }
    names.pending.is_any.store(!written.is_empty(), Ordering::SeqCst);
}
