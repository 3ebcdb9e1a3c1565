//! Ownership checks: files that a program obeys must belong to its user, whatever the environment names.
//!
//! Like `StrictModes` of sshd(8) and `safe.directory` of git: with the `HOME` of another user, as sudo(8) may leave
//! it, this program would obey that user's settings and write through that user's links.

#![expect(clippy::disallowed_methods, reason = "asks the system whose a path is")]

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use thiserror::Error;

/// Maximum number of links, as in the kernel.
const MAX_LINKS: usize = 40;

/// Why a path does not belong to the user.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotOwned {
    /// A component belongs to another user.
    #[error("{} belongs to user {owner}, and this is user {user}", path.display())]
    OfAnother {
        /// The component.
        path: PathBuf,
        /// Its owner.
        owner: u32,
        /// The current user.
        user: u32,
    },
    /// A component is writable by other users, who could replace it.
    #[error("{} can be written by other users", path.display())]
    OpenToOthers {
        /// The component.
        path: PathBuf,
    },
    /// The ownership cannot be determined.
    #[error("{}: {reason}", path.display())]
    Unknown {
        /// The component.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

impl NotOwned {
    /// Returns how to fix it.
    #[must_use]
    pub fn fix(&self) -> String {
        match self {
            Self::OfAnother { user: 0, .. } => {
                "run it with the home of root (`sudo -H`, or HOME=/root), or as the user whose home this is"
                    .to_owned()
            }
            Self::OfAnother { .. } => {
                "set HOME, XDG_CONFIG_HOME and XDG_STATE_HOME to folders of your own".to_owned()
            }
            Self::OpenToOthers { path } => {
                format!("run `chmod go-w {}`, after looking at what lies there", path.display())
            }
            Self::Unknown { .. } => "name a path that can be reached".to_owned(),
        }
    }
}

/// Checks that the existing part of a path belongs to this user or to root, and that no other user could replace it:
/// through a parent directory, or through a link. For a link, its own owner and its target are checked.
///
/// # Errors
/// The first component that fails the check.
pub fn check_owned(path: &Path) -> Result<(), NotOwned> {
    check_from(Path::new("/"), &whole(path), |_, _| ())
}

/// As [`check_owned`], but a directory that this process checked within the last second is not checked again, nor are those above
/// it, unless another directory is there now: the files of one state are opened one after the other.
///
/// Returns whether the path is a directory now, unless a symlink is on it, which is not told.
///
/// # Errors
/// As [`check_owned`].
pub fn check_owned_once(path: &Path) -> Result<OwnedPath, NotOwned> {
    let whole = whole(path);
    let mut checked = Checked::now();
    let from = checked.deepest_above(&whole).unwrap_or_else(|| PathBuf::from("/"));
    let mut is_folder = from == whole;
    check_from(&from, &whole, |folder, found| {
        is_folder |= folder == whole;
        checked.add(folder, found);
    })?;
    Ok(if is_folder { OwnedPath::Folder } else { OwnedPath::Unknown })
}

/// What [`check_owned_once`] found at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnedPath {
    /// The path is a directory, and no symlink is on it.
    Folder,
    /// The path is missing, a file, or behind a symlink.
    Unknown,
}

fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Checks what is below a directory that was checked. `see` is called with each directory that no link leads to.
fn check_from(checked: &Path, whole: &Path, mut see: impl FnMut(&Path, &Metadata)) -> Result<(), NotOwned> {
    let mut at = checked.to_path_buf();
    let mut due = parts(whole.strip_prefix(checked).unwrap_or(whole));
    if due.is_empty() {
        return Ok(());
    }
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    let mut links = 0;
    while let Some(part) = due.pop_front() {
        if part == ".." {
            at.pop();
            continue;
        }
        at.push(&part);
        let found = match fs::symlink_metadata(&at) {
            Ok(found) => found,
            // The caller creates the missing rest.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(NotOwned::Unknown { path: at, reason: error.to_string() }),
        };
        check_part(&at, &found, user, group)?;
        if found.is_dir() && links == 0 {
            see(&at, &found);
        }
        if found.is_symlink() {
            links += 1;
            let to = fs::read_link(&at).ok().filter(|_| links <= MAX_LINKS);
            let Some(to) = to else {
                return Err(NotOwned::Unknown { path: at, reason: "too many links".to_owned() });
            };
            at = if to.is_absolute() {
                PathBuf::from("/")
            } else {
                at.parent().map(Path::to_path_buf).unwrap_or_default()
            };
            parts(&to).into_iter().rev().for_each(|part| due.push_front(part));
        }
    }
    Ok(())
}

/// How long it is good to know that a directory was checked.
pub(crate) const LASTING: Duration = Duration::from_secs(1);

