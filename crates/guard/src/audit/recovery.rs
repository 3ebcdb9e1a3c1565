//! What becomes of a start whose writer ended before it could put the end on record.

use super::event::AuditEvent;
use super::kind::EventKind;
use super::record::{Draft, OpenRun};

/// What ends a run whose writer is gone.
pub(crate) fn cut_off(open: &OpenRun) -> Draft {
    let event = AuditEvent {
        agent: open.agent.clone(),
        skill: open.skill.clone(),
        ..AuditEvent::new(EventKind::SandboxError)
    };
    let event = event.with("error", "interrupted: whoever started it ended without a word");
    Draft { event, run: Some(open.run.clone()), writer: open.writer.clone() }
}
