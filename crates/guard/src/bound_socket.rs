//! A Unix socket for programs of named users, in a directory that other users cannot change.
#![expect(clippy::disallowed_methods, reason = "makes a socket, and removes that of a server that is gone")]

use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;
use thiserror::Error;

/// Write permission for the group and for others.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// A listening socket. Dropping it removes the socket file, unless another program has replaced it.
#[derive(Debug)]
pub struct BoundSocket {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode number of the file.
    file: (u64, u64),
}

/// Why the socket cannot be created.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BoundSocketError {
    /// The directory cannot be used.
    #[error("cannot use the directory {}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Another user could replace the socket.
    #[error("other users can write to the directory {}, and could replace the socket", path.display())]
    SharedFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The path is taken by something other than a socket.
    #[error("{} already exists, and is not a socket of this user", path.display())]
    Taken {
        /// The path.
        path: PathBuf,
    },
    /// Another server listens at this path.
    #[error("another server already listens on {}", path.display())]
    InUse {
        /// The path.
        path: PathBuf,
    },
    /// The socket cannot be created.
    #[error("cannot listen on {}: {source}", path.display())]
    Listen {
        /// The path.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl BoundSocketError {
    /// Returns the fix.
    #[must_use]
    pub const fn fix(&self) -> &'static str {
        match self {
            Self::SharedFolder { .. } => "use a path in a private directory: mkdir -m 700 DIRECTORY",
            Self::Taken { .. } => "use another path, or move the existing file away",
            Self::InUse { .. } => "use that server, or choose another path",
            Self::Folder { .. } | Self::Listen { .. } => "use a path in a directory that you own",
        }
    }
}

impl BoundSocket {
    /// Listens at a path, with these permissions. A stale socket is replaced.
    ///
    /// # Errors
    /// When the directory is not safe, or the path is taken.
    pub fn bind(path: &Path, mode: u32) -> Result<Self, BoundSocketError> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let unusable = |source| BoundSocketError::Folder { path: parent.to_owned(), source };
        let folder = fs::canonicalize(parent).map_err(unusable)?;
        let handle = File::open(&folder).map_err(unusable)?;
        let data = handle.metadata().map_err(unusable)?;
        let is_ours = data.uid() == geteuid().as_raw() || data.uid() == 0;
        if !is_ours || data.mode() & WRITABLE_BY_OTHERS != 0 {
            return Err(BoundSocketError::SharedFolder { path: parent.to_owned() });
        }
        // Locked, so that two servers that start together do not both replace a stale socket.
        flock(handle.as_fd(), FlockOperation::LockExclusive).map_err(|error| unusable(error.into()))?;
        let real = folder.join(path.file_name().unwrap_or_default());
        remove_stale(&real, path)?;
        let failed = |source| BoundSocketError::Listen { path: path.to_owned(), source };
        let listener = UnixListener::bind(&real).map_err(failed)?;
        // Until the mode is set, the check of the peer's user refuses other clients.
        fs::set_permissions(&real, fs::Permissions::from_mode(mode)).map_err(failed)?;
        let data = fs::symlink_metadata(&real).map_err(failed)?;
        Ok(Self { listener, path: real, file: (data.dev(), data.ino()) })
    }

    /// Returns the listener.
    #[must_use]
    pub const fn listener(&self) -> &UnixListener {
        &self.listener
    }

    /// Returns the path, without symlinks.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for BoundSocket {
    fn drop(&mut self) {
        let is_ours = |data: &fs::Metadata| (data.dev(), data.ino()) == self.file;
        if fs::symlink_metadata(&self.path).is_ok_and(|data| is_ours(&data)) {
            fs::remove_file(&self.path).ok();
        }
    }
}

/// Removes a stale socket. Messages use the path `named`.
fn remove_stale(path: &Path, named: &Path) -> Result<(), BoundSocketError> {
    let failed = |source| BoundSocketError::Listen { path: named.to_owned(), source };
    let data = match fs::symlink_metadata(path) {
        Ok(data) => data,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    if !data.file_type().is_socket() || data.uid() != geteuid().as_raw() {
        return Err(BoundSocketError::Taken { path: named.to_owned() });
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(failed)
        }
        Ok(_) => Err(BoundSocketError::InUse { path: named.to_owned() }),
        Err(error) => Err(failed(error)),
    }
}
