//! Seals what is written to a trail, and finds that the trail is another than the one that is known.
#![expect(
    clippy::disallowed_methods,
    reason = "reads and writes the file of checkpoints, and asks how much time has passed"
)]

use std::fs;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::anchor::Anchor;
use crate::checkpoint::{PREFIX_BYTES, Said};
use crate::checkpoint_file::{CheckpointFile, MAX_CHECKPOINT_BYTES, Notes};
use crate::error::{AuditError, Disagreement, Displaced};
use crate::record::AuditRecord;
use crate::register::{Known, Register};
use crate::rotation;
use crate::store::{Seal, Store};
use crate::verify::Beside;
use stockade_files::regular_file::open_regular;
use stockade_files::{OwnAccess, open_own};
use stockade_text::Timestamp;

/// How many records there are at most between two checkpoints.
const CHECKPOINT_EVERY: usize = 64;

/// For how long it is taken for granted that the register is at its place.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(500);

/// What seals a trail.
#[derive(Debug)]
pub(crate) struct Sealing {
    path: PathBuf,
    register: Register,
    /// When the register was last seen at its place.
    looked: Mutex<Instant>,
    anchors: Vec<Anchor>,
}

/// Whether a run ends with what is written, so that a checkpoint is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// One is made whenever there are enough new records.
    Sometimes,
    /// One is made now.
    Now,
    /// As [`Due::Sometimes`], for the end of what was cut off: nothing begins, so no anchor must be told before.
    Recovery,
}

impl Sealing {
    /// Finds what is known of a trail. This comes before the trail is opened, which would create one that is gone.
    pub(crate) fn find(folder: &Path, path: &Path, anchors: Vec<Anchor>) -> Result<Self, AuditError> {
        let failed = |error| unusable(path, "opening its register", error);
        let register = Register::open(folder, path).map_err(failed)?;
        rotation::finish(folder, path, &register)
            .map_err(|error| unusable(path, "finishing its rotation", error))?;
        if fs::symlink_metadata(path).is_err()
            && let Some(known) = register.read().map_err(failed)?.filter(|known| known.head.id > 0)
        {
            return Err(disagrees(path, Disagreement::Gone { records: known.head.id }));
        }
        Ok(Self { path: path.to_owned(), register, looked: Mutex::new(Instant::now()), anchors })
    }

    /// Whether the trail that was opened is the one that is known. One that is new becomes known.
    pub(crate) fn enter(&self, folder: &Path, store: &dyn Store, now: Timestamp) -> Result<(), AuditError> {
        let failed = |error| unusable(&self.path, "reading its register", error);
        let _locked = self.register.lock().map_err(failed)?;
        let known = self.register.read().map_err(failed)?;
        let mut now_known = match &known {
            Some(known) => known.clone(),
            None => self.begin(folder, store)?,
        };
        // In one look, or each question would lock and unlock the index of the journal.
        let is_listed = store.at_once(&mut |store| {
            self.catch_up(&mut now_known, store)?;
            self.ask_anchors(&now_known, store)?;
            now_known.open_runs.map_or(Ok(true), |marks| store.lists_runs(marks))
        })?;
        if !is_listed {
            store.list_runs_anew()?;
        }
        let mut told = Ok(());
        if now_known.checkpoint_bytes == 0 {
            self.register.write(&mut now_known, true).map_err(failed)?;
            self.checkpoint(&mut now_known, now)?;
            told = self.tell_anchors(&mut now_known);
        }
        if known.as_ref() == Some(&now_known) {
            return Ok(());
        }
        self.register.write(&mut now_known, true).map_err(failed)?;
        told
    }

    /// What is known of a trail that no register has: nothing, because it is new. One that has records could be written anew from
    /// its first record on, unless it was moved here.
    fn begin(&self, folder: &Path, store: &dyn Store) -> Result<Known, AuditError> {
        let failed = |error| unusable(&self.path, "making its register", error);
        if let Some(first) = first_digest(store)? {
            let moved = Register::find_moved(folder, &first).map_err(failed)?;
            let (old, known) = moved.ok_or_else(|| disagrees(&self.path, Disagreement::Unknown))?;
            let mut known = known.at(&self.path);
            // If this process is killed in between, both know the trail.
            self.register.write(&mut known, true).map_err(failed)?;
            fs::remove_file(old).map_err(failed)?;
            return Ok(known);
        }
        match checkpoint_bytes(&self.path).map_err(failed)? {
            0 => Known::new(&self.path).map_err(failed),
            _ => Err(disagrees(&self.path, Disagreement::Unknown)),
        }
    }

