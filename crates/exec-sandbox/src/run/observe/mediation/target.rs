//! Resolves the path of a call to an open directory and a name.
//!
//! The directory is opened through the command's root, so mounts and read-only flags are those of the command. The open directory
//! is judged, and the call is performed in it, so it cannot be exchanged in between.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, StatxAttributes, StatxFlags, openat, openat2,
    readlinkat, statat, statx,
};
use rustix::io::Errno;

use super::super::caller::Caller;

/// Maximum number of followed symlinks, as in the kernel.
const LINKS: usize = 40;

/// Maximum number of retries of openat2(2), which returns EAGAIN if a parent directory is renamed concurrently.
const MAX_ASKED: usize = 1_000;

/// A name in an open directory.
#[derive(Debug)]
pub(super) struct NameInFolder {
    pub(super) folder: OwnedFd,
    /// The path of the directory in the sandbox.
    pub(super) path: PathBuf,
    pub(super) name: OsString,
    /// Whether the path ends in a slash.
    pub(super) is_folder: bool,
}

impl NameInFolder {
    /// Returns the name with its trailing slash.
    pub(super) fn as_named(&self) -> OsString {
        let mut name = self.name.clone();
        if self.is_folder {
            name.push("/");
        }
        name
    }

    /// Returns a copy with a duplicate of the descriptor.
    pub(super) fn again(&self) -> Result<Self, Errno> {
        let folder = rustix::io::fcntl_dupfd_cloexec(&self.folder, 0)?;
        Ok(Self { folder, path: self.path.clone(), name: self.name.clone(), is_folder: self.is_folder })
    }

    /// Updates the path of the directory, which may have been moved before this call got its lock.
    pub(super) fn look_again(&mut self) -> Result<(), Errno> {
        self.path = place_of(self.folder.as_fd())?;
        Ok(())
    }

    /// Returns the absolute path.
    pub(super) fn whole(&self) -> PathBuf {
        self.path.join(&self.name)
    }

    /// Returns the status of the file, without following a symlink.
    pub(super) fn found(&self) -> Result<rustix::fs::Stat, Errno> {
        statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Returns the file type, if the file exists.
    pub(super) fn kind(&self) -> Option<FileType> {
        self.found().ok().map(|found| FileType::from_raw_mode(found.st_mode))
    }

    /// Whether the name is a mount point in the sandbox. The kernel would permit this program to rename it, because it is not one
    /// in this program's namespace.
    pub(super) fn is_mounted(&self) -> bool {
        let found = statx(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::TYPE);
        // Linux 5.8 and later report it. The observer needs a newer kernel anyway.
        found.is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
    }
}

/// The target of a path.
#[derive(Debug)]
pub(super) enum Target {
    /// A name in a directory, existing or not. A final symlink is not followed.
    Name(NameInFolder),
    /// A directory itself: its path ends in `.`, `..` or `/`.
    Folder,
    /// A descriptor of the process.
    Open(OwnedFd),
    /// A file of procfs about the process itself.
    Own(PathBuf),
}

/// Resolves a path relative to `begin`, or to the root if it is absolute.
pub(super) fn target(caller: Caller<'_>, begin: &OwnedFd, text: &[u8]) -> Result<Target, Errno> {
    if text.is_empty() {
        return Err(Errno::NOENT);
    }
    // `/proc/self` would resolve to this program, which has other descriptors and another root.
    if let Some(rest) = own(caller, text) {
        return of_itself(caller, rest);
    }
    let trimmed = without_slashes(text);
    let is_folder = trimmed.len() < text.len();
    let (around, name) = match trimmed.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (trimmed.get(..=at).unwrap_or_default(), trimmed.get(at + 1..).unwrap_or_default()),
        // The path is `/` or `//`.
        None if trimmed.is_empty() => (text, &b""[..]),
        None => (&b""[..], trimmed),
    };
    if matches!(name, b"" | b"." | b"..") {
        return folder(caller, begin, text).map(|_| Target::Folder);
    }
    let folder = folder(caller, begin, around)?;
    let path = place_of(folder.as_fd())?;
    Ok(Target::Name(NameInFolder { folder, path, name: OsStr::from_bytes(name).to_os_string(), is_folder }))
}

