//! Moves files from a workspace to the quarantine.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, openat, renameat_with, statat};

use super::folder::{FOLDER, make_folder};
use super::origin::{ORIGINS, Origin, group_name, identity, identity_of};
use super::store::QuarantineStore;
use crate::moment::moment;
use crate::outcome::DroppedGroup;

/// Maximum length of the readable part of an entry's name, which is the end of its original path.
const MAX_SHOWN: usize = 100;

/// Maximum number and depth of files that are counted for the size of an entry.
const MAX_COUNTED: u32 = 20_000;
const MAX_DEPTH: u32 = 32;

/// The workspace and command of quarantined files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taker<'t> {
    /// The state directory, if this user has one.
    pub(crate) state: Option<&'t Path>,
    /// The workspace, and its descriptor.
    pub(crate) workspace: &'t Path,
    pub(crate) root: &'t OwnedFd,
    /// The command that created the files, as text; empty if it is unknown.
    pub(crate) command: &'t str,
}

/// The group of files of one command. It is created with its first entry.
#[derive(Debug)]
pub(crate) struct Taking<'t> {
    whose: Taker<'t>,
    group: Option<Group>,
    number: u32,
    /// How many more files are counted for sizes.
    counted: u32,
}

#[derive(Debug)]
struct Group {
    store: QuarantineStore,
    folder: OwnedFd,
    name: String,
    origins: std::fs::File,
}

/// The current path of an entry, and its identifier unless its origin could not be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) place: PathBuf,
    pub(crate) id: Option<String>,
}

impl<'t> Taking<'t> {
    pub(crate) fn new(whose: Taker<'t>) -> Self {
        Self { whose, group: None, number: 0, counted: MAX_COUNTED }
    }

    /// Moves a file to the quarantine, or renames it in its directory to a name that no program obeys. `from` is the directory of
    /// `path`, which is relative to the workspace.
    pub(crate) fn take(&mut self, from: &OwnedFd, name: &OsStr, path: &Path) -> io::Result<Taken> {
        self.number += 1;
        let number = self.number;
        let size = size(from, name, &mut self.counted, 0);
        let origin = Origin {
            number,
            name: shown(number, path),
            in_place: false,
            workspace: self.whose.workspace.to_path_buf(),
            workspace_identity: identity_of(self.whose.root).unwrap_or_default(),
            path: path.to_path_buf(),
            thing: identity(from, name).ok_or(io::ErrorKind::NotFound)?,
            size,
            command: self.whose.command.to_owned(),
        };
        let moved = self.group().and_then(|group| {
            // Recorded before the move: an origin without its file is ignored, a file without its origin could not be restored.
            group.origins.write_all(&origin.written())?;
            renameat_with(from, name, &group.folder, &origin.name, RenameFlags::NOREPLACE)?;
            let place = group.store.path.join(&group.name).join(&origin.name);
            Ok(Taken { place, id: Some(format!("{}.{number}", group.name)) })
        });
        moved.or_else(|_| self.leave(from, name, origin))
    }

    /// Renames a file in its directory to a name that no program obeys: it is on another disk, or there is no state directory.
    fn leave(&mut self, from: &OwnedFd, name: &OsStr, origin: Origin) -> io::Result<Taken> {
        let inert = OsString::from(format!("quarantined-{}-{}", group_name(moment()), origin.number));
        let parent = self.whose.workspace.join(origin.path.parent().unwrap_or(Path::new("")));
        let place = parent.join(&inert);
        let origin = Origin { name: inert, in_place: true, ..origin };
        let written = self.group().and_then(|group| {
            group.origins.write_all(&origin.written())?;
            Ok(format!("{}.{}", group.name, origin.number))
        });
        renameat_with(from, name, from, &origin.name, RenameFlags::NOREPLACE)?;
        Ok(Taken { place, id: written.ok() })
    }

    /// Deletes the oldest groups beyond the limits, and returns them.
    pub(crate) fn make_room(&self) -> Vec<DroppedGroup> {
        self.group.as_ref().map(|group| group.store.make_room(&group.name)).unwrap_or_default()
    }

    fn group(&mut self) -> io::Result<&mut Group> {
        if self.group.is_none() {
            self.group = Some(Group::make(self.whose.state.ok_or(io::ErrorKind::NotFound)?)?);
        }
        self.group.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Group {
    fn make(state: &Path) -> io::Result<Self> {
        let store = QuarantineStore::make(state)?;
        let (name, folder) = loop {
            let name = group_name(moment());
            match make_folder(&store.folder, &name) {
                Ok(folder) => break (name, folder),
                // Another command created a group in the same nanosecond.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        let flags = OFlags::WRONLY
            | OFlags::CREATE
            | OFlags::EXCL
            | OFlags::APPEND
            | OFlags::NOFOLLOW
            | OFlags::CLOEXEC;
        let origins = openat(&folder, ORIGINS, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(Self { store, folder, name, origins: origins.into() })
    }
}

/// Returns the name of an entry in its group: a number, and the end of its original path.
fn shown(number: u32, path: &Path) -> OsString {
    let flat: Vec<u8> =
        path.as_os_str().as_bytes().iter().map(|byte| if *byte == b'/' { b'%' } else { *byte }).collect();
    let end = flat.get(flat.len().saturating_sub(MAX_SHOWN)..).unwrap_or_default();
    OsString::from_vec([format!("{number}-").as_bytes(), end].concat())
}

/// Returns the disk usage of a file or directory, limited to a number of counted files.
fn size(at: &OwnedFd, name: &OsStr, counted: &mut u32, depth: u32) -> u64 {
    let Ok(data) = statat(at, name, AtFlags::SYMLINK_NOFOLLOW) else { return 0 };
    let own = u64::try_from(data.st_blocks).unwrap_or_default().saturating_mul(512);
    if FileType::from_raw_mode(data.st_mode) != FileType::Directory || depth >= MAX_DEPTH {
        return own;
    }
    let listed =
        openat(at, name, FOLDER, Mode::empty()).and_then(|folder| Ok((Dir::read_from(&folder)?, folder)));
    let Ok((entries, folder)) = listed else { return own };
    let mut sum = own;
    for entry in entries.flatten() {
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        if *counted == 0 {
            break;
        }
        *counted -= 1;
        sum = sum.saturating_add(size(&folder, OsStr::from_bytes(name), counted, depth + 1));
    }
    sum
}
