//! What had a protected name before a command, written down until the command has been swept after. Should this program be
//! killed in between, the next one finds it and sweeps instead.
//!
//! Whoever writes holds a lock on the file; the kernel lets go of it when the last process is gone that could have changed
//! the workspace. A file without a lock is one that somebody left behind.

#![expect(clippy::disallowed_methods, reason = "keeps a file for as long as a command runs")]

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use crate::host::{Entry, ProtectedEntry, ProtectionMode};
use crate::sweep::{moment, sweep};
use crate::{LeftBy, Quarantined};

/// At the end of every file: one without it was not written to its end, so nothing had been started.
const END: &[u8] = b"end";

/// Longest file that is read, and the most that are looked at.
const MAX_LENGTH: u64 = 8 << 20;
const MAX_COUNT: usize = 256;

/// A file that is not complete is taken away when it is older than this.
const OLD: Duration = Duration::from_secs(60);

/// A file that says what to sweep, should this program not come to it.
pub(crate) struct Journal {
    path: PathBuf,
    locked: File,
}

impl Journal {
    /// Writes down what there was before.
    pub(crate) fn write(
        state: &Path,
        workspace: &Path,
        command: &str,
        before: &[ProtectedEntry],
    ) -> io::Result<Self> {
        let folder = state.join("running");
        let path = folder.join(format!("{}-{}", moment(), std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC);
        let locked = match options.open(&path) {
            // Most often, the folder is there.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
                options.open(&path)?
            }
            opened => opened?,
        };
        let mut journal = Self { path, locked };
        flock(&journal.locked, FlockOperation::LockExclusive)?;
        journal.locked.write_all(&record(workspace, command, &fs::symlink_metadata(workspace)?, before))?;
        Ok(journal)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        fs::remove_file(&self.path).ok();
    }
}

/// Sweeps after programs that were killed before they came to it.
pub(crate) fn recover(state: &Path) -> Vec<Quarantined> {
    let Ok(files) = fs::read_dir(state.join("running")) else { return Vec::new() };
    files.flatten().take(MAX_COUNT).flat_map(|file| recover_one(state, &file.path())).collect()
}

/// Whether a command is at work in a workspace.
pub(crate) fn is_at_work(state: &Path, workspace: &Path) -> bool {
    let Ok(files) = fs::read_dir(state.join("running")) else { return false };
    let options = libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
    files.flatten().any(|file| {
        let opened = OpenOptions::new().read(true).custom_flags(options).open(file.path());
        opened.is_ok_and(|file| {
            let is_locked = flock(&file, FlockOperation::NonBlockingLockShared).is_err();
            let mut bytes = Vec::new();
            is_locked
                && file.take(MAX_LENGTH).read_to_end(&mut bytes).is_ok()
                && bytes.split(|byte| *byte == 0).next().is_some_and(|named| path(named) == workspace)
        })
    })
}

fn recover_one(state: &Path, path: &Path) -> Vec<Quarantined> {
    let options = libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
    let Ok(file) = OpenOptions::new().read(true).custom_flags(options).open(path) else { return Vec::new() };
    // Whoever wrote it is still there.
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Vec::new();
    }
    let mut bytes = Vec::new();
    let is_old = file
        .metadata()
        .and_then(|data| data.modified())
        .is_ok_and(|time| time.elapsed().is_ok_and(|age| age > OLD));
    let is_read = file.take(MAX_LENGTH).read_to_end(&mut bytes).is_ok();
    let Some((workspace, command, before)) = is_read.then(|| read(&bytes)).flatten() else {
        if is_old {
            fs::remove_file(path).ok();
        }
        return Vec::new();
    };
    let taken = sweep(&workspace, &before, Some(state), &command).taken;
    fs::remove_file(path).ok();
    let whole = |found: Quarantined| Quarantined {
        path: workspace.join(found.path),
        left_by: LeftBy::EarlierCommand,
        ..found
    };
    taken.into_iter().map(whole).collect()
}

