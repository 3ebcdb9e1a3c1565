//! Observing: the hook decides and records as always, but leaves to the harness what a rule could allow.
//!
//! A stop is let through only if approvals alone would lift it. So whatever was let through, `stockade learn` can propose, and
//! whatever no rule can allow, or a rule denies expressly, is stopped as always. The answer `observed` in the trail names each
//! decision that was not applied.

use stockade_guard::Decision;
use stockade_guard::admission::{Authorization, decide_on_disk};
use stockade_guard::command::shell::{ReadOptions, quote_argv};
use stockade_guard::command::{CommandContext, CommandDecision, Effect};
use stockade_guard::config::HookMode;
use stockade_guard::policy::access::Reason;

use super::answer::{HookVerdict, Objection, ObjectionBasis};
use super::call::{Origin, ToolCall};
use super::heartbeat;
use super::judge::Agent;

/// The answer in the trail to a decision that was not applied.
pub const OBSERVED: &str = "observed";

impl Agent<'_> {
    /// Whether decisions about this call are recorded but not applied.
    pub(super) fn observes(&self, call: &ToolCall) -> bool {
        // A program that has a session of its own has no permission prompts to leave a call to, and a test call must be stopped.
        self.guard().config().hook_mode == HookMode::Observe
            && !self.has_task()
            && call.origin.session != heartbeat::REPLAY
    }

    /// Leaves a stopped call to the harness if a rule could allow it. That is recorded first.
    pub(super) fn let_through(&self, verdict: HookVerdict) -> Result<HookVerdict, String> {
        match &verdict {
            HookVerdict::Ask(Objection {
                decision: Some(decision), basis: ObjectionBasis::Rules, ..
            })
            | HookVerdict::Deny(Objection {
                decision: Some(decision), basis: ObjectionBasis::Rules, ..
            }) => self.observed(decision),
            _ => Ok(verdict),
        }
    }

    /// Records that a decision is not applied.
    pub(super) fn observed(&self, decision: &Decision) -> Result<HookVerdict, String> {
        self.session.record_answer(decision, OBSERVED).map_err(|error| error.to_string())?;
        Ok(HookVerdict::Silent)
    }

    /// Whether rules alone would let a command run without a question.
    pub(super) fn rules_could_allow(
        &self,
        decided: &CommandDecision<'_, '_>,
        options: &ReadOptions,
        place: &CommandContext,
    ) -> bool {
        // Of a denial, the disk was not asked which links its names follow.
        decided.effect == Effect::Ask
            && self
                .guard()
                .commands()
                .suggest(decided, options, place)
                .last()
                .is_some_and(|last| last.then <= Effect::Sandbox)
    }

    /// Whether a path is refused only because it is outside of the workspace: a command may write it in the sandbox.
    pub(super) fn is_only_outside(
        &self,
        origin: &Origin,
        path: &std::path::Path,
        answer: &Authorization,
    ) -> bool {
        let Authorization::Denied(violation) = answer else { return false };
        let whole = origin.workspace.join(path);
        let Some(name) = whole.to_str() else { return false };
        let command = quote_argv(["tee", "--", name]);
        let place = CommandContext::new(Some(origin.cwd.clone()), Some(self.guard().workspace().to_owned()));
        let (commands, options) = (self.guard().commands(), ReadOptions::default());
        let (decided, _) = decide_on_disk(place, |place| commands.decide(&command, &options, place));
        matches!(violation.reason, Reason::Jail | Reason::AbsolutePath) && decided.effect <= Effect::Sandbox
    }
}
