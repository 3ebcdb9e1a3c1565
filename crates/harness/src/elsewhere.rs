//! Questions that the user answers at another terminal, for harnesses that cannot ask.
//!
//! While `stockade watch` runs, the hook waits for the answer for some seconds, which is as long as a harness waits for its hook.
//! Later answers are for the next call of exactly the same content.

use std::time::Duration;

use serde_json::json;
use stockade_state::questions::{self, QuestionAnswer, QuestionContent};

use super::answer::{HookVerdict, Objection, ObjectionBasis};
use super::call::ToolCall;
use super::heartbeat;
use super::judge::Agent;

/// How long a hook waits for an answer. With the deadline of the decision before it, this is below the timeout of every harness.
pub const WAIT: Duration = Duration::from_secs(8);

/// What the model reads about a question that still waits.
const WAITS: &str = "The user is asked in `stockade watch`, and has not answered yet. Do not try another spelling. Tell the user, and \
                     after a yes, within ten minutes, repeat exactly this call.";

/// What the model reads about a question that the user answered with no.
const DENIED: &str = "the user has denied this call; do not try it in any other way";

impl Agent<'_> {
    /// Whether questions about this call can be answered at another terminal.
    pub(super) fn is_asked_elsewhere(&self, call: &ToolCall) -> bool {
        !self.harness().asks && !self.has_task() && call.origin.session != heartbeat::REPLAY
    }

    /// Whether an installation that the user allows at another terminal can run in the sandbox.
    pub(super) fn is_contained_elsewhere(&self, call: &ToolCall) -> bool {
        self.harness().rewrites && self.is_asked_elsewhere(call) && questions::may_be_answered()
    }

    /// Returns the verdict after the user's answer at another terminal, if there is one. `waits` is called before it waits for up
    /// to [`WAIT`].
    ///
    /// # Errors
    /// When the questions cannot be read, or the answer cannot be recorded.
    pub fn answered_elsewhere(
        &self,
        call: &ToolCall,
        verdict: HookVerdict,
        waits: impl FnOnce(),
    ) -> Result<HookVerdict, String> {
        let HookVerdict::Ask(objection) = &verdict else { return Ok(verdict) };
        let Some(decision) = objection.decision.as_deref().filter(|_| self.is_asked_elsewhere(call)) else {
            return Ok(verdict);
        };
        let content = QuestionContent {
            agent: self.guard().agent().to_owned(),
            workspace: self.guard().workspace().to_owned(),
            call: json!({"tool": call.name(), "input": call.input, "cwd": call.origin.cwd}).to_string(),
        };
        let failed = |error: stockade_state::StateError| error.to_string();
        let mut said = questions::redeem(&content).map_err(failed)?;
        if said.is_none() && questions::is_watched() {
            let asked = questions::ask(content, &decision.subject, &decision.reason).map_err(failed)?;
            let Some(name) = asked else { return Ok(verdict) };
            waits();
            said = questions::wait(&name, WAIT).map_err(failed)?;
            if said.is_none() {
                return Ok(HookVerdict::Deny(with(objection, WAITS)));
            }
        }
        let Some(said) = said else { return Ok(verdict) };
        self.session.record_answer(decision, said.name()).map_err(|error| error.to_string())?;
        Ok(match (said, &objection.instead) {
            // The way to allow it from now on is not what the user wants to read now.
            (QuestionAnswer::Deny, _) => HookVerdict::Deny(Objection {
                text: format!(
                    "stockade: {} ({}); {DENIED} [{}]",
                    decision.reason, decision.rule, decision.id
                ),
                instead: None,
                basis: ObjectionBasis::Floor,
                ..objection.clone()
            }),
            (QuestionAnswer::Allow, Some(input)) => HookVerdict::Rewrite(input.clone()),
            (QuestionAnswer::Allow, None) => HookVerdict::Silent,
        })
    }
}

fn with(objection: &Objection, more: &str) -> Objection {
    let text = format!("{}\n{more}", objection.text);
    Objection { text, instead: None, basis: ObjectionBasis::Floor, ..objection.clone() }
}
