//! Publishes git settings as a copy, after they were judged. Open descriptors and hard links of the command refer to the original
//! file, which no program obeys.

#![expect(clippy::disallowed_methods, reason = "reads and writes settings that a command has written")]

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fchmod, fstat, openat, readlinkat, renameat, unlinkat};
use rustix::io::Errno;
use stockade_git::{GitSetting, MAX_REPOSITORY_SETTINGS, SettingsOf, git_settings, harmful_setting};

use super::contents::{has_live_hooks, holds_strays, is_there};
use super::rule::Rules;
use super::target::NameInFolder;
use crate::protect::COPIES;
use crate::workspace::links::{is_part_of_a_repository, stays_in_a_repository};
use crate::workspace::roots::is_plainly_within;
use crate::workspace::walk::{Listed, list};

/// Why a file was not published.
#[derive(Debug)]
pub(super) enum Stopped {
    Refused(String),
    Error(Errno),
}

impl From<Errno> for Stopped {
    fn from(error: Errno) -> Self {
        Self::Error(error)
    }
}

/// Moves settings to another name as a copy, if they are permitted.
pub(super) fn publish(
    rules: &Rules,
    from: &NameInFolder,
    to: &NameInFolder,
    kind: SettingsOf,
) -> Result<(), Stopped> {
    // Read once. Judge and copy use these bytes, so a change of the original after this has no effect.
    let (text, mode) = read(from)?;
    let before = settings_at(to);
    judge(rules, &to.path, kind, &text, &before)?;
    put(&text, mode, to)?;
    // Git expects that the lock file is gone after the rename. If removing it fails, the settings are in place all
    // the same.
    unlinkat(&from.folder, &from.name, AtFlags::empty()).ok();
    Ok(())
}

/// Publishes a copy of an unnamed file, if it is permitted.
pub(super) fn publish_copy(rules: &Rules, file: OwnedFd, to: &NameInFolder) -> Result<(), Stopped> {
    let (text, mode) = read_open(file)?;
    // No earlier settings are trusted here: an unnamed file always creates a new one.
    judge(rules, &to.path, SettingsOf::Repository, &text, &[])?;
    put(&text, mode, to)?;
    Ok(())
}

/// Judges a directory that becomes a repository, and replaces its settings by copies.
pub(super) fn complete(rules: &Rules, folder: &NameInFolder) -> Result<(), Stopped> {
    let fd = folder.folder.as_fd();
    // A symlink here would let git run hooks, or write objects, elsewhere.
    for name in ["hooks", "info", "objects"] {
        let kind = beside(folder, name)?.kind();
        if kind.is_some_and(|kind| kind != FileType::Directory) {
            return Err(Stopped::Refused(format!(
                "the directory would become a repository, and its {name} is not a directory"
            )));
        }
    }
    // Attributes select filters and merge drivers, which the user's own settings define with programs.
    if has_live_hooks(fd, "hooks".as_ref()) || is_there(fd, Path::new("info/attributes")) {
        let why =
            "the directory would become a repository, and git would run its hooks or obey its attributes";
        return Err(Stopped::Refused(why.to_owned()));
    }
    if has_strays(fd) {
        let why = "the directory would become a repository, and git would write through a symlink in it to another file";
        return Err(Stopped::Refused(why.to_owned()));
    }
    // Both are replaced by copies, because the command may still have the originals open for writing.
    for name in ["config", "config.worktree"] {
        let place = beside(folder, name)?;
        match place.kind() {
            None => continue,
            Some(FileType::RegularFile) => {}
            Some(_) => return Err(Stopped::Refused(format!("its {name} is not a file"))),
        }
        let (text, mode) = read(&place)?;
        judge(rules, &place.path, SettingsOf::Repository, &text, &[])?;
        put(&text, mode, &place)?;
    }
    Ok(())
}

