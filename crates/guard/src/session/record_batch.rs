//! Recording of several decisions with one wait for the disk.

use std::sync::{Arc, Mutex};

use super::{Session, record_all};
use crate::audit::{AuditError, AuditEvent, AuditTrail};

/// Records of a session that are not written yet; nothing if they are written at once.
#[derive(Debug, Clone, Default)]
pub(super) struct RecordBatch(Option<Arc<Mutex<Vec<AuditEvent>>>>);

impl RecordBatch {
    /// Defers an event, or returns it if events are written at once.
    pub(super) fn hold(&self, event: AuditEvent) -> Result<Option<AuditEvent>, AuditError> {
        let Some(held) = &self.0 else { return Ok(Some(event)) };
        held.lock().map_err(|_| AuditError::Poisoned)?.push(event);
        Ok(None)
    }

    /// Returns the deferred records, which the caller writes.
    pub(super) fn take(&self) -> Result<Vec<AuditEvent>, AuditError> {
        let Some(held) = &self.0 else { return Ok(Vec::new()) };
        Ok(std::mem::take(&mut *held.lock().map_err(|_| AuditError::Poisoned)?))
    }

    /// Writes the deferred records.
    fn write(&self, trail: &AuditTrail) -> Result<(), AuditError> {
        match self.take()? {
            none if none.is_empty() => Ok(()),
            events => record_all(trail, events),
        }
    }
}

impl Session {
    /// Calls `decide` and then writes the records of all its decisions together, whatever it returns: one wait for the disk
    /// instead of one per decision. If `decide` runs a command, they are written with the record of its start, before it starts.
    /// Within another call of this function, the outer one writes them.
    ///
    /// # Errors
    /// When the decisions cannot be recorded. They are then void, and the result of `decide` is lost.
    pub fn at_once<T>(&self, decide: impl FnOnce(&Self) -> T) -> Result<T, AuditError> {
        if self.held.0.is_some() {
            return Ok(decide(self));
        }
        let held = RecordBatch(Some(Arc::default()));
        let decided = decide(&Self { held: held.clone(), ..self.clone() });
        held.write(&self.trail)?;
        Ok(decided)
    }
}
