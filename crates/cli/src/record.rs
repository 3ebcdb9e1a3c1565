//! The record of one command: a start before it runs, and an end after it.

use stockade_guard::audit::{AuditError, AuditEvent, AuditTrail, AuditedRun, EventKind};
use stockade_guard::exec::{Outcome, Plan};

/// Puts on record that a command begins.
pub(crate) fn start(trail: &AuditTrail, command: &str) -> Result<AuditedRun, AuditError> {
    trail.start(AuditEvent::new(EventKind::SandboxStarted).with("command", command))
}

/// Puts on record that it ran, and how it ended.
pub(crate) fn ran(
    record: AuditedRun,
    plan: &Plan,
    outcome: &Outcome,
    exit_code: i32,
) -> Result<(), AuditError> {
    let kind = if exit_code == 0 { EventKind::SandboxCompleted } else { EventKind::SandboxError };
    let duration = Some(outcome.usage.wall_time);
    let backend = Some(plan.provider.name().to_owned());
    let event = AuditEvent { exit_code: Some(exit_code), duration, backend, ..AuditEvent::new(kind) };
    record.end(event).map(drop)
}

/// Puts on record why it did not run.
pub(crate) fn failed(record: AuditedRun, why: &str) -> Result<(), AuditError> {
    record.end(AuditEvent::new(EventKind::SandboxError).with("error", why)).map(drop)
}
