//! The journal of running commands: the protected names before each command, recorded until the sweep after it. If the
//! supervisor is killed in between, the next one finds the file and sweeps instead. A command that starts meanwhile reads it to
//! recognize files that the other one created.
//!
//! The supervisor holds a lock on the file. The kernel releases it when the last process that could have changed the directories
//! is gone, so a file without a lock is stale.

#![expect(clippy::disallowed_methods, reason = "keeps a file for as long as a command runs")]

mod ended;
mod record;
mod snapshot;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use crate::moment::moment;
use crate::quarantined::{LeftBy, Quarantined};
use crate::sweep::{Before, Company, Maker, sweep, whole};
use record::{read, record};
pub(crate) use snapshot::Snapshot;

/// Maximum size of a file, and maximum number of files.
const MAX_LENGTH: u64 = 32 << 20;
const MAX_COUNT: usize = 256;

/// An incomplete file is deleted when it is older than this. A younger one may still be written.
const OLD: Duration = Duration::from_secs(60);

/// The journal file of a running command, from which another program sweeps if this one is killed.
pub(crate) struct Journal {
    state: PathBuf,
    path: PathBuf,
    locked: File,
    began: u128,
    is_kept: bool,
}

impl Journal {
    /// Records the state before a command.
    pub(crate) fn write(state: &Path, snapshot: &Snapshot) -> io::Result<Self> {
        let folder = state.join("running");
        let began = moment();
        let path = folder.join(format!("{began}-{}", std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC);
        let locked = match options.open(&path) {
            // Creating the directory only on failure saves a system call per command.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
                options.open(&path)?
            }
            opened => opened?,
        };
        let mut journal = Self { state: state.to_path_buf(), path, locked, began, is_kept: false };
        flock(&journal.locked, FlockOperation::LockExclusive)?;
        let record = record(snapshot)?;
        // Another program could not read it.
        if record.len() as u64 > MAX_LENGTH {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        journal.locked.write_all(&record)?;
        Ok(journal)
    }

    /// Returns the recorded states of running commands that may change the same directories.
    pub(crate) fn others(&self, snapshot: &Snapshot) -> Vec<(PathBuf, Snapshot)> {
        let Ok(files) = fs::read_dir(self.state.join("running")) else { return Vec::new() };
        let paths = files.flatten().map(|file| file.path()).filter(|path| *path != self.path);
        let others = paths.filter_map(|path| {
            let file = open(&path).ok()?;
            is_held(&file).then_some(())?;
            Some((path, read(&contents(&file)?)?))
        });
        others.filter(|(_, other)| other.shares_a_folder_with(snapshot)).collect()
    }

    /// Whether a command that ran at the same time and has ended may have replaced a file in the same directories.
    pub(crate) fn had_company(&self, snapshot: &Snapshot) -> bool {
        ended::any_since(&self.state, self.began, &snapshot.roots)
    }

    /// Records that the command ended, if it could have replaced existing files.
    pub(crate) fn end(&self, snapshot: &Snapshot) {
        if !snapshot.is_decided {
            ended::add(&self.state, &snapshot.roots).ok();
        }
    }

    /// Keeps the file, so that the next command sweeps again: a file could not be moved.
    pub(crate) fn keep(&mut self) {
        self.is_kept = true;
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if !self.is_kept {
            fs::remove_file(&self.path).ok();
        }
    }
}

/// Whether a command runs in a directory, in one of its parents or in one below it.
pub(crate) fn is_at_work(state: &Path, folder: &Path) -> bool {
    let Ok(files) = fs::read_dir(state.join("running")) else { return false };
    let is_there = |path: &Path| {
        let snapshot = open(path).ok().filter(is_held).and_then(|file| read(&contents(&file)?));
        snapshot.is_some_and(|snapshot| snapshot.changes(folder))
    };
    files.flatten().any(|file| is_there(&file.path()))
}

/// Whether the command of a journal file still runs.
pub(crate) fn runs(path: &Path) -> bool {
    open(path).is_ok_and(|file| is_held(&file))
}

fn open(path: &Path) -> io::Result<File> {
    let options = libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
    OpenOptions::new().read(true).custom_flags(options).open(path)
}

fn is_held(file: &File) -> bool {
    // A shared lock, so that two programs that check at the same time do not take each other for the supervisor.
    flock(file, FlockOperation::NonBlockingLockShared).is_err()
}

fn contents(file: &File) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MAX_LENGTH).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Sweeps after commands whose supervisor was killed.
pub(crate) fn recover(state: &Path) -> Vec<Quarantined> {
    let Ok(files) = fs::read_dir(state.join("running")) else { return Vec::new() };
    files.flatten().take(MAX_COUNT).flat_map(|file| recover_one(state, &file.path())).collect()
}

