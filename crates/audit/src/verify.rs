//! Whether a trail is as it was written.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::ops::ControlFlow;

use crate::bytes::{Bytes32, from_hex};
use crate::checkpoint_file::CheckpointFile;
use crate::error::AuditError;
use crate::field;
use crate::kind::EventPhase;
use crate::marks::{Mark, Marks, Reference};
use crate::merkle::Frontier;
use crate::record::{AuditRecord, Head};
use crate::register::{Known, with_seal};
use crate::store::{Entry, Store};

/// The most faults that a report names.
const MAX_FAULTS: usize = 100;

/// What a look at every record of a trail has shown.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// How many records there are.
    pub records: u64,
    /// Where the trail ends. Keep it in another place: a later trail must still hold it.
    pub head: Head,
    /// Starts without an end: what is under way, or was cut off and not yet recovered.
    pub open_runs: usize,
    /// What is wrong, in the order of the records; only the first hundred where there is more.
    pub faults: Vec<Fault>,
    /// How many more there are.
    pub faults_left_out: usize,
    /// What the register of this user knows of the trail.
    pub registered: Registered,
    /// How many checkpoints the records were compared with.
    pub checkpoints: usize,
}

/// What a register knows of a trail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Registered {
    /// No register was asked.
    NotAsked,
    /// It knows nothing of this trail: it was written before there was a register, or somewhere else.
    Unknown,
    /// It knows so many records.
    Known(u64),
}

/// What records are compared with, beside each other.
#[derive(Debug, Default)]
pub(crate) struct Beside<'b> {
    /// A head that was kept elsewhere.
    pub(crate) expected: Option<&'b Head>,
    /// What was kept elsewhere.
    pub(crate) reference: Option<&'b Reference>,
    /// Whether the caller compares it with something that was kept elsewhere.
    pub(crate) is_compared: bool,
    /// What the register knows, if one was asked and it knows something.
    pub(crate) known: Option<Known>,
    /// Whether a register was asked.
    pub(crate) is_asked: bool,
    /// The checkpoints beside the trail.
    pub(crate) checkpoints: Option<CheckpointFile>,
    /// What is wrong with what lies beside the trail.
    pub(crate) unsound: Vec<String>,
}

/// Something that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The number of the record.
    pub id: u64,
    /// What is wrong with it.
    pub kind: FaultKind,
}

/// What can be wrong with a record.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// It cannot be read.
    Unreadable(String),
    /// It was changed: its digest is that of another text.
    Edited,
    /// It does not follow the record before: one was removed, added, replaced or moved.
    Misplaced,
    /// Records before it are missing.
    Missing {
        /// The number of the first.
        from: u64,
    },
    /// It is not later than the record before.
    OutOfTime,
    /// It ends a run that was not begun, or that has an end already.
    EndsNothing,
    /// It begins a run that is under way.
    BeginsTwice,
    /// Records behind it were removed: so many were written.
    CutOff {
        /// The number of the last record that was written.
        last: u64,
    },
    /// It is not the record that was expected to be there.
    NotTheExpected,
    /// It is another record than the one that the register knows at this place.
    NotTheRegistered,
    /// It was added without the key.
    Unsealed,
    /// Up to this record, seals were removed or replaced.
    Resealed,
    /// Records behind it are missing that the register knows.
    Fewer {
        /// How many records it knows.
        known: u64,
    },
    /// It is not as a checkpoint of so many records says.
    NotTheCheckpointed {
        /// How many records the checkpoint is of.
        size: u64,
    },
    /// It is not as what was kept elsewhere says, when the trail had so many records.
    NotTheReferred {
        /// How many there were.
        size: u64,
    },
    /// The file itself is not as this program leaves it: something that could hide or swallow records, damaged pages,
    /// bytes behind the end.
    Unsound(String),
    /// No register of this user knows the records up to this one, and nothing else was compared with them.
    Unregistered,
    /// What comes behind it cannot be read.
    UnreadableBehind(String),
}

impl Verified {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn intact(&self) -> bool {
        self.faults.is_empty()
    }
}

/// Looks at every record, and compares it with whatever was kept beside it. All is read as it is at one moment.
pub(crate) fn verify(store: &dyn Store, beside: Beside<'_>) -> Result<Verified, AuditError> {
    let (mut beside, mut verified) = (Some(beside), None);
    store.at_once(&mut |store| {
        verified = beside.take().map(|beside| look(store, beside));
        Ok(true)
    })?;
    verified.ok_or(AuditError::Poisoned)
}

