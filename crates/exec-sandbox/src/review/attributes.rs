//! Extended attributes: those of users are copied, those of overlayfs are removed.

use std::ffi::OsStr;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{
    Mode, XattrFlags, chmod, lgetxattr, lgetxattr_query, llistxattr, llistxattr_query, lremovexattr,
    lsetxattr,
};
use rustix::io::Errno;

use super::at::{Look, own_path_of};

/// The prefix of overlayfs attributes. Overlayfs escapes attributes with this prefix that a command sets.
const OF_THE_VIEW: &[u8] = b"user.overlay.";

/// Marks a directory as opaque: lower entries are not visible in it.
const OPAQUE: &str = "user.overlay.opaque";

const OF_USERS: &[u8] = b"user.";

/// Whether a directory is opaque.
pub(super) fn is_opaque(folder: &Path) -> bool {
    let mut value = [0; 1];
    lgetxattr(folder, OPAQUE, &mut value[..]).is_ok() && value == *b"y"
}

/// Returns the names of a file's attributes.
fn names(path: &Path) -> io::Result<Vec<Vec<u8>>> {
    let length = match llistxattr_query(path) {
        Err(Errno::OPNOTSUPP) | Ok(0) => return Ok(Vec::new()),
        length => length?,
    };
    let mut room = vec![0; length];
    let length = llistxattr(path, &mut room[..])?;
    let names = room.get(..length).unwrap_or_default().split(|byte| *byte == 0);
    Ok(names.filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect())
}

/// Returns the user's attributes of a file, with their values.
pub(super) fn of_users(path: &Path) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let is_meant = |name: &Vec<u8>| name.starts_with(OF_USERS) && !name.starts_with(OF_THE_VIEW);
    let mut attributes = Vec::new();
    for name in names(path)?.into_iter().filter(is_meant) {
        let mut value = vec![0; lgetxattr_query(path, OsStr::from_bytes(&name))?];
        let length = lgetxattr(path, OsStr::from_bytes(&name), &mut value[..])?;
        value.truncate(length);
        attributes.push((name, value));
    }
    Ok(attributes)
}

/// Copies the user's attributes of a file. Symlinks have none.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for (name, value) in of_users(from)? {
        match lsetxattr(to, OsStr::from_bytes(&name), &value, XattrFlags::empty()) {
            Err(Errno::OPNOTSUPP) => return Ok(()),
            set => set?,
        }
    }
    Ok(())
}

/// Removes overlayfs attributes, including imitations of them.
pub(super) fn strip(folder: BorrowedFd<'_>, name: &OsStr, look: &Look) -> io::Result<()> {
    let path = own_path_of(folder, name);
    let kept: Vec<Vec<u8>> = names(&path)?.into_iter().filter(|name| name.starts_with(OF_THE_VIEW)).collect();
    kept.iter().try_for_each(|kept| match lremovexattr(&path, OsStr::from_bytes(kept)) {
        // The file is not writable for its owner.
        Err(Errno::ACCESS) => unlocked(&path, look, |path| Ok(lremovexattr(path, OsStr::from_bytes(kept))?)),
        removed => Ok(removed?),
    })
}

/// Calls `with` while the owner has all permissions on a file.
fn unlocked(path: &PathBuf, look: &Look, with: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let mode = Mode::from_raw_mode(look.mode);
    chmod(path, mode | Mode::RWXU)?;
    let done = with(path);
    chmod(path, mode)?;
    done
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "makes files with attributes")]

    use super::*;

    #[test]
    fn extended_attributes_of_users_are_merged_but_not_those_of_the_overlay() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        std::fs::write(&one, "").unwrap();
        std::fs::write(&other, "").unwrap();
        if lsetxattr(&one, "user.own", b"yes", XattrFlags::empty()).is_err() {
            println!("skipped: files have no attributes of users here");
            return;
        }
        lsetxattr(&one, "user.overlay.opaque", b"y", XattrFlags::empty()).unwrap();
        copy(&one, &other).unwrap();
        let wanted = [(b"user.own".to_vec(), b"yes".to_vec())];
        assert_eq!(of_users(&one).unwrap(), wanted);
        assert_eq!(of_users(&other).unwrap(), wanted);
        assert!(is_opaque(&one) && !is_opaque(&other));
    }
}
