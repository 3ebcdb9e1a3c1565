//! Whether a trail is as it was written.

use std::collections::HashSet;
use std::fmt;
use std::ops::ControlFlow;

use crate::error::AuditError;
use crate::kind::EventPhase;
use crate::record::{AuditRecord, Head};
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
    /// The file itself is not as this program leaves it: something that could hide or swallow records, damaged pages,
    /// bytes behind the end.
    Unsound(String),
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

/// Looks at every record. `expected` is a head that was kept elsewhere: with it, even a trail that was written anew from
/// beginning to end is found out.
pub(crate) fn verify(store: &dyn Store, expected: Option<&Head>) -> Result<Verified, AuditError> {
    let mut check = Check::new(expected);
    for what in store.unsound() {
        check.fault(0, FaultKind::Unsound(what));
    }
    // Before the records: what is written meanwhile must not look as if it had been removed.
    let last_written = store.last_written();
    let all = store.each(&mut |entry| {
        check.see(entry);
        ControlFlow::Continue(())
    });
    if let Err(error) = all {
        check.fault(check.head.id, FaultKind::UnreadableBehind(reason(&error)));
    }
    Ok(check.end(last_written.unwrap_or(0)))
}

/// The innermost cause: the path and what was being done say nothing to whoever asked for just that.
fn reason(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

struct Check<'e> {
    expected: Option<&'e Head>,
    met_expected: bool,
    records: u64,
    head: Head,
    open: HashSet<String>,
    faults: Vec<Fault>,
    faults_left_out: usize,
}

impl<'e> Check<'e> {
    fn new(expected: Option<&'e Head>) -> Self {
        Self {
            expected,
            met_expected: expected.is_none_or(|expected| expected.id == 0),
            records: 0,
            head: Head::default(),
            open: HashSet::new(),
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
                self.head = record.head().unwrap_or_else(|| Head { id: record.id, ..self.head.clone() });
            }
            Entry::Damaged { id, reason } => {
                self.fault(id, FaultKind::Unreadable(reason));
                self.head.id = id;
            }
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
        let Some(expected) = self.expected.filter(|expected| expected.id == record.id) else { return };
        self.met_expected = true;
        if expected.hash != record.hash {
            self.fault(record.id, FaultKind::NotTheExpected);
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
        if let Some(expected) = self.expected.filter(|_| !self.met_expected) {
            self.fault(expected.id, FaultKind::NotTheExpected);
        }
        Verified {
            records: self.records,
            head: self.head,
            open_runs: self.open.len(),
            faults: self.faults,
            faults_left_out: self.faults_left_out,
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
            FaultKind::EndsNothing => write!(f, "record {id} ends a run that is not under way"),
            FaultKind::BeginsTwice => write!(f, "record {id} begins a run that is under way"),
            FaultKind::CutOff { last } => {
                write!(f, "the trail ends with record {id}, but {last} were written")
            }
            FaultKind::Unsound(what) => f.write_str(what),
            FaultKind::UnreadableBehind(reason) => {
                write!(f, "what comes behind record {id} cannot be read: {reason}")
            }
            FaultKind::NotTheExpected => write!(f, "record {id} is not the one that was expected there"),
        }
    }
}