fn look(store: &dyn Store, mut beside: Beside<'_>) -> Verified {
    let checkpoints = beside.checkpoints.take();
    let mut check = Check::new(beside, checkpoints.as_ref());
    for what in store.unsound().into_iter().chain(std::mem::take(&mut check.beside.unsound)) {
        check.fault(0, FaultKind::Unsound(what));
    }
    // Before the records: what is written meanwhile must not look as if it had been removed.
    let last_written = store.last_written();
    check.listed_runs = store.listed_runs().ok().flatten();
    let all = store.each(&mut |entry| {
        check.see(entry);
        ControlFlow::Continue(())
    });
    if let Err(error) = all {
        check.fault(check.head.id, FaultKind::UnreadableBehind(reason(&error)));
    }
    check.end(last_written.unwrap_or(0))
}

/// Returns the innermost cause: the caller already knows the path and the operation.
fn reason(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

struct Check<'b> {
    beside: Beside<'b>,
    registered: Registered,
    checkpoints: usize,
    marks: Marks<'b>,
    referred: Marks<'b>,
    frontier: Frontier,
    /// The digest of the seals so far.
    seals: Bytes32,
    met_expected: bool,
    records: u64,
    head: Head,
    open: HashSet<String>,
    /// The runs that the store lists as open.
    listed_runs: Option<Vec<String>>,
    faults: Vec<Fault>,
    faults_left_out: usize,
}

impl<'b> Check<'b> {
    fn new(beside: Beside<'b>, checkpoints: Option<&'b CheckpointFile>) -> Self {
        let marks = checkpoints.into_iter().flat_map(CheckpointFile::checkpoints);
        let reference = beside.reference.map(|reference| reference.marks.clone());
        Self {
            registered: match (&beside.known, beside.is_asked) {
                (Some(known), _) => Registered::Known(known.head.id),
                (None, true) => Registered::Unknown,
                (None, false) => Registered::NotAsked,
            },
            checkpoints: checkpoints.map_or(0, |file| file.count),
            marks: Marks::in_order(marks.map(|checkpoint| Mark::of(&checkpoint))),
            referred: Marks::sorted(reference.unwrap_or_default()),
            met_expected: beside.expected.is_none_or(|expected| expected.id == 0),
            beside,
            frontier: Frontier::default(),
            seals: Bytes32::default(),
            records: 0,
            head: Head::default(),
            open: HashSet::new(),
            listed_runs: None,
            faults: Vec::new(),
            faults_left_out: 0,
        }
    }

    fn see(&mut self, entry: Entry) {
        self.records += 1;
        match entry {
            Entry::Record(record) => {
                self.place(&record);
                self.run(&record);
                self.anchor(&record);
                self.register(&record);
                self.mark(&record);
                self.head = record.head().unwrap_or_else(|| Head { id: record.id, ..self.head.clone() });
            }
            Entry::Damaged { id, reason } => {
                self.fault(id, FaultKind::Unreadable(reason));
                self.head.id = id;
            }
        }
    }

    /// The register knows the digest of one record, and with it all before, and can tell the seals of those behind.
    fn register(&mut self, record: &AuditRecord) {
        self.seals = with_seal(&self.seals, record);
        let Some(known) = &mut self.beside.known else { return };
        let Registered::Known(records) = self.registered else { return };
        let fault = match record.id.cmp(&records) {
            Ordering::Less => None,
            Ordering::Equal if record.hash != known.head.hash => Some(FaultKind::NotTheRegistered),
            Ordering::Equal => {
                known.seals.is_some_and(|seals| seals != self.seals).then_some(FaultKind::Resealed)
            }
            Ordering::Greater => (!known.accept(record)).then_some(FaultKind::Unsealed),
        };
        if let Some(kind) = fault {
            // What comes behind says no more.
            self.beside.known = None;
            self.fault(record.id, kind);
        }
    }

    fn mark(&mut self, record: &AuditRecord) {
        let digest = from_hex(&record.hash).unwrap_or_default();
        self.frontier.push(&digest);
        let frontier = &self.frontier;
        let size = self.marks.see(record.id, &digest, || frontier.root());
        let referred = self.referred.see(record.id, &digest, || frontier.root());
        if let Some(size) = size {
            self.fault(record.id, FaultKind::NotTheCheckpointed { size });
        }
        if let Some(size) = referred {
            self.fault(record.id, FaultKind::NotTheReferred { size });
        }
    }

    fn place(&mut self, record: &AuditRecord) {
        let id = record.id;
        let next = self.head.id.saturating_add(1);
        if record.digest() != record.hash {
            self.fault(id, FaultKind::Edited);
        }
        if id > next {
            self.fault(id, FaultKind::Missing { from: next });
        } else if record.prev != self.head.hash || id < next {
            self.fault(id, FaultKind::Misplaced);
        }
        match record.head() {
            Some(head) if head.micros > self.head.micros => {}
            // A clock that was set back is noted in the record itself.
            Some(_) if record.data.contains_key(field::CLOCK_WENT_BACK_MS.name()) => {}
            _ => self.fault(id, FaultKind::OutOfTime),
        }
    }