fn recover_one(state: &Path, path: &Path) -> Vec<Quarantined> {
    let Ok(file) = open(path) else { return Vec::new() };
    // The command still runs, or another program sweeps after it.
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Vec::new();
    }
    let is_old = file
        .metadata()
        .and_then(|data| data.modified())
        .is_ok_and(|time| time.elapsed().is_ok_and(|age| age > OLD));
    let Some(snapshot) = contents(&file).and_then(|bytes| read(&bytes)) else {
        if is_old {
            fs::remove_file(path).ok();
        }
        return Vec::new();
    };
    let before = Before::new(&snapshot.entries, &snapshot.git_targets, &snapshot.plans, Company::Alone);
    let taken = sweep(&snapshot.roots, &before, None, Maker::Unknown, Some(state), &snapshot.command).taken;
    if taken.iter().all(|one| one.moved_to.is_some()) {
        fs::remove_file(path).ok();
    }
    let whole = |found: Quarantined| Quarantined {
        path: whole(&snapshot.roots, &found.path),
        left_by: LeftBy::EarlierCommand,
        ..found
    };
    taken.into_iter().map(whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::roots::roots;

    #[test]
    fn files_left_by_a_killed_run_are_quarantined_once() {
        let (state, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let snapshot = Snapshot { roots: roots(Some(workspace.path()), &[]), ..Snapshot::default() };
        let journal = Journal::write(state.path(), &snapshot).unwrap();
        assert!(is_at_work(state.path(), workspace.path()) && !is_at_work(state.path(), state.path()));
        fs::write(workspace.path().join(".envrc"), "evil").unwrap();
        assert_eq!(recover(state.path()), [], "it still runs");
        // A killed supervisor leaves the file without its lock.
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

    /// What no later run could read is not written, so that the run reports a gap.
    #[test]
    fn a_flood_of_entries_is_no_journal() {
        let state = tempfile::tempdir().unwrap();
        let length = usize::try_from(MAX_LENGTH).unwrap();
        let snapshot = |length: usize| Snapshot { command: "x".repeat(length), ..Snapshot::default() };
        assert!(Journal::write(state.path(), &snapshot(length)).is_err());
        assert_eq!(fs::read_dir(state.path().join("running")).unwrap().count(), 0);
        assert!(Journal::write(state.path(), &snapshot(1)).is_ok());
    }

    #[test]
    fn no_flood_of_commands_hides_another() {
        let (state, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let snapshot = Snapshot { roots: roots(Some(workspace.path()), &[]), ..Snapshot::default() };
        let first = Journal::write(state.path(), &snapshot).unwrap();
        let folder = state.path().join("running");
        (0..2 * MAX_COUNT).for_each(|number| fs::write(folder.join(format!("{number}-1")), "x").unwrap());
        let _second = Journal::write(state.path(), &snapshot).unwrap();
        assert!(!first.others(&snapshot).is_empty());
    }

    #[test]
    fn commands_in_the_same_folders_know_of_each_other() {
        let (state, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let inner = workspace.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let snapshot = |path: &Path| Snapshot { roots: roots(Some(path), &[]), ..Snapshot::default() };
        let elsewhere = tempfile::tempdir().unwrap();
        let first = Journal::write(state.path(), &snapshot(workspace.path())).unwrap();
        let other = Journal::write(state.path(), &snapshot(elsewhere.path())).unwrap();
        let second = Journal::write(state.path(), &snapshot(&inner)).unwrap();
        let others = second.others(&snapshot(&inner));
        assert_eq!(others.len(), 1);
        assert!(runs(&others[0].0) && !first.had_company(&snapshot(workspace.path())));
        other.end(&snapshot(elsewhere.path()));
        assert!(!first.had_company(&snapshot(workspace.path())));
        second.end(&snapshot(&inner));
        assert!(first.had_company(&snapshot(workspace.path())));
        let third = Journal::write(state.path(), &snapshot(workspace.path())).unwrap();
        assert!(!third.had_company(&snapshot(workspace.path())), "those were over before");
    }
}
