//! A text file that is read and replaced as a whole, by one writer at a time.
#![expect(clippy::disallowed_methods, reason = "reads and replaces the file that it is asked to keep")]

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Gid, Uid};

use crate::own_file::{OwnAccess, open_own};
use crate::owned_path::{NotOwned, check_owned};

/// A text file that is only replaced as a whole: no reader, crash or full disk leaves half of it.
///
/// A symbolic link is rejected, and so is a file that other users can write: its content would be under their
/// control.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFile {
    path: PathBuf,
    max_bytes: u64,
    /// Mode bits that must not be set for others.
    refused_mode: u32,
    lock: LockedAt,
}

/// Lock of the writers.
#[derive(Debug, Clone, PartialEq, Eq)]
enum LockedAt {
    /// A hidden file beside it, which is kept.
    Beside,
    /// Another file, in a directory of the caller.
    File(PathBuf),
    /// Its directory, so that no file remains.
    Folder,
}

/// The file could not be read or replaced. It is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeptFileError {
    /// The name is a symbolic link.
    #[error("it is a symlink: use the path of its target")]
    Link,
    /// The name exists but is not a file.
    #[error("it is not a regular file")]
    NoFile,
    /// Other users can write the file, or read it although it is private.
    #[error("other users can access it: review it, then run `chmod {fix}` on it")]
    OpenToOthers {
        /// The mode for `chmod` that fixes it.
        fix: &'static str,
    },
    /// It belongs to another user, or another user could replace it.
    #[error("it is not trusted: {0}")]
    NotOwned(#[from] NotOwned),
    /// The file is too long.
    #[error("it has more than {max} bytes")]
    TooLong {
        /// Maximum size in bytes.
        max: u64,
    },
    /// A system call failed, or the file is not UTF-8.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl KeptFile {
    /// Creates a handle for the path; the file need not exist. Nothing is read or written.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, max_bytes: u64) -> Self {
        Self { path: path.into(), max_bytes, refused_mode: 0o022, lock: LockedAt::Beside }
    }

    /// Requires that other users cannot read the file either.
    #[must_use]
    pub fn private(self) -> Self {
        Self { refused_mode: 0o077, ..self }
    }

    /// Permits write access by the file's group, as in shared repositories.
    #[must_use]
    pub fn open_to_group(self) -> Self {
        Self { refused_mode: 0o002, ..self }
    }

    /// Uses another file as the lock: for files in directories of other programs.
    #[must_use]
    pub fn locked_by(self, lock: impl Into<PathBuf>) -> Self {
        Self { lock: LockedAt::File(lock.into()), ..self }
    }

    /// Uses the directory as the lock: for files among the user's own, where a lock file would be litter.
    #[must_use]
    pub fn locked_by_folder(self) -> Self {
        Self { lock: LockedAt::Folder, ..self }
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the file; `None` if it does not exist.
    ///
    /// # Errors
    /// When the file exists and cannot be read completely, or others can write it.
    pub fn read(&self) -> Result<Option<String>, KeptFileError> {
        Ok(self.open()?.map(|(text, _)| text))
    }

    /// Calls `change` with the content and replaces the file with the returned content if it differs; `None` leaves
    /// it as is. Other writers wait. Also returns the second value of `change`.
    ///
    /// # Errors
    /// When the file cannot be read or replaced, or `change` fails. The file is unchanged then.
    pub fn change<T, E>(
        &self,
        change: impl FnOnce(Option<&str>) -> Result<(Option<String>, T), E>,
    ) -> Result<Result<T, E>, KeptFileError> {
        // Check before anything is created beside it.
        self.check_owner(self.path.parent().unwrap_or(Path::new(".")))?;
        let _lock = self.lock()?;
        let before = self.open()?;
        let text = before.as_ref().map(|(text, _)| text.as_str());
        let (after, answer) = match change(text) {
            Ok(changed) => changed,
            Err(error) => return Ok(Err(error)),
        };
        if let Some(after) = after.filter(|after| text != Some(after.as_str())) {
            self.replace(after.as_bytes(), before.as_ref().map(|(_, metadata)| metadata))?;
        }
        Ok(Ok(answer))
    }

    /// With group access, a file of another member of the group is accepted.
    fn check_owner(&self, path: &Path) -> Result<(), KeptFileError> {
        if self.refused_mode == 0o002 { Ok(()) } else { Ok(check_owned(path)?) }
    }

    fn open(&self) -> Result<Option<(String, Metadata)>, KeptFileError> {
        let file = match open_own(&self.path, OwnAccess::Read) {
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
        if metadata.permissions().mode() & self.refused_mode != 0 {
            let fix = match self.refused_mode {
                0o002 => "o-w",
                0o022 => "go-w",
                _ => "go-rwx",
            };
            return Err(KeptFileError::OpenToOthers { fix });
        }
        self.check_owner(&self.path)?;
        let mut text = String::new();
        let read = file.take(self.max_bytes.saturating_add(1)).read_to_string(&mut text)?;
        if u64::try_from(read).unwrap_or(u64::MAX) > self.max_bytes {
            return Err(KeptFileError::TooLong { max: self.max_bytes });
        }
        Ok(Some((text, metadata)))
    }

    /// Waits for other writers. Dropping the returned file releases the lock.
    fn lock(&self) -> io::Result<File> {
        let file = |path: &Path| open_own(path, OwnAccess::Keep);
        let lock = match &self.lock {
            LockedAt::Beside => file(&self.beside(".lock")?)?,
            LockedAt::File(path) => file(path)?,
            LockedAt::Folder => File::open(self.folder())?,
        };
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive)?;
        Ok(lock)
    }

    /// Writes a new file, syncs it to the disk and renames it over the old one, whose owner and mode it takes.
    fn replace(&self, text: &[u8], old: Option<&Metadata>) -> io::Result<()> {
        let new = self.beside(".new")?;
        // Left over from a crash; the lock proves that no writer uses it.
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = open_own(&new, OwnAccess::Create)?;
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
        File::open(self.folder())?.sync_all()
    }

    fn folder(&self) -> &Path {
        self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// Returns a hidden path in the same directory.
    fn beside(&self, ending: &str) -> io::Result<PathBuf> {
        let name = self.path.file_name().ok_or_else(|| io::Error::other("it names no file"))?;
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(ending);
        Ok(self.path.with_file_name(hidden))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(file: &KeptFile, text: &str) -> Result<(), KeptFileError> {
        file.change(|_| Ok::<_, ()>((Some(text.to_owned()), ()))).map(Result::unwrap)
    }

    fn mode(file: &KeptFile) -> u32 {
        fs::metadata(file.path()).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn writers_that_wait_at_the_folder_leave_nothing_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = KeptFile::new(folder.path().join("f"), 100).locked_by_folder();
        let held = file.lock().unwrap();
        let other = file.clone();
        let writer = std::thread::spawn(move || set(&other, "second").unwrap());
        assert_eq!(file.read().unwrap(), None);
        drop(held);
        writer.join().unwrap();
        assert_eq!(file.read().unwrap().as_deref(), Some("second"));
        let names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|one| one.unwrap().file_name()).collect();
        assert_eq!(names, ["f"]);
    }

    #[test]
    fn the_mode_stays_and_a_new_file_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let file = KeptFile::new(folder.path().join("f"), 100);
        assert_eq!(file.read().unwrap(), None);
        set(&file, "a").unwrap();
        let number = || fs::metadata(file.path()).unwrap().ino();
        let before = number();
        set(&file, "a").unwrap();
        file.change(|_| Ok::<_, ()>((None, ()))).unwrap().unwrap();
        file.change(|_| Err::<(Option<String>, ()), _>(())).unwrap().unwrap_err();
        assert_eq!((mode(&file), number()), (0o600, before));
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644)).unwrap();
        set(&file, "b").unwrap();
        assert_eq!((file.read().unwrap().as_deref(), mode(&file)), (Some("b"), 0o644));
        assert!(!folder.path().join(".f.new").exists());
    }

    #[test]
    fn a_lock_elsewhere_leaves_nothing_beside_the_file() {
        let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = KeptFile::new(folder.path().join("f"), 100).locked_by(state.path().join("lock"));
        set(&file, "a").unwrap();
        set(&file, "b").unwrap();
        let names = |folder: &Path| {
            fs::read_dir(folder).unwrap().map(|one| one.unwrap().file_name()).collect::<Vec<_>>()
        };
        assert_eq!((names(folder.path()), names(state.path())), (vec!["f".into()], vec!["lock".into()]));
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
        assert!(matches!(set(&real, "b"), Err(KeptFileError::OpenToOthers { fix: "go-w" })));
        fs::set_permissions(real.path(), fs::Permissions::from_mode(0o604)).unwrap();
        assert!(real.read().is_ok());
        assert!(matches!(real.clone().private().read(), Err(KeptFileError::OpenToOthers { fix: "go-rwx" })));
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
        set(&file, "a").unwrap();
        assert_eq!(file.read().unwrap().as_deref(), Some("a"));
    }

    #[test]
    fn concurrent_changes_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = KeptFile::new(folder.path().join("f"), 1000);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..5 {
                        let longer = |text: Option<&str>| {
                            Ok::<_, ()>((Some(format!("{}x", text.unwrap_or_default())), ()))
                        };
                        file.change(longer).unwrap().unwrap();
                    }
                });
            }
        });
        assert_eq!(file.read().unwrap().map(|text| text.len()), Some(20));
    }
}
