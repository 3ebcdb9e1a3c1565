//! Deletes a directory tree of a command, including directories without permissions, and trees deeper than PATH_MAX and the limit
//! on descriptors.
//!
//! Nested directories are moved to the top before their parent is deleted, so no path has to be remembered. It must not
//! allocate or lock. All processes that could change the tree must have ended.

use std::ffi::CStr;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd, RawFd};

use super::raw::{self, Result};

/// Maximum length of the directory's name, with its NUL byte.
const NAME: usize = 64;

/// Offsets of the name and the length in a directory entry, see getdents64(2).
const AT_NAME: usize = 19;
const AT_LENGTH: usize = 16;

/// All permissions for the owner.
const OPEN: u32 = 0o700;

/// A directory to delete, as plain numbers that are valid in a forked process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScratchDir {
    parent: RawFd,
    folder: RawFd,
    name: [u8; NAME],
}

impl ScratchDir {
    /// Returns a handle; nothing if the name is too long. The descriptors must stay open.
    pub(crate) fn new(parent: BorrowedFd<'_>, folder: BorrowedFd<'_>, name: &[u8]) -> Option<Self> {
        let mut room = [0; NAME];
        let (text, end) = room.split_at_mut_checked(name.len())?;
        text.copy_from_slice(name);
        (!end.is_empty()).then_some(Self {
            parent: parent.as_raw_fd(),
            folder: folder.as_raw_fd(),
            name: room,
        })
    }

    /// Deletes the directory, as far as possible.
    pub(crate) fn remove(&self) {
        let Ok(name) = CStr::from_bytes_until_nul(&self.name) else { return };
        raw::set_mode_of(self.folder, OPEN).ok();
        let mut numbers = 0;
        // Each round deletes the entries at the top, and moves the next level of directories up.
        while each_name(self.folder, |name| take(self.folder, name, &mut numbers)) {}
        raw::unlink(self.parent, name, libc::AT_REMOVEDIR).ok();
    }
}

/// Deletes an entry at the top. Returns whether anything changed.
fn take(top: RawFd, name: &CStr, numbers: &mut u64) -> bool {
    if raw::unlink(top, name, 0).is_ok() {
        return true;
    }
    let Ok(folder) = open(top, name) else { return false };
    let folder = folder.as_raw_fd();
    let brought = each_name(folder, |name| {
        raw::unlink(folder, name, 0).is_ok()
            || (open(folder, name).is_ok() && bring_up(folder, name, top, numbers))
    });
    raw::unlink(top, name, libc::AT_REMOVEDIR).is_ok() || brought
}

/// Opens a directory, adding permissions first. Symlinks are refused.
fn open(at: RawFd, name: &CStr) -> Result<OwnedFd> {
    drop(raw::open_path(at, name, libc::O_PATH | libc::O_DIRECTORY, true)?);
    raw::set_mode(at, name, OPEN)?;
    raw::open_path(at, name, libc::O_RDONLY | libc::O_DIRECTORY, true)
}

/// Moves a directory to the top, under the next unused number.
fn bring_up(from: RawFd, name: &CStr, top: RawFd, numbers: &mut u64) -> bool {
    loop {
        let text = in_digits(*numbers);
        *numbers = numbers.wrapping_add(1);
        let Ok(number) = CStr::from_bytes_until_nul(&text) else { return false };
        match raw::rename(from, name, top, number) {
            Ok(()) => return true,
            Err(libc::EEXIST | libc::ENOTEMPTY | libc::ENOTDIR) => {}
            Err(_) => return false,
        }
    }
}

fn in_digits(number: u64) -> [u8; 17] {
    let mut text = [0; 17];
    for (place, digit) in text.iter_mut().take(16).enumerate() {
        *digit = b'a' + ((number >> (4 * place)) & 0xf) as u8;
    }
    text
}