/// Directories that were checked in this process, each with what it was then. No component of their paths is a link.
///
/// A second path through one of them takes one call for that one, and none for those above: where another was put in the place of
/// one above, the path leads to another directory, which has another stamp.
struct Checked(MutexGuard<'static, Vec<CheckedFolder>>);

struct CheckedFolder {
    path: PathBuf,
    stamp: Stamp,
    at: Instant,
}

/// Device, inode, owner, group and mode.
pub(crate) type Stamp = (u64, u64, u32, u32, u32);

impl Checked {
    fn now() -> Self {
        static FOLDERS: Mutex<Vec<CheckedFolder>> = Mutex::new(Vec::new());
        let mut folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
        folders.retain(|folder| folder.at.elapsed() < LASTING);
        Self(folders)
    }

    /// Returns the deepest directory on a path that was checked and is the same now.
    fn deepest_above(&self, path: &Path) -> Option<PathBuf> {
        if path.components().any(|part| part == Component::ParentDir) {
            return None;
        }
        let above = self.0.iter().filter(|folder| path.starts_with(&folder.path));
        let deepest = above.max_by_key(|folder| folder.path.as_os_str().len())?;
        let is_same =
            fs::symlink_metadata(&deepest.path).is_ok_and(|found| stamp_of(&found) == deepest.stamp);
        is_same.then(|| deepest.path.clone())
    }

    fn add(&mut self, path: &Path, found: &Metadata) {
        let (path, stamp, at) = (path.to_path_buf(), stamp_of(found), Instant::now());
        self.0.retain(|folder| folder.path != path);
        self.0.push(CheckedFolder { path, stamp, at });
    }
}

pub(crate) fn stamp_of(found: &Metadata) -> Stamp {
    (found.dev(), found.ino(), found.uid(), found.gid(), found.mode())
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    });
    parts.collect()
}

fn check_part(path: &Path, found: &Metadata, user: u32, group: u32) -> Result<(), NotOwned> {
    /// In a sticky directory, only the owner can move or remove an entry.
    const STICKY: u32 = 0o1000;
    let owner = found.uid();
    if owner != user && owner != 0 {
        return Err(NotOwned::OfAnother { path: path.to_path_buf(), owner, user });
    }
    let mode = found.mode();
    // Distributions create a group with one member for each user.
    let by_group = mode & 0o020 != 0 && found.gid() != group && found.gid() != 0;
    let is_open = mode & 0o002 != 0 || by_group;
    let is_safe = found.is_symlink() || found.is_dir() && mode & STICKY != 0;
    if is_open && !is_safe { Err(NotOwned::OpenToOthers { path: path.to_path_buf() }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn no_part_of_the_way_is_open_to_others() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path();
        fs::create_dir_all(home.join(".config/stockade")).unwrap();
        let file = home.join(".config/stockade/config.toml");
        assert_eq!(check_owned(&file), Ok(()), "what is not there yet");
        fs::write(&file, "").unwrap();
        mode(&file, 0o600);
        assert_eq!(check_owned(&file), Ok(()));
        symlink(&file, home.join("own-link")).unwrap();
        assert_eq!(check_owned(&home.join("own-link")), Ok(()), "a link of one's own");
        for (part, open) in
            [(".config/stockade/config.toml", 0o602), (".config/stockade", 0o777), (".config", 0o707)]
        {
            let path = home.join(part);
            let before = fs::metadata(&path).unwrap().permissions();
            mode(&path, open);
            let told = NotOwned::OpenToOthers { path: fs::canonicalize(&path).unwrap() };
            assert_eq!(check_owned(&file), Err(told.clone()), "{part}");
            assert_eq!(check_owned(&home.join("own-link")), Err(told), "{part}, by a link");
            fs::set_permissions(&path, before).unwrap();
        }
        symlink("loop", home.join("loop")).unwrap();
        assert!(matches!(check_owned(&home.join("loop")), Err(NotOwned::Unknown { .. })));
    }

    #[test]
    fn a_directory_is_checked_anew_when_it_is_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let (state, below) = (folder.path().join("state"), folder.path().join("state/stockade"));
        fs::create_dir_all(&below).unwrap();
        let file = below.join("audit.db");
        assert_eq!(check_owned_once(&file), Ok(OwnedPath::Unknown));
        assert_eq!(check_owned_once(&below), Ok(OwnedPath::Folder));
        fs::write(&file, "").unwrap();
        mode(&file, 0o602);
        let open = |path: &Path| Err(NotOwned::OpenToOthers { path: path.to_path_buf() });
        assert_eq!(check_owned_once(&file), open(&file), "what is below a checked directory");
        mode(&file, 0o600);
        mode(&below, 0o707);
        assert_eq!(check_owned_once(&file), open(&below), "the checked directory itself");
        mode(&below, 0o700);
        assert_eq!(check_owned_once(&file), Ok(OwnedPath::Unknown));
        fs::rename(&state, folder.path().join("aside")).unwrap();
        fs::create_dir_all(&below).unwrap();
        mode(&state, 0o707);
        assert_eq!(check_owned_once(&file), open(&state), "another one in the place of one above it");
        assert_eq!(check_owned_once(&below.join("../..").join("state")), open(&state));
    }

    /// Only root can change an owner.
    #[test]
    fn what_is_of_another_user_is_not_ones_own() {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: only root can make files of another user");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let of_another = folder.path().join("home");
        fs::create_dir_all(of_another.join(".config")).unwrap();
        fs::write(of_another.join(".config/x"), "").unwrap();
        let link = folder.path().join("link");
        symlink("/etc/made", &link).unwrap();
        let give = |path: &Path| std::os::unix::fs::lchown(path, Some(65534), Some(65534)).unwrap();
        give(&of_another);
        give(&link);
        for path in [of_another.join(".config/x"), of_another.join("new"), link] {
            assert!(
                matches!(check_owned(&path), Err(NotOwned::OfAnother { owner: 65534, user: 0, .. })),
                "{}",
                path.display()
            );
        }
    }
}