/// Resolves a path of an existing file relative to `begin`. If `follows` is set, a final symlink is followed.
pub(super) fn end_of(
    caller: Caller<'_>,
    mut begin: OwnedFd,
    text: &[u8],
    follows: bool,
) -> Result<Target, Errno> {
    let mut text = text.to_vec();
    for _ in 0..LINKS {
        let place = match target(caller, &begin, &text)? {
            Target::Name(place) => place,
            other => return Ok(other),
        };
        match place.kind() {
            None => return Err(Errno::NOENT),
            Some(FileType::Symlink) if follows || place.is_folder => {
                text = readlinkat(&place.folder, &place.name, Vec::new())?.into_bytes();
                // The slash of the original path applies to the target of the symlink as well.
                text.extend(place.is_folder.then_some(b'/'));
                begin = place.folder;
            }
            Some(kind) if place.is_folder && kind != FileType::Directory => return Err(Errno::NOTDIR),
            Some(_) => return Ok(Target::Name(place)),
        }
    }
    Err(Errno::LOOP)
}

/// Removes trailing slashes.
fn without_slashes(text: &[u8]) -> &[u8] {
    let length = text.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
    text.get(..length).unwrap_or_default()
}

/// Opens a handle to a directory; symlinks are resolved in the root of the process.
pub(super) fn folder(caller: Caller<'_>, begin: &OwnedFd, text: &[u8]) -> Result<OwnedFd, Errno> {
    const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    let path = Path::new(OsStr::from_bytes(text));
    if path.as_os_str().is_empty() {
        return openat(begin, ".", FOLDER, Mode::empty());
    }
    // Most paths are relative and plain. For these, one openat2 relative to the open directory is enough, without its
    // path.
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if is_plain {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match openat2(begin, path, FOLDER, Mode::empty(), resolve) {
            // A symlink, or a path that leaves the directory: resolved again from the command's root, where both are permitted.
            Err(Errno::LOOP | Errno::XDEV | Errno::AGAIN) => {}
            result => return result,
        }
    }
    let whole = if path.is_absolute() { path.to_path_buf() } else { place_of(begin.as_fd())?.join(path) };
    // `NO_MAGICLINKS`: a link such as `/proc/PID/root` of another process leads out of the root of the command.
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    let root = caller.root()?;
    // If a directory is renamed while `..` is resolved, the kernel cannot guarantee RESOLVE_IN_ROOT, and returns EAGAIN.
    let mut asked = (0..MAX_ASKED).map(|_| openat2(&root, &whole, FOLDER, Mode::empty(), resolve));
    asked.find(|opened| !matches!(opened, Err(Errno::AGAIN))).unwrap_or(Err(Errno::AGAIN))
}

/// Returns the path of an open file in the sandbox.
pub(super) fn place_of(open: BorrowedFd<'_>) -> Result<PathBuf, Errno> {
    let path = readlinkat(CWD, own_path(open), Vec::new())?;
    Ok(PathBuf::from(OsString::from_vec(path.into_bytes())))
}

/// Returns the path in procfs through which this program can reopen a descriptor.
pub(super) fn own_path(open: BorrowedFd<'_>) -> String {
    format!("/proc/self/fd/{}", open.as_raw_fd())
}

/// Returns the rest of a path that begins with a procfs link to the calling process, which would refer to this program here.
fn own<'t>(caller: Caller<'_>, text: &'t [u8]) -> Option<&'t [u8]> {
    if !text.starts_with(b"/proc/") && !text.starts_with(b"/dev/") {
        return None;
    }
    for link in [&b"/proc/self"[..], b"/proc/thread-self"] {
        if let Some(rest) = text.strip_prefix(link).filter(|rest| rest.starts_with(b"/")) {
            return Some(rest);
        }
    }
    if text.starts_with(b"/dev/fd/") {
        return text.strip_prefix(b"/dev");
    }
    let numbered = text.strip_prefix(b"/proc/")?;
    let end = numbered.iter().position(|byte| *byte == b'/')?;
    let (number, rest) = numbered.split_at_checked(end)?;
    let number =
        std::str::from_utf8(number).ok().filter(|it| it.bytes().all(|byte| byte.is_ascii_digit()))?;
    caller.is_numbered(number).then_some(rest)
}

fn of_itself(caller: Caller<'_>, rest: &[u8]) -> Result<Target, Errno> {
    let parts: Vec<&[u8]> = rest.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [b"fd", number] => caller.descriptor(as_number(number)?).map(Target::Open),
        [b"fd", number, inner @ ..] => {
            target(caller, &caller.descriptor(as_number(number)?)?, &inner.join(&b'/'))
        }
        [b"cwd", inner @ ..] if !inner.is_empty() => target(caller, &caller.begin(None)?, &inner.join(&b'/')),
        [b"root", inner @ ..] if !inner.is_empty() => target(caller, &caller.root()?, &inner.join(&b'/')),
        parts => Ok(Target::Own(PathBuf::from(OsString::from_vec(parts.join(&b'/'))))),
    }
}

fn as_number(text: &[u8]) -> Result<i32, Errno> {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(Errno::NOENT)
}