/// Calls `with` for each name in a directory. Returns whether any call returned true.
fn each_name(folder: RawFd, mut with: impl FnMut(&CStr) -> bool) -> bool {
    let mut room = [0u8; 4096];
    let mut any = false;
    raw::rewind(folder).ok();
    while let Ok(length @ 1..) = raw::entries(folder, &mut room) {
        let mut rest = room.get(..length).unwrap_or_default();
        while let Some((name, next)) = first(rest) {
            any |= name != c"." && name != c".." && with(name);
            rest = next;
        }
    }
    any
}

/// Returns the name of the first entry, and the remaining entries.
fn first(entries: &[u8]) -> Option<(&CStr, &[u8])> {
    let length = entries.get(AT_LENGTH..AT_LENGTH + 2)?.try_into().map(u16::from_ne_bytes).ok()?;
    let name = CStr::from_bytes_until_nul(entries.get(AT_NAME..usize::from(length))?).ok()?;
    Some((name, entries.get(usize::from(length)..)?))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "makes folders to remove")]

    use super::*;
    use std::fs::{self, File, Permissions};
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn a_tree_is_removed_completely_and_alone() {
        let around = tempfile::tempdir().unwrap();
        let path = around.path().join("doomed");
        fs::create_dir_all(path.join("closed/inner/aaaaaaaaaaaaaaaa")).unwrap();
        fs::write(around.path().join("kept"), "").unwrap();
        fs::write(path.join("closed/file"), "").unwrap();
        // Used numbers: a file, and a non-empty directory.
        fs::write(path.join("aaaaaaaaaaaaaaaa"), "").unwrap();
        fs::create_dir_all(path.join("baaaaaaaaaaaaaaa/x")).unwrap();
        symlink(around.path(), path.join("closed/link")).unwrap();
        symlink("..", path.join("link")).unwrap();
        (0..500).for_each(|number| fs::write(path.join(format!("closed/{number:0200}")), "").unwrap());
        for closed in ["closed/inner", "closed", ""] {
            fs::set_permissions(path.join(closed), Permissions::from_mode(0o000)).unwrap();
        }
        remove(around.path(), "doomed");
        let left: Vec<_> = fs::read_dir(around.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(left, ["kept"]);
    }

    #[test]
    fn no_folder_is_too_deep() {
        let around = tempfile::tempdir().unwrap();
        fs::create_dir(around.path().join("doomed")).unwrap();
        let mut folder: OwnedFd = File::open(around.path().join("doomed")).unwrap().into();
        let name = c"a-name-that-makes-paths-long-in-a-short-time";
        for _ in 0..3000 {
            raw::make_folder(folder.as_raw_fd(), name, OPEN).unwrap();
            folder = raw::open_path(folder.as_raw_fd(), name, libc::O_PATH, true).unwrap();
        }
        remove(around.path(), "doomed");
        assert_eq!(fs::read_dir(around.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_name_that_is_too_long_is_rejected() {
        let here = File::open("/").unwrap();
        for (length, is_one) in [(0, true), (NAME - 1, true), (NAME, false), (NAME + 1, false)] {
            let doomed = ScratchDir::new(here.as_fd(), here.as_fd(), &vec![b'x'; length]);
            assert_eq!(doomed.is_some(), is_one, "{length}");
        }
    }

    fn remove(around: &std::path::Path, name: &str) {
        let parent = File::open(around).unwrap();
        let folder = raw::open_path(parent.as_raw_fd(), c"doomed", libc::O_RDONLY, true);
        // Without root, the directory must be opened before its permissions are removed, as it is for a command.
        let folder = folder.or_else(|_| {
            fs::set_permissions(around.join(name), Permissions::from_mode(OPEN)).unwrap();
            raw::open_path(parent.as_raw_fd(), c"doomed", libc::O_RDONLY, true)
        });
        ScratchDir::new(parent.as_fd(), folder.unwrap().as_fd(), name.as_bytes()).unwrap().remove();
    }
}
