//! Records as lines of JSON, for machines without a database and for whatever collects logs.
#![expect(clippy::disallowed_methods, reason = "opens, locks and reads the file of records")]

mod open_runs;
mod seek;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use stockade_files::{OwnAccess, open_own};

use crate::error::AuditError;
use crate::kind::EventPhase;
use crate::lock_wait::{self, LockMode};
use crate::query::AuditQuery;
use crate::record::{AuditRecord, Draft, Head, OpenRun};
use crate::recovery::cut_off;
use crate::store::{Ask, Entry, Seal, Store};
use crate::trail_file::TrailFile;
use open_runs::OpenRuns;
use stockade_text::Timestamp;

/// The longest line that is read: an event is bounded, and escaped it is at most six times as long.
const MAX_LINE_BYTES: usize = 256 << 10;

/// How long a process waits for another one that writes.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// A trail in a file of lines, the last of which is also kept in a second file: an attacker who cuts lines off at the end of the
/// first has to know about the other.
#[derive(Debug)]
pub(crate) struct JsonLines {
    path: PathBuf,
    place: TrailFile,
    file: File,
    head: File,
    /// Starts that this process has put on record and not ended: they are the only ones that it may end.
    own: BTreeMap<String, OpenRun>,
}

impl JsonLines {
    /// Opens the file, or creates it. Its folder must exist.
    pub(crate) fn open(path: &Path) -> Result<Self, AuditError> {
        let open = |path: &Path| open_own(path, OwnAccess::Keep);
        let failed = |error| unusable(path, "opening it", error);
        let file = open(path).map_err(failed)?;
        let head = open(&head_path(path)).map_err(failed)?;
        let trail = Self::of(path, file, head)?;
        trail.place.check_found()?;
        Ok(trail)
    }

    /// Opens the file to read it alone.
    pub(crate) fn open_to_read(path: &Path) -> Result<Self, AuditError> {
        let failed = |error| unusable(path, "opening it", error);
        let file = lock_wait::open_at_once(path).map_err(failed)?;
        let head = lock_wait::open_at_once(&head_path(path));
        let head = head.or_else(|_| File::open("/dev/null")).map_err(failed)?;
        Self::of(path, file, head)
    }

    fn of(path: &Path, file: File, head: File) -> Result<Self, AuditError> {
        let found = file.metadata().map_err(|error| unusable(path, "checking the file", error))?;
        Ok(Self {
            path: path.to_owned(),
            place: TrailFile::at(path, &found),
            file,
            head,
            own: BTreeMap::new(),
        })
    }

