//! Regular files, told from what another program may have put in their place.
//!
//! Opening a named pipe waits for its other end, which may never come. So a file that a program reads by its name is opened
//! without waiting, and is read only if it is one.

#![expect(clippy::disallowed_methods, reason = "opens files by their names")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a regular file for reading, without waiting. A symlink is followed.
///
/// # Errors
/// When it cannot be opened, or is not a regular file: a pipe, a socket, a device or a directory.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular()) }
}

/// Reads a regular file whole, without waiting. A symlink is followed.
///
/// # Errors
/// When it cannot be read, is not a regular file, or has more bytes than `max_bytes`.
pub fn read_regular(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let too_large = || io::Error::from(io::ErrorKind::FileTooLarge);
    let file = open_regular(path)?;
    if file.metadata()?.len() > max_bytes {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes { Err(too_large()) } else { Ok(bytes) }
}

/// Checks a file before a library opens it by its name. A missing file is no error.
///
/// # Errors
/// When it is not a regular file, or cannot be looked at.
pub fn check_regular(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(()),
        Ok(_) => Err(not_regular()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn only_regular_files_are_opened_and_nothing_waits() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "text").unwrap();
        std::os::unix::fs::symlink("file", path("link")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, path("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .unwrap();
        let _socket = UnixListener::bind(path("socket")).unwrap();
        for name in ["file", "link"] {
            let mut text = String::new();
            open_regular(&path(name)).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(read_regular(&path(name), 4).unwrap(), b"text");
            assert!(read_regular(&path(name), 3).is_err(), "it has more");
            assert_eq!(text, "text", "{name}");
            check_regular(&path(name)).unwrap();
        }
        for name in ["pipe", "socket", "."] {
            assert!(open_regular(&path(name)).is_err(), "{name}");
            assert_eq!(
                check_regular(&path(name)).unwrap_err().to_string(),
                "it is not a regular file",
                "{name}"
            );
        }
        assert_eq!(open_regular(&path("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
        check_regular(&path("none")).unwrap();
    }
}