    fn run(&mut self, record: &AuditRecord) {
        let Some(run) = record.run.clone() else {
            if record.phase() != EventPhase::Point {
                self.fault(record.id, FaultKind::EndsNothing);
            }
            return;
        };
        match record.phase() {
            EventPhase::Point => {}
            EventPhase::Start if self.open.insert(run) => {}
            EventPhase::Start => self.fault(record.id, FaultKind::BeginsTwice),
            EventPhase::End if self.open.remove(record.run.as_deref().unwrap_or_default()) => {}
            EventPhase::End => self.fault(record.id, FaultKind::EndsNothing),
        }
    }

    fn anchor(&mut self, record: &AuditRecord) {
        let Some(expected) = self.beside.expected.filter(|expected| expected.id == record.id) else { return };
        self.met_expected = true;
        if expected.hash != record.hash {
            self.fault(record.id, FaultKind::NotTheExpected);
        }
    }

    /// What is recovered after a crash is listed apart from the records.
    fn compare_open_runs(&mut self) {
        let Some(listed) = self.listed_runs.take() else { return };
        let listed: HashSet<String> = listed.into_iter().collect();
        if listed != self.open {
            let what = "its list of open runs is not the one that its records tell".to_owned();
            self.fault(0, FaultKind::Unsound(what));
        }
    }

    fn fault(&mut self, id: u64, kind: FaultKind) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(Fault { id, kind });
        } else {
            self.faults_left_out += 1;
        }
    }

    fn end(mut self, last_written: u64) -> Verified {
        if last_written > self.head.id {
            self.fault(self.head.id, FaultKind::CutOff { last: last_written });
        }
        let id = self.head.id;
        if self.registered == Registered::Unknown && id > 0 && !self.beside.is_compared {
            self.fault(id, FaultKind::Unregistered);
        }
        self.compare_open_runs();
        if let Some(known) = self.beside.known.take().filter(|known| known.head.id > id) {
            self.fault(id, FaultKind::Fewer { known: known.head.id });
        }
        if let Some(size) = self.marks.end(id) {
            self.fault(id, FaultKind::NotTheCheckpointed { size });
        }
        if let Some(size) = self.referred.end(id) {
            self.fault(id, FaultKind::NotTheReferred { size });
        }
        if let Some(expected) = self.beside.expected.filter(|_| !self.met_expected) {
            self.fault(expected.id, FaultKind::NotTheExpected);
        }
        Verified {
            records: self.records,
            head: self.head,
            open_runs: self.open.len(),
            faults: self.faults,
            faults_left_out: self.faults_left_out,
            registered: self.registered,
            checkpoints: self.checkpoints,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.id;
        match &self.kind {
            FaultKind::Unreadable(reason) => write!(f, "record {id} cannot be read: {reason}"),
            FaultKind::Edited => write!(f, "record {id} was changed after it was written"),
            FaultKind::Misplaced => {
                write!(
                    f,
                    "record {id} does not follow the one before: a record was removed, added, replaced or moved"
                )
            }
            FaultKind::Missing { from } if from + 1 == id => write!(f, "record {from} is missing"),
            FaultKind::Missing { from } => {
                write!(f, "records {from} to {} are missing", id.saturating_sub(1))
            }
            FaultKind::OutOfTime => write!(f, "record {id} is not later than the one before"),
            FaultKind::EndsNothing => write!(f, "record {id} ends a run that did not start or has ended"),
            FaultKind::BeginsTwice => write!(f, "record {id} starts a run that has already started"),
            FaultKind::CutOff { last } => {
                write!(f, "the trail ends with record {id}, but {last} were written")
            }
            FaultKind::NotTheRegistered => {
                write!(f, "record {id} is not the one that was written: the trail was rewritten or replaced")
            }
            FaultKind::Unsealed => {
                write!(f, "record {id} was not written by Stockade on this machine: its seal is wrong")
            }
            FaultKind::Resealed => {
                write!(f, "the seals of the records up to {id} are not those that were written")
            }
            FaultKind::Fewer { known } => {
                write!(
                    f,
                    "the trail ends with record {id}, but {known} were written: it was cut off, or is an older copy"
                )
            }
            FaultKind::NotTheCheckpointed { size } => {
                write!(f, "record {id} differs from the checkpoint of {size} records")
            }
            FaultKind::NotTheReferred { size } => {
                write!(
                    f,
                    "record {id} is the first of {size} records that differs from the copy stored elsewhere"
                )
            }
            FaultKind::Unsound(what) => f.write_str(what),
            FaultKind::Unregistered => {
                write!(
                    f,
                    "the trail state of this user does not know the records up to {id}: it was deleted, or the trail was written \
                     elsewhere, or all of it was written anew; compare it with a copy: --against FILE"
                )
            }
            FaultKind::UnreadableBehind(reason) => {
                write!(f, "the data after record {id} cannot be read: {reason}")
            }
            FaultKind::NotTheExpected => write!(f, "record {id} is not the one that was expected there"),
        }
    }
}
