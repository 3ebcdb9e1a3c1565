//! The state of a trail, stored outside of it: where the trail ends, and the keys for the next record and checkpoint.
//!
//! Each trail has a state file in a directory of the user that is not visible in a sandbox. An attacker who edits the trail does
//! not have the keys in it, so a missing, changed or added record is found. The file has two slots, and each write replaces the
//! older one: a power failure can damage one of them, but never both.
#![expect(clippy::disallowed_methods, reason = "reads, writes and locks the state files of trails")]

mod known;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use sha2::{Digest as _, Sha256};

use crate::lock_wait::{self, LockMode};
use crate::private::create_private_folder;
use known::Written;
#[cfg(feature = "sqlite")]
pub(crate) use known::mark_of_run;
pub(crate) use known::{Known, Rotation, with_seal};
use stockade_files::regular_file::open_regular;
use stockade_files::{OwnAccess, open_own};
use stockade_text::to_hex;

/// Size of a slot in bytes. A state needs a few thousand.
const PLACE_BYTES: u64 = 32 << 10;

/// How long a process waits for the lock of another one.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The state file of a trail.
#[derive(Debug)]
pub(crate) struct Register {
    path: PathBuf,
    file: File,
}

/// An exclusive lock on the state file, released on drop.
pub(crate) struct Locked<'r>(&'r File);

impl Register {
    /// Opens or creates the state file of the trail at this path.
    pub(crate) fn open(folder: &Path, trail: &Path) -> io::Result<Self> {
        let path = file_of(folder, trail);
        let opened = match open_own(&path, OwnAccess::Keep) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create_private_folder(folder)?;
                open_own(&path, OwnAccess::Keep)
            }
            opened => opened,
        };
        Ok(Self { path, file: opened? })
    }

    /// Opens the state file of the trail at this path for reading. Returns `None` if it does not exist.
    pub(crate) fn find(folder: &Path, trail: &Path) -> io::Result<Option<Self>> {
        let path = file_of(folder, trail);
        match open_regular(&path) {
            Ok(file) => Ok(Some(Self { path, file })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Finds the state file of a trail that starts with this record and was moved to another path since.
    pub(crate) fn find_moved(folder: &Path, first: &str) -> io::Result<Option<(PathBuf, Known)>> {
        let mut found = None;
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let Ok(file) = open_regular(&path) else { continue };
            let Ok(Some(known)) = (Self { path: path.clone(), file }).read() else { continue };
            let is_newer =
                found.as_ref().is_none_or(|(_, found): &(PathBuf, Known)| found.head.id < known.head.id);
            if is_newer && known.first.as_deref() == Some(first) && fs::symlink_metadata(&known.path).is_err()
            {
                found = Some((path, known));
            }
        }
        Ok(found)
    }

    /// Whether the file still has its name.
    pub(crate) fn is_in_place(&self) -> io::Result<bool> {
        let open = self.file.metadata()?;
        let found = fs::symlink_metadata(&self.path);
        Ok(found.is_ok_and(|found| (found.dev(), found.ino()) == (open.dev(), open.ino())))
    }

    /// Locks the file, and waits for other processes.
    pub(crate) fn lock(&self) -> io::Result<Locked<'_>> {
        lock_wait::wait(&self.file, LockMode::Exclusive, LOCK_TIMEOUT)?;
        Ok(Locked(&self.file))
    }

    /// Returns the newest valid state. Returns `None` for a new file.
    pub(crate) fn read(&self) -> io::Result<Option<Known>> {
        let slot = usize::try_from(PLACE_BYTES).unwrap_or(0);
        // Both slots by one call of the kernel.
        let mut bytes = vec![0; 2 * slot];
        let read = read_at_most(&self.file, &mut bytes, 0)?;
        if read == 0 {
            return Ok(None);
        }
        let slots = bytes.get(..read).unwrap_or_default().chunks(slot.max(1));
        let newest = slots.filter_map(known_in).max_by_key(|known| known.turn);
        newest.map(Some).ok_or_else(|| io::Error::other("it cannot be read"))
    }

    /// Writes the state. With `is_lasting`, it is synced, and the older slot is wiped, because its keys could seal older records
    /// again.
    pub(crate) fn write(&self, known: &mut Known, is_lasting: bool) -> io::Result<()> {
        known.turn = known.turn.saturating_add(1);
        let text = serde_json::to_string(&Written::of(known))?;
        let line = format!("{}{text}\n", to_hex(&Sha256::digest(text.as_bytes())));
        let place = known.turn % 2;
        if u64::try_from(line.len()).unwrap_or(u64::MAX) > PLACE_BYTES {
            return Err(io::Error::other("the trail state has too many entries"));
        }
        if let Err(error) = self.file.write_all_at(line.as_bytes(), place * PLACE_BYTES) {
            // Half of the only state would be a file that cannot be read, instead of a new one.
            if known.turn == 1 {
                self.file.set_len(0).ok();
            }
            return Err(error);
        }
        if is_lasting {
            self.file.sync_data()?;
            let older = (1 - place) * PLACE_BYTES;
            self.file.write_all_at(&vec![0; usize::try_from(PLACE_BYTES).unwrap_or(0)], older)?;
        }
        Ok(())
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        flock(self.0, FlockOperation::Unlock).ok();
    }
}

