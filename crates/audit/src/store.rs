//! Where records are kept.

use std::fmt;
use std::ops::ControlFlow;

use crate::error::AuditError;
use crate::query::AuditQuery;
use crate::record::{AuditRecord, Draft, Head};
use stockade_text::Timestamp;

/// A file of records. Several processes may have the same one open.
pub(crate) trait Store: fmt::Debug + Send {
    /// Lets something be asked of one state of the records, whatever others write meanwhile. Nothing is written.
    fn at_once(&self, ask: Ask<'_>) -> Result<bool, AuditError>;

    /// Leaves what was written in the journal when it is closed, if it has one.
    fn keep_journal(&mut self) {}

    /// Puts events on record, all or none of them. They are on the disk when this returns.
    /// `seal` sees each record before it is written.
    fn append(&mut self, drafts: Vec<Draft>, now: Timestamp, seal: Seal<'_>) -> Result<Head, AuditError>;

    /// Whether [`Store::recover`] could find something to put on record, as far as that can be told without its lock.
    fn may_have_lost(&self, _is_alive: &dyn Fn(&str) -> bool) -> Result<bool, AuditError> {
        Ok(true)
    }

    /// Puts an end on record for every start that has none and whose writer is gone. Returns how many there were.
    fn recover(
        &mut self,
        is_alive: &dyn Fn(&str) -> bool,
        now: Timestamp,
        seal: Seal<'_>,
    ) -> Result<usize, AuditError>;

    /// Returns where the trail ends.
    fn head(&self) -> Result<Head, AuditError>;

    /// Returns the newest records that a question asks for, the newest first.
    fn query(&self, query: &AuditQuery) -> Result<Vec<AuditRecord>, AuditError>;

    /// Shows every record in its order, until told to stop.
    fn each(&self, see: &mut dyn FnMut(Entry) -> ControlFlow<()>) -> Result<(), AuditError>;

    /// Shows the records behind this number, until told to stop.
    fn each_behind(
        &self,
        id: u64,
        see: &mut dyn FnMut(AuditRecord) -> ControlFlow<()>,
    ) -> Result<(), AuditError>;

    /// Shows where the records behind this number are in the chain, until told to stop.
    fn each_link_behind(
        &self,
        id: u64,
        see: &mut dyn FnMut(Link<'_>) -> ControlFlow<()>,
    ) -> Result<(), AuditError> {
        self.each_behind(id, &mut |record| see(Link::of(&record)))
    }

    /// Whether the path still means the file that is open.
    ///
    /// # Errors
    /// When it does not.
    fn check_place(&self) -> Result<(), AuditError>;

    /// Whether what was written can be read here: nothing stands between a reader and the records.
    ///
    /// # Errors
    /// When something does.
    fn check_form(&self) -> Result<(), AuditError>;

    /// Returns what is wrong with the file itself, whatever its records say.
    fn unsound(&self) -> Vec<String>;

    /// Whether the list of open runs that it keeps beside the records is the one that the register knows, by the sum of
    /// [`mark_of_run`](crate::register::mark_of_run).
    fn lists_runs(&self, _marks: u64) -> Result<bool, AuditError> {
        Ok(true)
    }

    /// Makes the list of open runs anew, as the records tell them: an attacker has edited it.
    fn list_runs_anew(&self) -> Result<(), AuditError> {
        Ok(())
    }

    /// Returns the runs that are listed as open apart from the records, if it has such a list.
    fn listed_runs(&self) -> Result<Option<Vec<String>>, AuditError> {
        Ok(None)
    }

    /// Returns the number of the last record that was ever written, as far as the store remembers it apart from the
    /// records.
    fn last_written(&self) -> Result<u64, AuditError>;
}

/// What asks several questions of a store.
pub(crate) type Ask<'a> = &'a mut dyn FnMut(&dyn Store) -> Result<bool, AuditError>;

/// What seals a record.
pub(crate) type Seal<'s> = &'s mut dyn FnMut(&mut AuditRecord);

/// A record as far as it is a link of the chain: its number, the digest of the one before, the digest that it has, and the digest
/// that belongs to what it says.
#[derive(Debug)]
pub(crate) struct Link<'r> {
    pub(crate) id: u64,
    pub(crate) prev: &'r str,
    pub(crate) hash: &'r str,
    pub(crate) digest: String,
    pub(crate) is_sealed: bool,
}

impl<'r> Link<'r> {
    fn of(record: &'r AuditRecord) -> Self {
        let is_sealed = record.seal.is_some();
        Self { id: record.id, prev: &record.prev, hash: &record.hash, digest: record.digest(), is_sealed }
    }
}

/// A record as it was found.
#[derive(Debug)]
pub(crate) enum Entry {
    /// It could be read.
    Record(Box<AuditRecord>),
    /// It could not, and why.
    Damaged {
        /// Its number as it is written, or that of its line.
        id: u64,
        reason: String,
    },
}
