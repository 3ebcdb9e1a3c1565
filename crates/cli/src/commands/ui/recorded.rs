//! The records that the page shows, read once and then only continued.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use stockade_guard::audit::{AuditQuery, AuditRecord, AuditTrail, MAX_QUERY};

use crate::commands::audit;
use crate::commands::watch::is_shown;
use crate::failure::{Failure, with_causes};
use crate::report::record_tally::RecordTally;

/// Number of decisions that the page lists.
const MAX_ROWS: usize = 50;

/// The records of an agent, or of all agents.
#[derive(Default)]
pub(super) struct Recorded {
    agent: Option<String>,
    trail: Option<AuditTrail>,
    /// The number of the last record.
    last: u64,
    pub(super) tally: RecordTally,
    /// Decisions, the newest first.
    pub(super) newest: VecDeque<AuditRecord>,
}

impl Recorded {
    pub(super) fn of(agent: Option<String>) -> Self {
        Self { agent, ..Self::default() }
    }

    /// Reads what was recorded since. The trail may not exist yet.
    pub(super) fn update(&mut self) -> Result<&Self, Failure> {
        let trail = match self.trail.take() {
            Some(trail) => trail,
            None => {
                let path = audit::path(None)?;
                if !path.exists() {
                    return Ok(self);
                }
                audit::open(Some(path))?
            }
        };
        let read = self.read(&trail);
        // After an error, the trail is read anew.
        match read {
            Ok(()) => self.trail = Some(trail),
            Err(_) => *self = Self::of(self.agent.take()),
        }
        read.map(|()| &*self)
    }

    fn read(&mut self, trail: &AuditTrail) -> Result<(), Failure> {
        let unreadable = |error: &_| Failure::incomplete(with_causes(error));
        let query = AuditQuery { behind: Some(self.last), limit: MAX_QUERY, ..AuditQuery::default() };
        let new = match self.last {
            0 => None,
            _ => Some(trail.query(&query).map_err(|error| unreadable(&error))?),
        };
        match new.filter(|new| new.len() < MAX_QUERY) {
            Some(new) => new.into_iter().rev().for_each(|record| self.add(record)),
            // Of more than that, an answer has only the newest.
            None => {
                (self.tally, self.newest) = Default::default();
                let whole = trail.each(|record| {
                    self.add(record);
                    ControlFlow::Continue(())
                });
                whole.map_err(|error| unreadable(&error))?;
            }
        }
        Ok(())
    }

    fn add(&mut self, record: AuditRecord) {
        self.last = record.id;
        if self.agent.is_some() && record.agent != self.agent {
            return;
        }
        self.tally.add(&record);
        if is_shown(&record) {
            self.newest.push_front(record);
            self.newest.truncate(MAX_ROWS);
        }
    }
}