/// Whether a directory, or one of git's own directories in it, contains stray symlinks.
fn has_strays(folder: BorrowedFd<'_>) -> bool {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let is_stray = |entry: &Listed| match entry.kind {
        FileType::Symlink => is_stray(folder, &entry.name),
        FileType::Directory if is_part_of_a_repository(&entry.name) => {
            openat(folder, &entry.name, flags, Mode::empty()).map_or(true, holds_strays)
        }
        _ => false,
    };
    // A directory that cannot be listed may contain a stray symlink.
    list(folder).is_none_or(|names| names.iter().any(is_stray))
}

/// Whether git would write through a symlink to another file, or it cannot be read.
fn is_stray(folder: BorrowedFd<'_>, name: &OsStr) -> bool {
    let to = readlinkat(folder, name, Vec::new());
    !to.is_ok_and(|to| stays_in_a_repository(Path::new(OsStr::from_bytes(to.as_bytes()))))
}

fn beside(place: &NameInFolder, name: &str) -> Result<NameInFolder, Errno> {
    let folder = rustix::io::fcntl_dupfd_cloexec(&place.folder, 0)?;
    Ok(NameInFolder { folder, path: place.path.clone(), name: name.into(), is_folder: false })
}

fn judge(
    rules: &Rules,
    around: &Path,
    kind: SettingsOf,
    text: &[u8],
    before: &[GitSetting],
) -> Result<(), Stopped> {
    // Git would pass a path such as `--upload-pack=x` to another program as an option.
    let is_within = |path: &str| !path.starts_with('-') && is_plainly_within(&rules.roots, around, path);
    match harmful_setting(kind, text, before, is_within) {
        None => Ok(()),
        Some(setting) => {
            Err(Stopped::Refused(format!("git may run a program because of its setting {setting}")))
        }
    }
}

/// Returns the existing settings, which are trusted: they are the user's, or were judged before.
fn settings_at(place: &NameInFolder) -> Vec<GitSetting> {
    read(place).ok().and_then(|(text, _)| git_settings(&text).ok()).unwrap_or_default()
}

/// Reads a file, up to one byte beyond the maximum size, which the judge then rejects.
fn read(place: &NameInFolder) -> Result<(Vec<u8>, Mode), Errno> {
    // `NONBLOCK`: opening a pipe would wait for its writer, and this thread serves other calls.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    read_open(openat(&place.folder, &place.name, flags, Mode::empty())?)
}

fn read_open(file: OwnedFd) -> Result<(Vec<u8>, Mode), Errno> {
    let found = fstat(&file)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(Errno::PERM);
    }
    let mut text = Vec::new();
    // The command may append to the file while it is read.
    File::from(file)
        .take(MAX_REPOSITORY_SETTINGS as u64 + 1)
        .read_to_end(&mut text)
        .map_err(|_| Errno::IO)?;
    Ok((text, Mode::from_raw_mode(found.st_mode & 0o777)))
}

/// Writes a file atomically.
pub(super) fn put(text: &[u8], mode: Mode, to: &NameInFolder) -> Result<(), Errno> {
    let copy = copy_name();
    let made = write(to.folder.as_fd(), &copy, text, mode);
    // A rename replaces the name atomically, also for a git that reads the settings right now.
    let put = made.and_then(|()| renameat(&to.folder, &copy, &to.folder, &to.name));
    if put.is_err() {
        unlinkat(&to.folder, &copy, AtFlags::empty()).ok();
    }
    put
}

fn write(folder: BorrowedFd<'_>, name: &OsString, text: &[u8], mode: Mode) -> Result<(), Errno> {
    // `EXCL`: a file that the command prepared under this name could be open in it.
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file: OwnedFd = openat(folder, PathBuf::from(name), flags, Mode::RUSR | Mode::WUSR)?;
    let mut file = File::from(file);
    file.write_all(text).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    // After the write, because the umask of this thread is that of the last judged command.
    fchmod(&file, mode)
}

/// Returns an unused name.
fn copy_name() -> OsString {
    static MADE: AtomicU32 = AtomicU32::new(0);
    format!("{COPIES}{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed)).into()
}
