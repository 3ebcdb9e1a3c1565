//! Records of decisions without an action, for `audit.evaluations`.

use std::path::Path;

use stockade_command::{CommandDecision, Effect, Suggestion};

use crate::audit::{AuditEvent, EventKind, field};

/// Maximum number of rules and of suggestions in a record.
const MAX_NAMED: usize = 16;

/// Number of recorded characters of a session ID: enough to distinguish sessions, too few to use the session.
const SESSION_CHARS: usize = 8;

/// The origin of a request for a decision.
#[derive(Debug, Clone, Copy, Default)]
pub struct EvaluatedFor<'a> {
    /// The entry point: `check command`, `command.evaluate`, …
    pub entry_point: &'static str,
    /// The agent, if any.
    pub agent: Option<&'a str>,
    /// The session, if any.
    pub session: Option<&'a str>,
    /// The working directory.
    pub cwd: Option<&'a Path>,
}

/// Returns the record of a decision on a command. `effect` is the returned effect, which an answer of the user may have changed.
#[must_use]
pub fn evaluation_event(
    decision: &CommandDecision<'_, '_>,
    effect: Effect,
    suggestions: &[Suggestion],
    asked: &EvaluatedFor<'_>,
) -> AuditEvent {
    let kind = match effect {
        Effect::Allow | Effect::Sandbox => EventKind::CommandAllowed,
        Effect::Ask => EventKind::ApprovalAsked,
        Effect::Deny => EventKind::CommandDenied,
    };
    let decisive = decision.decisive().next();
    let mut rules: Vec<String> = Vec::new();
    for part in &decision.parts {
        let rule = part.cause.id();
        if rules.len() < MAX_NAMED && !rules.iter().any(|known| known == rule) {
            rules.push(rule.to_owned());
        }
    }
    let event =
        AuditEvent { rule: decisive.map(|part| part.cause.id().into()), ..event(kind, effect.name(), asked) };
    let event = event.with(field::COMMAND, decision.text).with(field::RULES, rules);
    let event = event.with(field::REASON, decisive.map(|part| part.cause.to_string()).unwrap_or_default());
    match suggestions {
        [] => event,
        some => {
            // Recorded as command text and not as a rule name, in which a secret could not be recognized.
            let words = |one: &Suggestion| {
                format!("{}, if exactly `{}` is allowed", one.then, one.span.of(decision.text))
            };
            event.with(field::SUGGESTIONS, some.iter().take(MAX_NAMED).map(words).collect::<Vec<_>>())
        }
    }
}

/// Returns the record of a decision on a path: `allow`, `ask` or `deny`.
#[must_use]
pub fn path_evaluation_event(
    operation: &str,
    resource: &str,
    decision: &'static str,
    reason: &str,
    asked: &EvaluatedFor<'_>,
) -> AuditEvent {
    let is_command = operation == "command.execute";
    let kind = match (decision, is_command) {
        ("allow", true) => EventKind::CommandAllowed,
        ("allow", false) => EventKind::PathAllowed,
        ("ask", _) => EventKind::ApprovalAsked,
        (_, true) => EventKind::CommandDenied,
        (_, false) => EventKind::PathDenied,
    };
    let subject = if is_command { field::COMMAND } else { field::PATH };
    let event = event(kind, decision, asked).with(field::OPERATION, operation);
    event.with(subject, resource).with(field::REASON, reason)
}

fn event(kind: EventKind, decision: &'static str, asked: &EvaluatedFor<'_>) -> AuditEvent {
    let agent = asked.agent.filter(|agent| !agent.is_empty());
    let event =
        AuditEvent { agent: agent.map(Into::into), decision: Some(decision.into()), ..AuditEvent::new(kind) };
    let event = event.with(field::DOOR, asked.entry_point);
    let event = match asked.cwd {
        Some(cwd) => event.with(field::CWD, stockade_text::escape_path(cwd)),
        None => event,
    };
    match asked.session {
        Some(session) => event.with(field::SESSION, session.chars().take(SESSION_CHARS).collect::<String>()),
        None => event,
    }
}