fn file_of(folder: &Path, trail: &Path) -> PathBuf {
    let name = to_hex(&Sha256::digest(trail.as_os_str().as_encoded_bytes()));
    folder.join(name.get(..32).unwrap_or_default()).with_extension("register")
}

/// Returns the state in a slot, if it is whole.
fn known_in(slot: &[u8]) -> Option<Known> {
    // A wiped slot has no line, and none is searched for in it.
    slot.first().filter(|byte| byte.is_ascii_hexdigit())?;
    let end = slot.iter().position(|byte| *byte == b'\n')?;
    let (digest, text) = slot.get(..end)?.split_at_checked(64)?;
    if to_hex(&Sha256::digest(text)).as_bytes() != digest {
        return None;
    }
    serde_json::from_slice(text).ok().and_then(Written::known)
}

/// Reads until the buffer is full or the file ends.
fn read_at_most(file: &File, bytes: &mut [u8], from: u64) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, from + u64::try_from(filled).unwrap_or(0))? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::PREFIX_BYTES;

    fn site() -> (tempfile::TempDir, Register, Known) {
        let folder = tempfile::tempdir().unwrap();
        let trail = Path::new("/srv/audit.db");
        let register = Register::open(folder.path(), trail).unwrap();
        let mut known = Known::new(trail).unwrap();
        assert_eq!(register.read().unwrap(), None);
        register.write(&mut known, true).unwrap();
        (folder, register, known)
    }

    #[test]
    fn a_written_state_is_read_back() {
        let (folder, register, mut known) = site();
        assert_eq!(register.read().unwrap().as_ref(), Some(&known));
        known.recent = vec![1; 64 * PREFIX_BYTES];
        known.frontier.parts = vec![[9; 32]; 64];
        register.write(&mut known, false).unwrap();
        let found = Register::find(folder.path(), Path::new("/srv/audit.db")).unwrap().unwrap();
        assert_eq!(found.read().unwrap(), Some(known));
        assert!(Register::find(folder.path(), Path::new("/srv/other.db")).unwrap().is_none());
    }

    /// After an interrupted write, the previous state can still be read.
    #[test]
    fn a_damaged_slot_does_not_lose_the_other() {
        let (_folder, register, known) = site();
        let mut newer = known.clone();
        register.write(&mut newer, false).unwrap();
        for bytes in [1, 64, 200] {
            register.file.write_all_at(&vec![b'x'; bytes], (newer.turn % 2) * PLACE_BYTES).unwrap();
            assert_eq!(register.read().unwrap().as_ref(), Some(&known));
        }
        register.file.write_all_at(b"x", (known.turn % 2) * PLACE_BYTES).unwrap();
        assert!(register.read().is_err(), "both slots are damaged, which is not the same as a new file");
    }

    #[test]
    fn a_lasting_write_wipes_older_keys() {
        let (_folder, register, known) = site();
        let old = known.key.written();
        let mut newer = known;
        newer.key.move_on();
        register.write(&mut newer, true).unwrap();
        let mut all = vec![0; 2 * usize::try_from(PLACE_BYTES).unwrap()];
        let read = read_at_most(&register.file, &mut all, 0).unwrap();
        assert!(!String::from_utf8_lossy(&all[..read]).contains(&old));
    }
}
