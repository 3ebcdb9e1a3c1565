//! Answers in the words of each harness.

use serde_json::{Value, json};
use stockade_text::escape_lines;

use super::call::ToolCall;
use super::{Answers, Harness};

/// The most bytes of a reason; some harnesses cut longer ones, or take them for none.
const MAX_REASON: usize = 4000;

/// What a line in a shell reads as "nothing to say". Anything that is no answer of a harness has to be something else.
pub const NOTHING: &str = "allow";

/// What a line in a shell reads as "it is refused, and standard error says why".
pub const REFUSED: &str = "deny";

/// What is decided about a tool that is about to be used.
#[derive(Debug, Clone, PartialEq)]
pub enum HookVerdict {
    /// Nothing is said against it, which grants nothing: the harness goes on as it would.
    Silent,
    /// It is not used, for this reason.
    Deny(String),
    /// A person is asked, who is told this.
    Ask(String),
    /// It is used with these arguments, which the rules allow.
    Rewrite(Value),
}

/// What is printed, and how the program ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// What goes to standard output.
    pub stdout: String,
    /// What goes to standard error.
    pub stderr: String,
    /// The exit code.
    pub code: u8,
}

impl Said {
    pub(super) fn json(value: &Value) -> Self {
        Self { stdout: format!("{value}\n"), stderr: String::new(), code: 0 }
    }

    /// An answer without a word, which grants nothing.
    pub fn nothing() -> Self {
        Self { stdout: String::new(), stderr: String::new(), code: 0 }
    }
}

/// A refusal in the words of a harness. A reason is never empty: without one, some take it for none.
pub fn deny(harness: &Harness, reason: &str) -> Said {
    let reason = &bounded(reason);
    let event = harness.before();
    match harness.answers {
        Answers::Specific => Said::json(&specific(event, "deny", reason)),
        Answers::Decision | Answers::Plugin => Said::json(&json!({"decision": "deny", "reason": reason})),
        Answers::Permission => {
            Said::json(&json!({"permissionDecision": "deny", "permissionDecisionReason": reason}))
        }
        Answers::Cancel => Said::json(&json!({"cancel": true, "errorMessage": reason})),
        Answers::Cursor => Said::json(&json!({
            "permission": "deny", "user_message": reason, "agent_message": reason
        })),
        Answers::ExitCode => Said { stdout: String::new(), stderr: format!("{reason}\n"), code: 2 },
    }
}

/// An answer in the words of a harness.
pub fn before(harness: &Harness, call: &ToolCall, verdict: HookVerdict) -> Said {
    match verdict {
        HookVerdict::Silent => silent(harness),
        HookVerdict::Deny(reason) => deny(harness, &reason),
        HookVerdict::Ask(reason) if harness.asks => ask(harness, &bounded(&reason)),
        HookVerdict::Ask(reason) => deny(harness, &reason),
        HookVerdict::Rewrite(input) => rewrite(harness, call, &input),
    }
}

/// The answer that grants nothing and says nothing against it.
pub fn silent(harness: &Harness) -> Said {
    match harness.answers {
        // It takes silence for a failure; what is allowed here grants nothing there.
        Answers::Cursor => Said::json(&json!({"permission": "allow"})),
        Answers::Plugin => Said::json(&json!({"decision": "allow"})),
        _ => Said::nothing(),
    }
}

fn ask(harness: &Harness, reason: &str) -> Said {
    match harness.answers {
        Answers::Specific => Said::json(&specific(harness.before(), "ask", reason)),
        Answers::Permission => {
            Said::json(&json!({"permissionDecision": "ask", "permissionDecisionReason": reason}))
        }
        // No other form has a question that was seen to be one.
        _ => deny(harness, reason),
    }
}

fn rewrite(harness: &Harness, call: &ToolCall, input: &Value) -> Said {
    match harness.answers {
        Answers::Specific => Said::json(&json!({"hookSpecificOutput": {
            "hookEventName": call.event, "permissionDecision": "allow", "updatedInput": input
        }})),
        Answers::Decision => {
            Said::json(&json!({"hookSpecificOutput": {"hookEventName": call.event, "tool_input": input}}))
        }
        Answers::Permission => Said::json(&json!({"permissionDecision": "allow", "modifiedArgs": input})),
        Answers::Cancel => Said::json(&json!({"overrideInput": input})),
        Answers::Plugin => Said::json(&json!({"decision": "rewrite", "input": input})),
        Answers::Cursor | Answers::ExitCode => deny(
            harness,
            "stockade: it belongs into the sandbox, and this harness runs nothing in the place of a command",
        ),
    }
}

fn specific(event: &str, decision: &str, reason: &str) -> Value {
    json!({"hookSpecificOutput": {
        "hookEventName": event, "permissionDecision": decision, "permissionDecisionReason": reason
    }})
}

/// Whether a reason is shown as it is, and to its end.
pub(super) fn is_shown_whole(reason: &str) -> bool {
    bounded(reason) == reason
}

/// A reason that is there, safe to show and not too long.
fn bounded(reason: &str) -> String {
    let shown = escape_lines(reason.trim());
    let end = shown.floor_char_boundary(MAX_REASON);
    match shown.get(..end).unwrap_or_default() {
        "" => "stockade refuses it, and has no reason to give: please report this".to_owned(),
        kept if end < shown.len() => format!("{kept} …"),
        kept => kept.to_owned(),
    }
}
