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

    /// Writes the deferred records.
    pub(super) fn write(&self, trail: &AuditTrail) -> Result<(), AuditError> {
        let Some(held) = &self.0 else { return Ok(()) };
        let mut events = held.lock().map_err(|_| AuditError::Poisoned)?;
        match std::mem::take(&mut *events) {
            none if none.is_empty() => Ok(()),
            events => record_all(trail, events),
        }
    }
}

impl Session {
    /// Calls `decide` and then writes the records of all its decisions together, whatever it returns: one wait for the disk
    /// instead of one per decision. A command that `decide` runs starts only after all earlier decisions are written.
    ///
    /// # Errors
    /// When the decisions cannot be recorded. They are then void, and the result of `decide` is lost.
    pub fn at_once<T>(&self, decide: impl FnOnce(&Self) -> T) -> Result<T, AuditError> {
        let held = RecordBatch(Some(Arc::default()));
        let decided = decide(&Self { held: held.clone(), ..self.clone() });
        held.write(&self.trail)?;
        Ok(decided)
    }
}