    /// Lets `act` write to the trail, which seals each record as it is made.
    pub(crate) fn write<T>(
        &self,
        store: &mut dyn Store,
        now: Timestamp,
        due: Due,
        act: impl FnOnce(&mut dyn Store, Seal<'_>) -> Result<T, AuditError>,
    ) -> Result<T, AuditError> {
        let failed = |error| unusable(&self.path, "writing to its register", error);
        let _locked = self.register.lock().map_err(failed)?;
        self.check_register()?;
        // What is known is known of the file that is there.
        store.check_place()?;
        let known = self.register.read().map_err(failed)?;
        let mut known = known.ok_or_else(|| disagrees(&self.path, Disagreement::Unknown))?;
        if known.is_being_moved() {
            return Err(AuditError::Displaced { path: self.path.clone(), how: Displaced::Gone });
        }
        self.catch_up(&mut known, store)?;
        // What could not be told at the last end is told before anything else begins.
        let told_bytes = known.told_bytes;
        if due != Due::Recovery {
            self.tell_anchors(&mut known)?;
        }
        let before = known.head.clone();
        if let Some(rotation) = known.rotation.take().filter(|_| known.head.id == 0) {
            store.append(vec![rotation.draft()], now, &mut |record| known.seal(record))?;
        }
        let done = act(store, &mut |record: &mut AuditRecord| known.seal(record))?;
        if known.head == before {
            if known.told_bytes != told_bytes {
                self.register.write(&mut known, true).map_err(failed)?;
            }
            return Ok(done);
        }
        let is_due = due == Due::Now || known.recent.len() / PREFIX_BYTES >= CHECKPOINT_EVERY;
        let mut told = Ok(());
        if is_due {
            self.checkpoint(&mut known, now)?;
            told = self.tell_anchors(&mut known);
        }
        self.register.write(&mut known, is_due).map_err(failed)?;
        told.map(|()| done)
    }

    /// Checks that the register still has its name: seals by a key that is in no file could not be checked later. A process that
    /// ends soon does not look again.
    fn check_register(&self) -> Result<(), AuditError> {
        let mut looked = self.looked.lock().map_err(|_| AuditError::Poisoned)?;
        if looked.elapsed() < LOOK_AGAIN_AFTER {
            return Ok(());
        }
        *looked = Instant::now();
        match self
            .register
            .is_in_place()
            .map_err(|error| unusable(&self.path, "looking for its register", error))?
        {
            true => Ok(()),
            false => Err(disagrees(&self.path, Disagreement::Unknown)),
        }
    }

    /// Takes in what was written and could not be put into the register: a process may be killed in between.
    fn catch_up(&self, known: &mut Known, store: &dyn Store) -> Result<(), AuditError> {
        let head = store.head()?;
        let differs = |why| Err(disagrees(&self.path, why));
        if head.id < known.head.id {
            return differs(Disagreement::Behind { ends: head.id, records: known.head.id });
        }
        if head.id == known.head.id && head.hash != known.head.hash {
            return differs(Disagreement::Other { id: head.id });
        }
        if head.id > known.head.id {
            let mut foreign = None;
            store.each_behind(known.head.id, &mut |record| match known.accept(&record) {
                true => ControlFlow::Continue(()),
                false => {
                    foreign = Some(record.id);
                    ControlFlow::Break(())
                }
            })?;
            if let Some(id) = foreign {
                return differs(Disagreement::Unsealed { id });
            }
        }
        self.catch_up_checkpoints(known)
    }

    fn catch_up_checkpoints(&self, known: &mut Known) -> Result<(), AuditError> {
        let failed = |error| unusable(&self.path, "reading the checkpoints", error);
        let length = checkpoint_bytes(&self.path).map_err(failed)?;
        if length == known.checkpoint_bytes {
            return Ok(());
        }
        let differs = || disagrees(&self.path, Disagreement::Checkpoints);
        let path = checkpoint_path(&self.path);
        let mut file = open_regular(&path).map_err(failed)?;
        if length < known.checkpoint_bytes {
            return Err(differs());
        }
        file.seek(SeekFrom::Start(known.checkpoint_bytes)).map_err(failed)?;
        for checkpoint in Notes::new(BufReader::new(file.take(MAX_CHECKPOINT_BYTES))) {
            match checkpoint {
                Ok(checkpoint) => known.take_checkpoint(&checkpoint).ok_or_else(differs)?,
                Err(error) if error.is_torn(&known.origin) => {
                    cut(&path, known.checkpoint_bytes).map_err(failed)?;
                }
                Err(_) => return Err(differs()),
            }
        }
        Ok(())
    }

    /// Says how much is on record, and moves on to the next key.
    fn checkpoint(&self, known: &mut Known, now: Timestamp) -> Result<(), AuditError> {
        let next = known.signing.next();
        let said = Said {
            origin: &known.origin,
            size: known.head.id,
            root: known.frontier.root(),
            head: &known.head.hash,
            time: now.to_string(),
            is_first: known.checkpoint_bytes == 0,
            next: &next.key(),
            recent: known.recent.clone(),
        };
        let note = said.signed_by(&known.signing.key());
        append(&checkpoint_path(&self.path), &note)
            .map_err(|error| unusable(&self.path, "writing a checkpoint", error))?;
        known.signing = next;
        known.checkpoint_bytes += u64::try_from(note.len()).unwrap_or(0);
        known.recent.clear();
        Ok(())
    }

    /// Tells the anchors of the checkpoints that they were not told yet. One may be told twice.
    fn tell_anchors(&self, known: &mut Known) -> Result<(), AuditError> {
        if !self.anchors.is_empty() && known.told_bytes < known.checkpoint_bytes {
            let failed = |error| unusable(&self.path, "telling the anchor of a checkpoint", error);
            let mut file = open_regular(&checkpoint_path(&self.path)).map_err(failed)?;
            file.seek(SeekFrom::Start(known.told_bytes)).map_err(failed)?;
            let untold = known.checkpoint_bytes - known.told_bytes;
            let mut text = String::new();
            file.take(untold.min(MAX_CHECKPOINT_BYTES)).read_to_string(&mut text).map_err(failed)?;
            self.anchors.iter().try_for_each(|anchor| anchor.tell(&text).map_err(failed))?;
        }
        known.told_bytes = known.checkpoint_bytes;
        Ok(())
    }

    /// Compares the trail with the last checkpoint that each readable anchor was told.
    fn ask_anchors(&self, known: &Known, store: &dyn Store) -> Result<(), AuditError> {
        for anchor in &self.anchors {
            // One that cannot be read cannot be told either, which is reported there.
            let Ok(Some(told)) = anchor.last_told(&known.origin) else { continue };
            let mut is_there = told.size == 0;
            store.each_link_behind(told.size.saturating_sub(1), &mut |link| {
                is_there |= link.id == told.size && link.hash == told.head;
                ControlFlow::Break(())
            })?;
            if !is_there {
                return Err(disagrees(&self.path, Disagreement::Anchor { size: told.size }));
            }
        }
        Ok(())
    }
}

/// Adds the checkpoints that lie beside a trail, and what is wrong with them.
pub(crate) fn checkpoints(path: &Path, beside: &mut Beside<'_>) {
    let (known, unsound) = (beside.known.as_ref(), &mut beside.unsound);
    beside.checkpoints = CheckpointFile::check(&checkpoint_path(path), known, unsound);
}

/// Returns the digest of the first record.
pub(crate) fn first_digest(store: &dyn Store) -> Result<Option<String>, AuditError> {
    let mut first = None;
    store.each_behind(0, &mut |record| {
        first = Some(record.hash);
        ControlFlow::Break(())
    })?;
    Ok(first)
}

/// Whether a trail is sealed, which only its register can go on with.
pub(crate) fn check_unsealed(path: &Path, store: &dyn Store) -> Result<(), AuditError> {
    let mut is_sealed = false;
    store.each_behind(store.head()?.id.saturating_sub(1), &mut |record| {
        is_sealed |= record.seal.is_some();
        ControlFlow::Continue(())
    })?;
    if is_sealed { Err(disagrees(path, Disagreement::Unknown)) } else { Ok(()) }
}

pub(crate) fn checkpoint_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".checkpoints");
    name.into()
}

