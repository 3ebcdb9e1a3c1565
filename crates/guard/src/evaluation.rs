//! Decisions that were only asked for, as they are put on record where the configuration says so (`audit.evaluations`).

use std::path::Path;

use stockade_policy::commands::Suggestion;
use stockade_policy::{CommandDecision, Effect};

use crate::audit::{AuditEvent, EventKind};

/// The most rules and suggestions that a record names.
const MAX_NAMED: usize = 16;

/// How many characters of a session are on record: enough to tell it from others, too few to answer in its name.
const SESSION_CHARS: usize = 8;

/// Who asked for a decision, and where.
#[derive(Debug, Clone, Copy, Default)]
pub struct EvaluatedFor<'a> {
    /// The way in which it was asked for: `check command`, `command.evaluate` …
    pub door: &'a str,
    /// The agent, if one was named.
    pub agent: Option<&'a str>,
    /// The session, if there is one.
    pub session: Option<&'a str>,
    /// The folder that it is about.
    pub cwd: Option<&'a Path>,
}

/// Returns the record of a decision on a command. `effect` is what was answered: after an answer of a person, it may be another
/// than the rules alone say.
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
    let event = AuditEvent {
        rule: decisive.map(|part| part.cause.id().to_owned()),
        ..event(kind, effect.name(), asked)
    };
    let event = event.with("command", decision.text).with("rules", rules);
    let event = event.with("reason", decisive.map(|part| part.cause.to_string()).unwrap_or_default());
    match suggestions {
        [] => event,
        some => {
            // In the words of the command and not by the name of the rule, in which a secret could not be told any more.
            let words = |one: &Suggestion| {
                format!("{}, if exactly `{}` is allowed", one.then, one.span.of(decision.text))
            };
            event.with("suggestions", some.iter().take(MAX_NAMED).map(words).collect::<Vec<_>>())
        }
    }
}

/// Returns the record of a decision on a path: `allow`, `ask` or `deny`.
#[must_use]
pub fn path_evaluation_event(
    operation: &str,
    resource: &str,
    decision: &str,
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
    let subject = if is_command { "command" } else { "path" };
    let event = event(kind, decision, asked).with("operation", operation);
    event.with(subject, resource).with("reason", reason)
}

fn event(kind: EventKind, decision: &str, asked: &EvaluatedFor<'_>) -> AuditEvent {
    let agent = asked.agent.filter(|agent| !agent.is_empty());
    let event = AuditEvent {
        agent: agent.map(str::to_owned),
        decision: Some(decision.to_owned()),
        ..AuditEvent::new(kind)
    };
    let event = event.with("door", asked.door);
    let event = match asked.cwd {
        Some(cwd) => event.with("cwd", stockade_text::escape_path(cwd)),
        None => event,
    };
    match asked.session {
        Some(session) => event.with("session", session.chars().take(SESSION_CHARS).collect::<String>()),
        None => event,
    }
}
