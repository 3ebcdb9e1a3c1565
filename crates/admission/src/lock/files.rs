//! Digests of a skill's files, read as safely as the skill itself.

use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::name::name_of;
use crate::admit::AdmitError;
use sha2::{Digest as _, Sha256};
use stockade_files::{EntryKind, FileOptions, Gap, OpenFolder, OpenedPath, open_path};

/// Maximum total size of a skill's files.
const MAX_BYTES: u64 = 1 << 30;

/// Parts of a `.git` directory that are read: those that make git run programs. Git writes the others itself.
const OF_GIT: [&str; 4] = ["config", "config.worktree", "hooks", "info"];

/// Suffix of sample hooks, which never run.
const EXAMPLE: &str = ".sample";

/// Each file of a skill by its relative path: `sha256:…`, followed by ` executable` if it is; or the target of a
/// link.
pub(super) type Digests = BTreeMap<String, String>;

/// Reads a skill: a directory with everything in it, or a file. `except` is the lock file, should it be inside.
pub(super) fn digests(
    path: &Path,
    options: &FileOptions,
    except: Option<&Path>,
) -> Result<Digests, AdmitError> {
    let mut walk = Walk { options, except, found: Digests::new(), bytes: 0, entries: 0 };
    let unreadable = |error| fail(path, Gap::Unreadable(error));
    match open_path(path).map_err(unreadable)? {
        OpenedPath::Folder(folder) => walk.folder(&folder, path, Path::new(""), 0)?,
        OpenedPath::File(file) => {
            let name = path.file_name().map(Path::new).unwrap_or(path);
            walk.file(file, path, name)?;
        }
        OpenedPath::Special => return Err(fail(path, Gap::Special)),
    }
    Ok(walk.found)
}

/// Returns the written form of a digest.
pub(super) fn digest_of(bytes: &[u8]) -> String {
    shown(Sha256::new_with_prefix(bytes))
}

struct Walk<'w> {
    options: &'w FileOptions,
    except: Option<&'w Path>,
    found: Digests,
    bytes: u64,
    entries: usize,
}

impl Walk<'_> {
    fn folder(
        &mut self,
        folder: &OpenFolder,
        at: &Path,
        below: &Path,
        depth: usize,
    ) -> Result<(), AdmitError> {
        let FileOptions { max_depth, max_entries, .. } = *self.options;
        if depth > max_depth {
            return Err(fail(at, Gap::TooDeep { max_depth }));
        }
        let room = max_entries.saturating_sub(self.entries);
        let entries =
            folder.entries(room.saturating_add(1)).map_err(|error| fail(at, Gap::Unreadable(error)))?;
        self.entries = self.entries.saturating_add(entries.len());
        if self.entries > max_entries {
            return Err(fail(at, Gap::TooMany { max_entries }));
        }
        for entry in entries {
            let name = path_of(&entry.name);
            let (at, below) = (at.join(&name), below.join(&name));
            if self.except == Some(at.as_path()) || is_of_git_alone(&below) {
                continue;
            }
            self.entry(folder, &entry.name, entry.kind, &at, &below, depth)?;
        }
        Ok(())
    }

    fn entry(
        &mut self,
        folder: &OpenFolder,
        name: &CStr,
        kind: EntryKind,
        at: &Path,
        below: &Path,
        depth: usize,
    ) -> Result<(), AdmitError> {
        let unreadable = |error| fail(at, Gap::Unreadable(error));
        match kind {
            EntryKind::File => self.file(folder.open(name).map_err(unreadable)?, at, below),
            EntryKind::Folder => self.folder(&folder.enter(name).map_err(unreadable)?, at, below, depth + 1),
            EntryKind::Link => {
                let target = folder.link_target(name).map_err(unreadable)?;
                self.found.insert(name_of(below), format!("link:{}", name_of(&path_of(&target))));
                Ok(())
            }
            EntryKind::Special | EntryKind::Unknown => Err(fail(at, Gap::Special)),
        }
    }

    fn file(&mut self, file: OwnedFd, at: &Path, below: &Path) -> Result<(), AdmitError> {
        let left = MAX_BYTES.saturating_sub(self.bytes);
        let (digest, bytes) = read(file, left).map_err(|error| fail(at, Gap::Unreadable(error)))?;
        if bytes > left {
            let max_file_bytes = usize::try_from(MAX_BYTES).unwrap_or(usize::MAX);
            return Err(fail(at, Gap::TooLarge { max_file_bytes }));
        }
        self.bytes += bytes;
        self.found.insert(name_of(below), digest);
        Ok(())
    }
}

/// Reads a file in pieces, up to one byte more than allowed.
fn read(file: OwnedFd, most: u64) -> io::Result<(String, u64)> {
    let file = File::from(file);
    let is_program = file.metadata()?.permissions().mode() & 0o111 != 0;
    let mut file = file.take(most.saturating_add(1));
    let mut digest = Sha256::new();
    let mut piece = [0; 16 << 10];
    let mut bytes = 0;
    loop {
        let read = match file.read(&mut piece) {
            Ok(0) if is_program => return Ok((shown(digest) + " executable", bytes)),
            Ok(0) => return Ok((shown(digest), bytes)),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        digest.update(piece.get(..read).unwrap_or_default());
        bytes += u64::try_from(read).unwrap_or(u64::MAX);
    }
}

/// Whether a path is inside a `.git` directory and irrelevant to what git runs.
fn is_of_git_alone(below: &Path) -> bool {
    let mut within = below.iter().skip_while(|part| *part != ".git").skip(1);
    let Some(first) = within.next() else { return false };
    let is_example = below.extension().is_some_and(|ending| EXAMPLE.get(1..) == ending.to_str());
    is_example || !OF_GIT.iter().any(|known| first == *known)
}

fn shown(digest: Sha256) -> String {
    format!("sha256:{}", stockade_text::to_hex(&digest.finalize()))
}

fn fail(path: &Path, gap: Gap) -> AdmitError {
    AdmitError { path: path.to_owned(), gap }
}

fn path_of(name: &CStr) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(name.to_bytes()))
}
