//! What becomes of a start whose writer ended before it could put the end on record.

use crate::event::SafeEvent;
use crate::kind::EventKind;
use crate::record::{Draft, OpenRun};

/// What ends a run whose writer is gone.
pub(crate) fn cut_off(open: &OpenRun) -> Draft {
    let interrupted = "interrupted: the program that started it ended without recording the outcome";
    let event = SafeEvent {
        agent: open.agent.clone(),
        skill: open.skill.clone(),
        ..SafeEvent::of_trail(EventKind::SandboxError, interrupted)
    };
    Draft { event, run: Some(open.run.clone()), writer: open.writer.clone() }
}