/// Fields that end in a zero byte: the workspace, which folder that is, the command, then three for each entry.
fn record(workspace: &Path, command: &str, data: &fs::Metadata, before: &[ProtectedEntry]) -> Vec<u8> {
    let identity = format!("{}:{}", data.dev(), data.ino());
    let command = command.replace('\0', " ");
    let mut fields = vec![workspace.as_os_str().as_bytes(), identity.as_bytes(), command.as_bytes()];
    for entry in before {
        let (kind, to) = match &entry.kind {
            Entry::Folder => ("d", None),
            Entry::File => ("f", None),
            Entry::Socket => ("s", None),
            Entry::Other => ("o", None),
            Entry::Link { to, .. } => ("l", to.as_deref()),
        };
        let to = to.map_or(&b""[..], |to| to.as_os_str().as_bytes());
        fields.extend([kind.as_bytes(), entry.path.as_os_str().as_bytes(), to]);
    }
    fields.push(END);
    fields.into_iter().flat_map(|field| field.iter().copied().chain([0])).collect()
}

/// Returns the workspace and what there was, if the file is complete and the workspace is still the same folder.
fn read(bytes: &[u8]) -> Option<(PathBuf, String, Vec<ProtectedEntry>)> {
    let fields: Vec<&[u8]> = bytes.strip_suffix(b"\0")?.split(|byte| *byte == 0).collect();
    let (end, fields) = fields.split_last()?;
    let [workspace, identity, command, entries @ ..] = fields else { return None };
    let workspace = path(workspace);
    let data = fs::symlink_metadata(&workspace).ok()?;
    let is_same = identity == &format!("{}:{}", data.dev(), data.ino()).as_bytes();
    if *end != END || !is_same || entries.len() % 3 != 0 {
        return None;
    }
    let before = entries.chunks_exact(3).map(|row| match row {
        [kind, below, to] => entry(kind, below, to),
        _ => None,
    });
    Some((workspace, String::from_utf8_lossy(command).into_owned(), before.collect::<Option<_>>()?))
}

fn entry(kind: &[u8], below: &[u8], to: &[u8]) -> Option<ProtectedEntry> {
    let kind = match kind {
        b"d" => Entry::Folder,
        b"f" => Entry::File,
        b"s" => Entry::Socket,
        b"o" => Entry::Other,
        b"l" => Entry::Link { to: (!to.is_empty()).then(|| path(to)), resolved: None },
        _ => return None,
    };
    // What is done about it while a command runs is of no more interest.
    Some(ProtectedEntry { path: path(below), kind, mode: ProtectionMode::ReadOnly })
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn before() -> Vec<ProtectedEntry> {
        let link = Entry::Link { to: Some("/x\n".into()), resolved: None };
        let rows = [(".git", Entry::Folder), (".idea", link), (".envrc", Entry::File)];
        let entry = |(path, kind): (&str, Entry)| ProtectedEntry {
            path: path.into(),
            kind,
            mode: ProtectionMode::ReadOnly,
        };
        rows.map(entry).into()
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let data = fs::symlink_metadata(folder.path()).unwrap();
        let bytes = record(folder.path(), "make\0it", &data, &before());
        assert_eq!(read(&bytes), Some((folder.path().to_path_buf(), "make it".to_owned(), before())));
        for length in 0..bytes.len() {
            assert_eq!(read(&bytes[..length]), None, "{length}");
        }
        let other = tempfile::tempdir().unwrap();
        let data = fs::symlink_metadata(other.path()).unwrap();
        assert_eq!(read(&record(folder.path(), "", &data, &[])), None);
    }

    #[test]
    fn what_a_killed_program_left_is_taken_away_once() {
        let (state, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let journal = Journal::write(state.path(), workspace.path(), "make", &[]).unwrap();
        assert!(is_at_work(state.path(), workspace.path()) && !is_at_work(state.path(), state.path()));
        fs::write(workspace.path().join(".envrc"), "evil").unwrap();
        assert_eq!(recover(state.path()), [], "it still runs");
        // What a kill leaves: the file without its lock.
        let (path, bytes) = (journal.path.clone(), fs::read(&journal.path).unwrap());
        drop(journal);
        fs::write(&path, bytes).unwrap();
        let taken = recover(state.path());
        assert_eq!(taken.len(), 1, "{taken:?}");
        assert_eq!(taken[0].path, workspace.path().join(".envrc"));
        assert!(taken[0].moved_to.as_ref().is_some_and(|path| path.starts_with(state.path())), "{taken:?}");
        assert!(!workspace.path().join(".envrc").exists() && !path.exists());
        assert_eq!(recover(state.path()), []);
        assert!(!is_at_work(state.path(), workspace.path()));
    }
}
