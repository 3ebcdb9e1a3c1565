//! Files that are trusted because of their permissions, such as settings.

#![expect(clippy::disallowed_methods, reason = "reads files of our own, and asks who may write them")]

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use thiserror::Error;

use crate::owned_path::{NotOwned, check_owned};

/// Users that may write a trusted file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writers {
    /// Root alone, and the same for its directory: with write access to the directory, the file could be replaced.
    Root,
    /// The owner, who is this user or root; the same for each directory and link on the way.
    Owner,
    /// Any user: the file is not trusted.
    Anybody,
}

/// Why a file is not trusted, or cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrustedFileError {
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// It is a directory, a pipe or a device.
    #[error("it is not a regular file")]
    NoFile,
    /// It was replaced by another file.
    #[error("it was replaced while it was read")]
    Exchanged,
    /// Users other than root can write it or its directory.
    #[error("users other than root can write it or its directory")]
    NotOfRoot,
    /// Users other than its owner can write it.
    #[error("other users can write it")]
    OpenToOthers,
    /// It belongs to another user, or another user could replace it.
    #[error("it is not trusted: {0}")]
    NotOwned(#[from] NotOwned),
}

/// Reads a text file, up to one byte more than `max_bytes`, so that the parser notices an excess.
///
/// # Errors
/// When others than `writers` may write it, or it is not a file of text.
pub fn read_trusted(path: &Path, writers: Writers, max_bytes: usize) -> Result<String, TrustedFileError> {
    // Do not open what may be a pipe: the open would wait for a writer.
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(TrustedFileError::NoFile);
    }
    let file = File::open(path)?;
    let opened = file.metadata()?;
    if (opened.dev(), opened.ino()) != (metadata.dev(), metadata.ino()) {
        return Err(TrustedFileError::Exchanged);
    }
    written_by(&opened, writers)?;
    if writers == Writers::Owner {
        check_owned(path)?;
    }
    if let (Writers::Root, Some(folder)) = (writers, path.parent()) {
        written_by(&fs::metadata(folder)?, writers)?;
    }
    let mut text = String::new();
    let most = u64::try_from(max_bytes).unwrap_or(u64::MAX).saturating_add(1);
    file.take(most).read_to_string(&mut text)?;
    Ok(text)
}

fn written_by(metadata: &Metadata, writers: Writers) -> Result<(), TrustedFileError> {
    let others = metadata.mode() & 0o022 != 0;
    match writers {
        Writers::Root if metadata.uid() != 0 || others => Err(TrustedFileError::NotOfRoot),
        Writers::Owner if others => Err(TrustedFileError::OpenToOthers),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn only_what_its_writers_may_write_is_believed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings");
        fs::write(&file, "four").unwrap();
        let read = |mode: u32, writers| {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            read_trusted(&file, writers, 3)
        };
        assert_eq!(read(0o600, Writers::Owner).unwrap(), "four");
        assert!(matches!(read(0o620, Writers::Owner), Err(TrustedFileError::OpenToOthers)));
        assert!(matches!(read(0o602, Writers::Root), Err(TrustedFileError::NotOfRoot)));
        assert_eq!(read(0o666, Writers::Anybody).unwrap(), "four");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(read_trusted(&file, Writers::Root, 9), Err(TrustedFileError::NotOfRoot)));
    }

    #[test]
    fn no_more_is_read_than_shows_that_it_is_too_long() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings");
        fs::write(&file, "x".repeat(1000)).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(read_trusted(&file, Writers::Owner, 10).unwrap().len(), 11);
        assert!(matches!(read_trusted(folder.path(), Writers::Owner, 10), Err(TrustedFileError::NoFile)));
    }
}
