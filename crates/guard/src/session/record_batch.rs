//! Several decisions that are put on record with one wait for the disk.

use std::sync::{Arc, Mutex};

use super::{Session, record_all};
use crate::audit::{AuditError, AuditEvent, AuditTrail};

/// The records of a session that are not on the disk yet, if it holds any back.
#[derive(Debug, Clone, Default)]
pub(super) struct HeldRecords(Option<Arc<Mutex<Vec<AuditEvent>>>>);

impl HeldRecords {
    /// Holds an event back. Where nothing is held back, the event is returned.
    pub(super) fn hold(&self, event: AuditEvent) -> Result<Option<AuditEvent>, AuditError> {
        let Some(held) = &self.0 else { return Ok(Some(event)) };
        held.lock().map_err(|_| AuditError::Poisoned)?.push(event);
        Ok(None)
    }

    /// Puts on record what was held back.
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
    /// Lets `decide` decide on several things, and puts all of that on record at once, whatever it returns: one wait for the disk in
    /// place of one for each. A command that `decide` runs begins after all that was decided before it is on record.
    ///
    /// # Errors
    /// When the decisions cannot be put on record. They count for nothing then, and what `decide` returned is lost.
    pub fn at_once<T>(&self, decide: impl FnOnce(&Self) -> T) -> Result<T, AuditError> {
        let held = HeldRecords(Some(Arc::default()));
        let decided = decide(&Self { held: held.clone(), ..self.clone() });
        held.write(&self.trail)?;
        Ok(decided)
    }
}
