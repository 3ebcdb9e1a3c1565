//! A file of text that programs and people change: read whole, replaced whole, by one writer at a time.
#![expect(clippy::disallowed_methods, reason = "reads and replaces the file that it is asked to keep")]

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Gid, OFlags, Uid};

/// A file of text that is only ever replaced whole: a reader, a crash or a full disk never sees half of it.
///
/// A name that is a link is refused, as is a file that others can write: whoever keeps what matters in it would obey them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFile {
    path: PathBuf,
    max_bytes: u64,
}

/// A kept file could not be read or replaced. It is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeptFileError {
    /// The name is a link, and the file would be another one.
    #[error("it is a link: name the file that it leads to")]
    Link,
    /// There is something of this name that is no file.
    #[error("it is no file")]
    NoFile,
    /// Others than its owner can write the file.
    #[error("others can write it: run `chmod go-w` on it, after reading it")]
    OpenToOthers,
    /// The file is longer than it may be.
    #[error("it has more than {max} bytes")]
    TooLong {
        /// The most bytes that it may have.
        max: u64,
    },
    /// The system refuses, or the file holds no text.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl KeptFile {
    /// Returns the file of this name, which need not exist yet. Nothing is read or written.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, max_bytes: u64) -> Self {
        Self { path: path.into(), max_bytes }
    }

    /// Returns the name of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the file; nothing where there is none.
    ///
    /// # Errors
    /// When there is a file and not all of it can be read, or others can write it.
    pub fn read(&self) -> Result<Option<String>, KeptFileError> {
        Ok(self.open()?.map(|(text, _)| text))
    }

    /// Has `change` say what the file is to hold, by what it holds, and replaces it where that is something else. Others who
    /// change it meanwhile wait. Returns whether it was replaced.
    ///
    /// # Errors
    /// When the file cannot be read or replaced, or `change` fails. The file is as it was then.
    pub fn change<E: From<KeptFileError>>(
        &self,
        change: impl FnOnce(Option<&str>) -> Result<String, E>,
    ) -> Result<bool, E> {
        let _lock = self.lock().map_err(KeptFileError::from)?;
        let before = self.open()?;
        let text = before.as_ref().map(|(text, _)| text.as_str());
        let after = change(text)?;
        if text == Some(after.as_str()) {
            return Ok(false);
        }
        let metadata = before.as_ref().map(|(_, metadata)| metadata);
        self.replace(after.as_bytes(), metadata).map_err(KeptFileError::from)?;
        Ok(true)
    }

    fn open(&self) -> Result<Option<(String, Metadata)>, KeptFileError> {
        let opened = OpenOptions::new()
            .read(true)
            // Waits for nobody to write into a pipe.
            .custom_flags(flags(OFlags::NOFOLLOW | OFlags::NONBLOCK))
            .open(&self.path);
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(_) if fs::symlink_metadata(&self.path).is_ok_and(|found| found.is_symlink()) => {
                return Err(KeptFileError::Link);
            }
            Err(error) => return Err(error.into()),
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(KeptFileError::NoFile);
        }
        if metadata.permissions().mode() & 0o022 != 0 {
            return Err(KeptFileError::OpenToOthers);
        }
        let mut text = String::new();
        let read = file.take(self.max_bytes.saturating_add(1)).read_to_string(&mut text)?;
        if u64::try_from(read).unwrap_or(u64::MAX) > self.max_bytes {
            return Err(KeptFileError::TooLong { max: self.max_bytes });
        }
        Ok(Some((text, metadata)))
    }

    /// Waits until nobody else changes the file. The lock goes with what is returned.
    fn lock(&self) -> io::Result<File> {
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(flags(OFlags::NOFOLLOW))
            .open(self.beside(".lock")?)?;
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive)?;
        Ok(lock)
    }

    /// Writes a new file, makes sure that it is on the disk, and puts it in the place of the old one, whose owner and mode it
    /// has.
    fn replace(&self, text: &[u8], old: Option<&Metadata>) -> io::Result<()> {
        let new = self.beside(".new")?;
        // What a crash has left; the lock says that nobody is at it.
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        file.write_all(text)?;
        if let Some(old) = old {
            let made = file.metadata()?;
            if (made.uid(), made.gid()) != (old.uid(), old.gid()) {
                let (user, group) = (Uid::from_raw(old.uid()), Gid::from_raw(old.gid()));
                rustix::fs::fchown(&file, Some(user), Some(group))?;
            }
            file.set_permissions(fs::Permissions::from_mode(old.mode() & 0o777))?;
        }
        file.sync_all()?;
        fs::rename(&new, &self.path)?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    }

    /// Returns a hidden name in the same folder.
    fn beside(&self, ending: &str) -> io::Result<PathBuf> {
        let name = self.path.file_name().ok_or_else(|| io::Error::other("it names no file"))?;
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(ending);
        Ok(self.path.with_file_name(hidden))
    }
}

