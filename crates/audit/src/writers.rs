//! Who is writing: which starts without an end are still under way, and which were cut off.
//!
//! Each writer holds a lock on a file of its own beside the trail. The kernel lets go of it when the process ends, however
//! it ends, and no other process can be mistaken for it, as could happen with its number.
#![expect(clippy::disallowed_methods, reason = "creates, locks and removes the files of the writers")]

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use stockade_files::{OwnAccess, open_own};

use crate::lock_wait::open_at_once;
use crate::name::new_name;
use crate::private::create_private_folder;

/// A writer. The file stays locked until this is dropped.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) name: String,
    path: PathBuf,
    /// Held for its lock.
    _file: File,
}

impl Writer {
    /// Takes a place in the folder of the writers.
    pub(crate) fn enter(folder: &Path) -> io::Result<Self> {
        loop {
            let name = new_name()?;
            let path = folder.join(&name);
            let file = match create(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    create_private_folder(folder)?;
                    create(&path)?
                }
                created => created?,
            };
            // Before it is locked, another process may treat the file as left over, and lock or remove it.
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) if is_still_there(&file) => return Ok(Self { name, path, _file: file }),
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => drop(fs::remove_file(&path)),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // What is left behind is removed when the trail is opened next.
        fs::remove_file(&self.path).ok();
    }
}

/// Whether a writer still runs. Where that cannot be told it does: an end is never put on record for what goes on.
pub(crate) fn is_alive(folder: &Path, name: &str) -> bool {
    // The name comes from the trail, and an attacker who edited that could have named any file.
    if !is_name(name) {
        return false;
    }
    match open_at_once(&folder.join(name)) {
        Ok(file) => flock(&file, FlockOperation::NonBlockingLockExclusive).is_err(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

fn create(path: &Path) -> io::Result<File> {
    open_own(path, OwnAccess::Create)
}

/// Removes the files of writers that are gone. `own` is the name of a writer that is known to be there.
pub(crate) fn clear(folder: &Path, own: &str) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let Some(name) = name.to_str().filter(|name| is_name(name) && *name != own) else { continue };
        let path = folder.join(name);
        let Ok(file) = open_at_once(&path) else { continue };
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() && is_still_there(&file) {
            // While it is locked here, a process that just created it finds it gone and creates another.
            fs::remove_file(&path).ok();
        }
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether the file of a writer has its name still: nothing but [`clear`] takes it away, and it has no other.
fn is_still_there(file: &File) -> bool {
    file.metadata().is_ok_and(|open| open.nlink() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_is_alive_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let one = Writer::enter(folder.path()).unwrap();
        let other = Writer::enter(folder.path()).unwrap();
        assert_ne!(one.name, other.name);
        assert!(is_alive(folder.path(), &one.name) && is_alive(folder.path(), &other.name));
        let name = one.name.clone();
        drop(one);
        assert!(!is_alive(folder.path(), &name) && is_alive(folder.path(), &other.name));
    }

    #[test]
    fn a_writer_that_starts_during_a_cleanup_gets_its_own_file() {
        let folder = tempfile::tempdir().unwrap();
        let come_and_go = || {
            for _ in 0..300 {
                let writer = Writer::enter(folder.path()).unwrap();
                clear(folder.path(), &writer.name).unwrap();
                assert!(is_alive(folder.path(), &writer.name));
            }
        };
        std::thread::scope(|threads| {
            let all: Vec<_> = (0..8).map(|_| threads.spawn(come_and_go)).collect();
            assert!(all.into_iter().all(|one| one.join().is_ok()));
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_crash_left_behind_is_cleared_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let alive = Writer::enter(folder.path()).unwrap();
        fs::write(folder.path().join("00ff"), "").unwrap();
        fs::write(folder.path().join("notes.txt"), "").unwrap();
        assert!(!is_alive(folder.path(), "00ff"));
        clear(folder.path(), "").unwrap();
        let mut left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        let mut expected = [alive.name.clone().into(), std::ffi::OsString::from("notes.txt")];
        expected.sort();
        assert_eq!(left, expected);
    }

    #[test]
    fn a_name_from_the_trail_cannot_reach_other_files() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["", "../x", "/etc/passwd", "x"] {
            assert!(!is_alive(folder.path(), name), "{name}");
        }
    }
}