    /// Does something while no other process writes.
    fn locked<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T, AuditError>) -> Result<T, AuditError> {
        lock_wait::wait(&self.file, LockMode::Exclusive, LOCK_TIMEOUT)
            .map_err(|error| self.unusable("waiting for the lock", error))?;
        let done = act(self);
        flock(&self.file, FlockOperation::Unlock)
            .map_err(|error| self.unusable("releasing the lock", error.into()))?;
        done
    }

    /// Writes records behind the last one, all or none of them.
    fn write(&mut self, drafts: Vec<Draft>, now: Timestamp, seal: Seal<'_>) -> Result<Head, AuditError> {
        let end = self.mend()?;
        let mut head = self.last()?;
        let mut open = self.open_runs()?;
        let mut lines = String::new();
        for draft in drafts {
            let mut record = head.follow(draft, now);
            seal(&mut record);
            open.see(&record);
            lines.push_str(&line(&record));
            head = record.head().unwrap_or_default();
        }
        let written = self.file.write_all_at(lines.as_bytes(), end).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // Half a line would be in the way of the next; what was not acknowledged is taken back.
            self.file.set_len(end).ok();
            return Err(self.unusable("writing a record", error));
        }
        self.check_kept(&lines, end, &head)?;
        // It is only remembered to save reading.
        open_runs::write(&self.head, &head, &open).ok();
        Ok(head)
    }

    /// Whether the file ends in what was just written.
    fn check_kept(&self, lines: &str, end: u64, head: &Head) -> Result<(), AuditError> {
        let mut found = vec![0; lines.len() + 1];
        // One byte more than there should be.
        let read = self
            .file
            .read_at(&mut found, end)
            .map_err(|error| self.unusable("reading the record back", error))?;
        match found.get(..read) == Some(lines.as_bytes()) {
            true => Ok(()),
            false => Err(AuditError::NotKept { path: self.path.clone(), id: head.id }),
        }
    }

    /// Takes away the beginning of a line that was never finished, and returns where the file ends.
    fn mend(&mut self) -> Result<u64, AuditError> {
        let failed = |error| unusable(&self.path, "finding the last record", error);
        let length = self.file.metadata().map_err(failed)?.len();
        let tail = tail(&self.file, length).map_err(failed)?;
        let torn = self.torn(&tail, length)?;
        let end = length - u64::try_from(torn).unwrap_or(0);
        if torn > 0 {
            self.file.set_len(end).map_err(failed)?;
        }
        Ok(end)
    }

    /// Returns how many bytes at the end are an incomplete record. Any other incomplete line was not written by
    /// this program: the file may belong to another one.
    fn torn(&self, tail: &[u8], length: u64) -> Result<usize, AuditError> {
        let finished = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let begun = tail.get(finished..).unwrap_or_default();
        if begun.is_empty() {
            return Ok(0);
        }
        let whole = tail.get(..finished).unwrap_or_default();
        let next = format!("{{\"id\":{},", self.last_of(whole)?.id + 1);
        let is_all_there = finished > 0 || tail.len() == usize::try_from(length).unwrap_or(usize::MAX);
        if is_all_there && (begun.starts_with(next.as_bytes()) || next.as_bytes().starts_with(begun)) {
            return Ok(begun.len());
        }
        let reason = "it ends in something that is no beginning of the next record".to_owned();
        Err(AuditError::Damaged { path: self.path.clone(), id: 0, reason })
    }

    /// Returns where the trail ends, from its last line.
    fn last(&self) -> Result<Head, AuditError> {
        let failed = |error| unusable(&self.path, "reading the last record", error);
        let length = self.file.metadata().map_err(failed)?.len();
        self.last_of(&tail(&self.file, length).map_err(failed)?)
    }

    /// Returns where the trail ends, from its last bytes.
    fn last_of(&self, tail: &[u8]) -> Result<Head, AuditError> {
        if tail.is_empty() {
            return Ok(Head::default());
        }
        // An empty line is no record: a trail that many of them hide is not empty.
        let lines = tail.strip_suffix(b"\n").unwrap_or(tail);
        let line = lines.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let damaged = |reason: String| AuditError::Damaged { path: self.path.clone(), id: 0, reason };
        let record: AuditRecord = serde_json::from_slice(line).map_err(|error| damaged(error.to_string()))?;
        record.head().ok_or_else(|| damaged("its time is invalid".to_owned()))
    }

    /// Starts without an end. What is remembered of them counts where the record that it is of is still there.
    fn open_runs(&self) -> Result<OpenRuns, AuditError> {
        let Some((id, hash, mut open)) = open_runs::read(&self.head) else { return self.all_open_runs() };
        let mut is_it = id == 0;
        let mut damaged = false;
        self.scan_behind(id.saturating_sub(1), &mut |entry| {
            match entry {
                Entry::Record(record) if record.id == id => is_it = record.hash == hash,
                Entry::Record(record) if record.id > id => open.see(&record),
                Entry::Record(_) => {}
                Entry::Damaged { .. } => damaged = true,
            }
            if is_it && !damaged { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        if is_it && !damaged { Ok(open) } else { self.all_open_runs() }
    }

    fn all_open_runs(&self) -> Result<OpenRuns, AuditError> {
        self.open_runs_behind(0)
    }

    /// Starts without an end behind the record of this number, as the records say.
    fn open_runs_behind(&self, id: u64) -> Result<OpenRuns, AuditError> {
        let mut open = OpenRuns::default();
        self.scan_behind(id, &mut |entry| {
            if let Entry::Record(record) = entry {
                open.see(&record);
            }
            ControlFlow::Continue(())
        })?;
        Ok(open)
    }

    /// Shows the lines behind the record of this number.
    fn scan_behind(&self, id: u64, see: &mut dyn FnMut(Entry) -> ControlFlow<()>) -> Result<(), AuditError> {
        let failed = |error| self.unusable("searching a record", error);
        let length = self.file.metadata().map_err(failed)?.len();
        let start = seek::behind(&self.file, id, length).map_err(failed)?;
        let mut is_next = None;
        self.scan(start.unwrap_or(0), &mut |entry| {
            let number = match &entry {
                Entry::Record(record) => record.id,
                Entry::Damaged { id, .. } => *id,
            };
            // Where the numbers do not ascend, a search among them finds anything.
            if *is_next.get_or_insert(start.is_none() || number == id + 1) {
                see(entry)
            } else {
                ControlFlow::Break(())
            }
        })?;
        match is_next {
            Some(false) => self.scan(0, see),
            _ => Ok(()),
        }
    }

    /// Shows the lines from this byte on.
    fn scan(&self, start: u64, see: &mut dyn FnMut(Entry) -> ControlFlow<()>) -> Result<(), AuditError> {
        let failed = |error| self.unusable("reading the records", error);
        let mut file = lock_wait::open_at_once(&self.path).map_err(failed)?;
        file.seek(SeekFrom::Start(start)).map_err(failed)?;
        let mut lines = BufReader::new(file);
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let most = u64::try_from(MAX_LINE_BYTES).unwrap_or(u64::MAX);
            let read = lines.by_ref().take(most).read_until(b'\n', &mut line).map_err(failed)?;
            // A line without its end is being written just now.
            if read == 0 || (!line.ends_with(b"\n") && read < MAX_LINE_BYTES) {
                break;
            }
            if see(entry(number, &line)).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn unusable(&self, doing: &'static str, error: io::Error) -> AuditError {
        unusable(&self.path, doing, error)
    }
}

impl Store for JsonLines {
    fn at_once(&self, ask: Ask<'_>) -> Result<bool, AuditError> {
        ask(self)
    }

    fn append(&mut self, drafts: Vec<Draft>, now: Timestamp, seal: Seal<'_>) -> Result<Head, AuditError> {
        for draft in &drafts {
            let run = draft.run.as_deref().unwrap_or_default();
            if draft.event.kind.phase() == EventPhase::End && !self.own.contains_key(run) {
                return Err(AuditError::Misused {
                    event: draft.event.kind.name(),
                    rule: "ends a run that did not start or has ended",
                });
            }
        }
        let runs: Vec<_> =
            drafts.iter().filter_map(|draft| Some((draft.event.kind.phase(), opened(draft)?))).collect();
        let head = self.locked(|trail| {
            trail.place.check()?;
            let head = trail.write(drafts, now, seal)?;
            trail.place.check()?;
            Ok(head)
        })?;
        for (phase, run) in runs {
            match phase {
                EventPhase::Start => drop(self.own.insert(run.run.clone(), run)),
                EventPhase::End => drop(self.own.remove(&run.run)),
                EventPhase::Point => {}
            }
        }
        Ok(head)
    }

    fn recover(
        &mut self,
        is_alive: &dyn Fn(&str) -> bool,
        now: Timestamp,
        seal: Seal<'_>,
    ) -> Result<usize, AuditError> {
        self.locked(|trail| {
            let mut open = trail.open_runs()?;
            let is_lost = |open: &OpenRun| !is_alive(&open.writer);
            let Some(oldest) = open.oldest(is_lost) else { return Ok(0) };
            // Only records tell which runs are open: a user who may write beside the trail must not make this program record
            // ends.
            open.replace_from(oldest, trail.open_runs_behind(oldest.saturating_sub(1))?);
            open_runs::write(&trail.head, &trail.last()?, &open).ok();
            let lost: Vec<Draft> = open.into_runs().filter(is_lost).map(|open| cut_off(&open)).collect();
            let count = lost.len();
            if count > 0 {
                trail.write(lost, now, seal)?;
            }
            Ok(count)
        })
    }

    fn head(&self) -> Result<Head, AuditError> {
        self.last()
    }

    fn query(&self, query: &AuditQuery) -> Result<Vec<AuditRecord>, AuditError> {
        let limit = query.limit();
        let mut newest = std::collections::VecDeque::new();
        self.each(&mut |entry| {
            if let Entry::Record(record) = entry
                && query.asks_for(&record)
            {
                newest.push_front(*record);
                newest.truncate(limit);
            }
            ControlFlow::Continue(())
        })?;
        Ok(newest.into())
    }

    fn each(&self, see: &mut dyn FnMut(Entry) -> ControlFlow<()>) -> Result<(), AuditError> {
        self.scan(0, see)
    }

    fn each_behind(
        &self,
        id: u64,
        see: &mut dyn FnMut(AuditRecord) -> ControlFlow<()>,
    ) -> Result<(), AuditError> {
        let mut damaged = None;
        self.scan_behind(id, &mut |entry| match entry {
            Entry::Record(record) if record.id <= id => ControlFlow::Continue(()),
            Entry::Record(record) => see(*record),
            Entry::Damaged { id, reason } => {
                damaged = Some(AuditError::Damaged { path: self.path.clone(), id, reason });
                ControlFlow::Break(())
            }
        })?;
        damaged.map_or(Ok(()), Err)
    }

    fn check_place(&self) -> Result<(), AuditError> {
        self.place.check()
    }

    fn check_form(&self) -> Result<(), AuditError> {
        Ok(())
    }

    fn unsound(&self) -> Vec<String> {
        let end = || {
            // While another process writes, its line is not finished.
            lock_wait::wait(&self.file, LockMode::Shared, LOCK_TIMEOUT)?;
            let length = self.file.metadata()?.len();
            let end = tail(&self.file, length).map(|tail| (tail, length));
            flock(&self.file, FlockOperation::Unlock).map_err(io::Error::from)?;
            end
        };
        match end() {
            Err(error) => vec![format!("its end cannot be read: {error}")],
            Ok((tail, length)) => match self.torn(&tail, length) {
                // A last line that is no record is named as such when the records are looked at.
                Ok(_) => Vec::new(),
                Err(AuditError::Damaged { reason, .. }) => vec![reason],
                Err(error) => vec![error.to_string()],
            },
        }
    }

    fn last_written(&self) -> Result<u64, AuditError> {
        Ok(open_runs::last(&self.head).unwrap_or(0))
    }
}

fn opened(draft: &Draft) -> Option<OpenRun> {
    let event = &draft.event;
    let (agent, skill) = (event.agent.clone(), event.skill.clone());
    Some(OpenRun { run: draft.run.clone()?, writer: draft.writer.clone(), agent, skill })
}

/// Reads a line. One that says the same in other words was edited.
fn entry(number: u64, bytes: &[u8]) -> Entry {
    match serde_json::from_slice::<AuditRecord>(bytes) {
        Ok(record) if line(&record).as_bytes() == bytes => Entry::Record(Box::new(record)),
        Ok(record) => {
            Entry::Damaged { id: record.id, reason: "it is not in the format of this program".to_owned() }
        }
        Err(error) => Entry::Damaged { id: number, reason: error.to_string() },
    }
}

fn line(record: &AuditRecord) -> String {
    // Writing strings and numbers to memory cannot fail; an empty line would be found by its missing number.
    serde_json::to_string(record).unwrap_or_default() + "\n"
}

/// How much of the end of a file is read first: most lines are short.
const FIRST_TAIL: u64 = 4 << 10;

/// Returns the last bytes of a file, enough for its last line and what was begun behind it.
fn tail(file: &File, length: u64) -> io::Result<Vec<u8>> {
    let most = 2 * u64::try_from(MAX_LINE_BYTES).unwrap_or(0);
    let mut wanted = FIRST_TAIL;
    loop {
        let from = length.saturating_sub(wanted);
        let mut bytes = vec![0; usize::try_from(length - from).unwrap_or(0)];
        file.read_exact_at(&mut bytes, from)?;
        let is_enough = bytes.iter().filter(|byte| **byte == b'\n').count() > 1;
        if is_enough || from == 0 || wanted == most {
            return Ok(bytes);
        }
        wanted = (4 * wanted).min(most);
    }
}

fn head_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".head");
    name.into()
}

fn unusable(path: &Path, doing: &'static str, source: io::Error) -> AuditError {
    AuditError::Unusable { path: path.to_owned(), doing, source: source.into() }
}