/// Returns the length of the file of checkpoints, or 0 if it does not exist.
fn checkpoint_bytes(path: &Path) -> io::Result<u64> {
    match fs::symlink_metadata(checkpoint_path(path)) {
        Ok(found) => Ok(found.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    }
}

/// Reads a file of checkpoints; a file that is not there has none.
pub(crate) fn read_checkpoints(path: &Path) -> io::Result<String> {
    let file = match open_regular(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    file.take(MAX_CHECKPOINT_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// Puts a text at the end of a file, and on the disk.
pub(crate) fn append(path: &Path, text: &str) -> io::Result<()> {
    let mut file = open_own(path, OwnAccess::Append)?;
    let before = file.metadata()?.len();
    if let Err(error) = file.write_all(text.as_bytes()) {
        // Half a checkpoint would be in the way of the next.
        file.set_len(before).ok();
        return Err(error);
    }
    file.sync_data()
}

/// Cuts off everything behind the checkpoints.
fn cut(path: &Path, length: u64) -> io::Result<()> {
    let file = open_own(path, OwnAccess::Change)?;
    file.set_len(length)?;
    file.sync_data()
}

fn disagrees(path: &Path, why: Disagreement) -> AuditError {
    AuditError::Disagrees { path: path.to_owned(), why }
}

fn unusable(path: &Path, doing: &'static str, source: io::Error) -> AuditError {
    AuditError::Unusable { path: path.to_owned(), doing, source: source.into() }
}
