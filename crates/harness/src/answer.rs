//! Answers in the format of each harness.

use std::fmt;

use serde_json::{Value, json};
use stockade_guard::Decision;
use stockade_text::escape_lines;

use super::call::ToolCall;
use super::{Answers, Harness};

/// Maximum length of a reason in bytes: some harnesses truncate or drop longer ones.
const MAX_REASON: usize = 4000;

/// The answer "no objection" for the shell line. An answer that no harness understands must differ from it.
pub const NOTHING: &str = "allow";

/// The answer "refused, see standard error" for the shell line.
pub const REFUSED: &str = "deny";

/// The decision about a tool call.
#[derive(Debug, Clone, PartialEq)]
pub enum HookVerdict {
    /// No objection, which grants nothing: the harness goes on as without the hook.
    Silent,
    /// The tool must not be used, for this reason.
    Deny(Objection),
    /// The user has to be asked, with this text.
    Ask(Objection),
    /// The tool is used with these arguments, which the rules allow.
    Rewrite(Value),
}

/// Why a tool call is denied or the user has to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objection {
    /// The text for the user and the model.
    pub text: String,
    /// The recorded decision; `None` if the call is stopped for its form, which no rule is about.
    pub decision: Option<Box<Decision>>,
    /// The arguments with which the tool is used if the user agrees, by harnesses that show them in the question.
    pub instead: Option<Value>,
    /// What it is based on.
    pub basis: ObjectionBasis,
}

/// What an objection is based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectionBasis {
    /// Rules alone: an approval would lift it.
    Rules,
    /// A limit that no approval lifts, a denial, or the form of the call.
    Floor,
}

impl HookVerdict {
    /// Returns the verdict with another basis of its objection.
    #[must_use]
    pub(super) fn on(mut self, basis: ObjectionBasis) -> Self {
        if let Self::Ask(objection) | Self::Deny(objection) = &mut self {
            objection.basis = basis;
        }
        self
    }

    /// Returns the stricter of two verdicts, of equal ones the later. Its basis is a floor if that of either is.
    #[must_use]
    pub(super) fn and(self, later: Self) -> Self {
        let basis = self.basis().max(later.basis());
        let is_stricter = matches!((&self, &later), (_, Self::Silent) | (Self::Deny(_), Self::Ask(_)));
        let stricter = if is_stricter { self } else { later };
        match basis {
            Some(basis) => stricter.on(basis),
            None => stricter,
        }
    }

    /// Returns the basis of its objection.
    pub(super) const fn basis(&self) -> Option<ObjectionBasis> {
        match self {
            Self::Ask(objection) | Self::Deny(objection) => Some(objection.basis),
            Self::Silent | Self::Rewrite(_) => None,
        }
    }
}

impl From<String> for Objection {
    fn from(text: String) -> Self {
        Self { text, decision: None, instead: None, basis: ObjectionBasis::Floor }
    }
}

impl From<&str> for Objection {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Output and exit code of the hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookOutput {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Exit code.
    pub code: u8,
}

impl HookOutput {
    pub(super) fn json(value: &Value) -> Self {
        Self { stdout: format!("{value}\n"), stderr: String::new(), code: 0 }
    }

