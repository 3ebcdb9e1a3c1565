//! Opens files that a program obeys or keeps.
//!
//! Whose a file is, [`check_owned`](crate::check_owned) tells by the directories on its path. Opening it adds that nothing is read, written
//! or created where a symlink leads, and that nothing waits for the other end of a pipe.

#![expect(clippy::disallowed_methods, reason = "opens files of our own")]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// What a file that is kept is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnAccess {
    /// To read it. It must exist.
    Read,
    /// To read and change it. It must exist.
    Change,
    /// To read and change it. A missing file is created, readable by its owner alone.
    Keep,
    /// To read it and to add to its end. A missing file is created.
    Append,
    /// To write it anew: what is in it goes. A missing file is created.
    Replace,
    /// To write it. It must not exist.
    Create,
}

/// Opens a file that this user keeps. The last component is not followed where it is a symlink.
///
/// # Errors
/// When the file cannot be opened, or is a symlink.
pub fn open_own(path: &Path, access: OwnAccess) -> io::Result<File> {
    let mut options = OpenOptions::new();
    match access {
        OwnAccess::Read => options.read(true),
        OwnAccess::Change => options.read(true).write(true),
        OwnAccess::Keep => options.read(true).write(true).create(true).truncate(false),
        OwnAccess::Append => options.read(true).append(true).create(true),
        OwnAccess::Replace => options.write(true).create(true).truncate(true),
        OwnAccess::Create => options.write(true).create_new(true),
    };
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    options.mode(0o600).custom_flags(flags.bits().cast_signed()).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    const ALL: &[OwnAccess] = &[
        OwnAccess::Read,
        OwnAccess::Change,
        OwnAccess::Keep,
        OwnAccess::Append,
        OwnAccess::Replace,
        OwnAccess::Create,
    ];

    #[test]
    fn nothing_is_followed_waited_for_or_created_for_others() {
        for access in ALL {
            let folder = tempfile::tempdir().unwrap();
            let path = |name: &str| folder.path().join(name);
            fs::write(path("target"), "text").unwrap();
            for (link, to) in [("link", "target"), ("dangling", "made")] {
                std::os::unix::fs::symlink(to, path(link)).unwrap();
                assert!(open_own(&path(link), *access).is_err(), "{access:?} {link}");
            }
            assert!(!path("made").exists() && fs::read_to_string(path("target")).unwrap() == "text");
            rustix::fs::mknodat(rustix::fs::CWD, path("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
                .unwrap();
            // Whether it opens depends on the system; that it returns is what counts.
            drop(open_own(&path("pipe"), *access));
            let creates = !matches!(access, OwnAccess::Read | OwnAccess::Change);
            let made = open_own(&path("new"), *access);
            assert_eq!(made.is_ok(), creates, "{access:?}");
            if let Ok(made) = made {
                assert_eq!(made.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{access:?}");
            }
        }
    }
}
