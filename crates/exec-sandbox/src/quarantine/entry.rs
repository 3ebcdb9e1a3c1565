//! The entries of the quarantine.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, readlinkat, statat};
use stockade_names::{Root, obeyed};

use super::folder::names;
use super::origin::{ORIGINS, Origin, moment_of};

/// Maximum size of a group's file of origins.
const MAX_ORIGINS: u64 = 16 << 20;

/// An entry of the quarantine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuarantineEntry {
    /// The identifier for `stockade quarantine`.
    pub id: String,
    /// When it was quarantined.
    pub taken: Option<SystemTime>,
    /// Its workspace; nothing if an earlier version quarantined it.
    pub workspace: Option<PathBuf>,
    /// Its original path below the workspace; nothing if an earlier version quarantined it.
    pub path: Option<PathBuf>,
    /// The command that created it, quoted for a shell.
    pub command: Option<String>,
    /// What a file with this name does: `starts programs: VS Code`.
    pub label: Option<String>,
    /// The file type.
    pub kind: QuarantinedKind,
    /// Its size in bytes, as measured when it was quarantined.
    pub size: Option<u64>,
    /// The current path.
    pub place: PathBuf,
}

/// The file type of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum QuarantinedKind {
    /// A regular file, with content.
    File,
    /// A directory, with its entries.
    Folder,
    /// A symlink with this target.
    Link(PathBuf),
    /// A pipe, a socket or a device.
    Other,
    /// The entry is missing, or another file is at its path.
    Gone,
}

/// An entry, with its recorded origin.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) group: String,
    /// The directory that contains it: the group, or its original directory.
    pub(super) folder: PathBuf,
    pub(super) name: OsString,
    pub(super) kind: QuarantinedKind,
    pub(super) origin: Option<Origin>,
}

impl Item {
    pub(super) fn id(&self) -> String {
        match &self.origin {
            Some(origin) => format!("{}.{}", self.group, origin.number),
            None => format!("{}/{}", self.group, self.name.to_string_lossy()),
        }
    }

    pub(super) fn place(&self) -> PathBuf {
        self.folder.join(&self.name)
    }
}

impl QuarantineEntry {
    pub(super) fn of(item: Item) -> Self {
        let since = moment_of(&item.group).and_then(|moment| u64::try_from(moment).ok());
        let origin = item.origin.as_ref();
        Self {
            id: item.id(),
            taken: since.map(|nanos| SystemTime::UNIX_EPOCH + Duration::from_nanos(nanos)),
            workspace: origin.map(|origin| origin.workspace.clone()),
            path: origin.map(|origin| origin.path.clone()),
            command: origin.map(|origin| origin.command.clone()),
            label: origin.and_then(|origin| label(&origin.path)),
            size: origin.map(|origin| origin.size),
            place: item.place(),
            kind: item.kind,
        }
    }
}

/// Returns what a file with this name does.
fn label(path: &Path) -> Option<String> {
    let names = path.iter().map(|name| name.to_string_lossy());
    obeyed(Root::Folder, names).map(stockade_names::Name::label)
}

/// Everything of one group, whose folder is open and has this path.
pub(super) fn items_in(group: &str, folder: &OwnedFd, path: &Path) -> io::Result<Vec<Item>> {
    let origins = origins(folder)?;
    let mut items = Vec::new();
    for name in names(folder)?.into_iter().filter(|name| name != ORIGINS) {
        let origin = origins.iter().find(|origin| !origin.in_place && origin.name == name).cloned();
        let kind = kind(folder, &name);
        items.push(Item { group: group.to_owned(), folder: path.to_path_buf(), name, kind, origin });
    }
    for origin in origins.into_iter().filter(|origin| origin.in_place) {
        items.extend(in_place(group, origin));
    }
    items.sort_by_key(|item| item.origin.as_ref().map(|origin| origin.number));
    Ok(items)
}

/// Returns an entry that was renamed in its original directory; nothing if it was restored or deleted. If the directory cannot
/// be opened, the entry is listed as gone.
fn in_place(group: &str, origin: Origin) -> Option<Item> {
    let above = origin.path.parent().unwrap_or(Path::new(""));
    let folder = origin.workspace.join(above);
    let kind = match origin.parent() {
        Ok((parent, _)) => match super::origin::identity(&parent, &origin.name) {
            Some(identity) if identity == origin.thing => kind(&parent, &origin.name),
            Some(_) => QuarantinedKind::Gone,
            None => return None,
        },
        Err(_) => QuarantinedKind::Gone,
    };
    let name = origin.name.clone();
    Some(Item { group: group.to_owned(), folder, name, kind, origin: Some(origin) })
}

/// Reads the recorded origins of a group.
fn origins(group: &OwnedFd) -> io::Result<Vec<Origin>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(group, ORIGINS, flags, Mode::empty()) {
        Ok(file) => std::fs::File::from(file),
        Err(rustix::io::Errno::NOENT) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut bytes = Vec::new();
    file.take(MAX_ORIGINS).read_to_end(&mut bytes)?;
    Ok(Origin::read_all(&bytes))
}

fn kind(folder: &OwnedFd, name: &OsString) -> QuarantinedKind {
    use std::os::unix::ffi::OsStringExt as _;
    let Ok(data) = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else { return QuarantinedKind::Gone };
    match FileType::from_raw_mode(data.st_mode) {
        FileType::RegularFile => QuarantinedKind::File,
        FileType::Directory => QuarantinedKind::Folder,
        FileType::Symlink => {
            let to =
                readlinkat(folder, name, Vec::new()).map(std::ffi::CString::into_bytes).unwrap_or_default();
            QuarantinedKind::Link(OsString::from_vec(to).into())
        }
        _ => QuarantinedKind::Other,
    }
}