    /// An empty answer, which grants nothing.
    pub fn nothing() -> Self {
        Self { stdout: String::new(), stderr: String::new(), code: 0 }
    }
}

/// Returns a refusal in the format of a harness. Its reason is never empty, since some harnesses then ignore the refusal.
pub fn deny(harness: &Harness, reason: &str) -> HookOutput {
    let reason = &bounded(reason);
    let event = harness.before();
    match harness.answers {
        Answers::Specific => HookOutput::json(&specific(event, "deny", reason)),
        Answers::Decision | Answers::Plugin | Answers::Merged | Answers::Required => {
            HookOutput::json(&json!({"decision": "deny", "reason": reason}))
        }
        Answers::Block => HookOutput::json(&json!({"decision": "block", "reason": reason})),
        Answers::Permission => {
            HookOutput::json(&json!({"permissionDecision": "deny", "permissionDecisionReason": reason}))
        }
        Answers::Cancel => HookOutput::json(&json!({"cancel": true, "errorMessage": reason})),
        Answers::Cursor => HookOutput::json(&json!({
            "permission": "deny", "user_message": reason, "agent_message": reason
        })),
        Answers::ExitCode => HookOutput { stdout: String::new(), stderr: format!("{reason}\n"), code: 2 },
    }
}

/// Returns an answer in the format of a harness.
pub fn before(harness: &Harness, call: &ToolCall, verdict: HookVerdict) -> HookOutput {
    match verdict {
        HookVerdict::Silent => silent(harness),
        HookVerdict::Deny(why) => deny(harness, &why.text),
        HookVerdict::Ask(Objection { text, instead: Some(input), .. }) if harness.asks_rewritten => {
            HookOutput::json(&json!({"hookSpecificOutput": {
                "hookEventName": call.event, "permissionDecision": "ask", "permissionDecisionReason": bounded(&text),
                "updatedInput": input
            }}))
        }
        HookVerdict::Ask(why) if harness.asks => ask(harness, &bounded(&why.text)),
        // The model reads this in place of the user.
        HookVerdict::Ask(why) => deny(
            harness,
            &format!(
                "{why}\nThe user has to agree, and cannot be asked here: do not try another spelling, and tell the user, \
                 who is asked in `stockade watch` while that runs."
            ),
        ),
        HookVerdict::Rewrite(input) => rewrite(harness, call, &input),
    }
}

/// Returns the answer "no objection".
pub fn silent(harness: &Harness) -> HookOutput {
    match harness.answers {
        // This plugin treats empty output as failure; `allow` grants nothing there.
        Answers::Cursor => HookOutput::json(&json!({"permission": "allow"})),
        // The other one waits for a decision, and asks the user itself whatever it is.
        Answers::Plugin | Answers::Required => HookOutput::json(&json!({"decision": "allow"})),
        _ => HookOutput::nothing(),
    }
}

fn ask(harness: &Harness, reason: &str) -> HookOutput {
    match harness.answers {
        Answers::Specific => HookOutput::json(&specific(harness.before(), "ask", reason)),
        Answers::Permission => {
            HookOutput::json(&json!({"permissionDecision": "ask", "permissionDecisionReason": reason}))
        }
        // In no other format was a question seen to reach the user.
        _ => deny(harness, reason),
    }
}

fn rewrite(harness: &Harness, call: &ToolCall, input: &Value) -> HookOutput {
    match harness.answers {
        Answers::Specific => HookOutput::json(&json!({"hookSpecificOutput": {
            "hookEventName": call.event, "permissionDecision": "allow", "updatedInput": input
        }})),
        Answers::Decision => HookOutput::json(
            &json!({"hookSpecificOutput": {"hookEventName": call.event, "tool_input": input}}),
        ),
        Answers::Permission => {
            HookOutput::json(&json!({"permissionDecision": "allow", "modifiedArgs": input}))
        }
        Answers::Cancel => HookOutput::json(&json!({"overrideInput": input})),
        Answers::Merged => HookOutput::json(&json!({"updated_input": input})),
        Answers::Plugin => HookOutput::json(&json!({"decision": "rewrite", "input": input})),
        Answers::Cursor | Answers::ExitCode | Answers::Block | Answers::Required => deny(
            harness,
            "stockade: this command must run in the sandbox, and this harness cannot replace commands",
        ),
    }
}

fn specific(event: &str, decision: &str, reason: &str) -> Value {
    json!({"hookSpecificOutput": {
        "hookEventName": event, "permissionDecision": decision, "permissionDecisionReason": reason
    }})
}

/// Whether a reason is shown unchanged and in full.
pub(super) fn is_shown_whole(reason: &str) -> bool {
    bounded(reason) == reason
}

/// Escapes and truncates a reason, and replaces an empty one.
fn bounded(reason: &str) -> String {
    let shown = escape_lines(reason.trim());
    let end = shown.floor_char_boundary(MAX_REASON);
    match shown.get(..end).unwrap_or_default() {
        "" => "stockade refuses this call without a reason; please report this as a bug".to_owned(),
        kept if end < shown.len() => format!("{kept} …"),
        kept => kept.to_owned(),
    }
}
