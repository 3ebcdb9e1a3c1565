//! What becomes of a start whose writer ended before it could put the end on record.

use crate::event::AuditEvent;
use crate::kind::EventKind;
use crate::record::{Draft, OpenRun};

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