fn flags(flags: OFlags) -> i32 {
    flags.bits().cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(file: &KeptFile, text: &str) -> Result<bool, KeptFileError> {
        file.change(|_| Ok(text.to_owned()))
    }

    fn mode(file: &KeptFile) -> u32 {
        fs::metadata(file.path()).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn the_mode_stays_and_a_new_file_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let file = KeptFile::new(folder.path().join("f"), 100);
        assert_eq!(file.read().unwrap(), None);
        assert!(set(&file, "a").unwrap());
        assert!(!set(&file, "a").unwrap());
        assert_eq!(mode(&file), 0o600);
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644)).unwrap();
        assert!(set(&file, "b").unwrap());
        assert_eq!((file.read().unwrap().as_deref(), mode(&file)), (Some("b"), 0o644));
        assert!(!folder.path().join(".f.new").exists());
    }

    #[test]
    fn what_is_no_file_of_ones_own_is_refused_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let real = KeptFile::new(folder.path().join("real"), 100);
        set(&real, "a").unwrap();
        let link = KeptFile::new(folder.path().join("link"), 100);
        std::os::unix::fs::symlink("real", link.path()).unwrap();
        assert!(matches!(set(&link, "b"), Err(KeptFileError::Link)));
        std::os::unix::fs::symlink("gone", folder.path().join("dangling")).unwrap();
        assert!(matches!(
            set(&KeptFile::new(folder.path().join("dangling"), 9), "b"),
            Err(KeptFileError::Link)
        ));
        assert!(matches!(set(&KeptFile::new(folder.path(), 9), "b"), Err(KeptFileError::NoFile)));
        fs::set_permissions(real.path(), fs::Permissions::from_mode(0o620)).unwrap();
        assert!(matches!(set(&real, "b"), Err(KeptFileError::OpenToOthers)));
        fs::set_permissions(real.path(), fs::Permissions::from_mode(0o600)).unwrap();
        assert!(matches!(KeptFile::new(real.path(), 0).read(), Err(KeptFileError::TooLong { max: 0 })));
        fs::write(real.path(), b"\xff").unwrap();
        assert!(matches!(set(&real, "b"), Err(KeptFileError::Io(_))));
        assert_eq!(fs::read(real.path()).unwrap(), b"\xff");
    }

    #[test]
    fn a_link_in_the_place_of_the_lock_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("elsewhere", folder.path().join(".f.lock")).unwrap();
        assert!(set(&KeptFile::new(folder.path().join("f"), 9), "a").is_err());
        assert!(!folder.path().join("elsewhere").exists());
    }

    #[test]
    fn what_a_crash_has_left_is_no_obstacle() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".f.new"), "half a fi").unwrap();
        let file = KeptFile::new(folder.path().join("f"), 100);
        assert_eq!(file.read().unwrap(), None);
        assert!(set(&file, "a").unwrap());
    }

    #[test]
    fn nobody_loses_a_change_to_somebody_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = KeptFile::new(folder.path().join("f"), 1000);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..5 {
                        let longer = |text: Option<&str>| Ok(format!("{}x", text.unwrap_or_default()));
                        file.change::<KeptFileError>(longer).unwrap();
                    }
                });
            }
        });
        assert_eq!(file.read().unwrap().map(|text| text.len()), Some(20));
    }
}
