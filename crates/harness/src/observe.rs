//! Observing: the hook decides and records as always, but leaves to the harness what a rule could allow.
//!
//! A stop is let through only if approvals alone would lift it. So whatever was let through, `stockade learn` can propose, and
//! whatever no rule can allow, or a rule denies expressly, is stopped as always. The answer `observed` in the trail names each
//! decision that was not applied.

use std::path::{Component, PathBuf};

use stockade_guard::Decision;
use stockade_guard::admission::{Authorization, decide_on_disk};
use stockade_guard::command::shell::{ReadOptions, quote_argv};
use stockade_guard::command::{Cause, CommandContext, CommandDecision, Effect, NamedPath};
use stockade_guard::config::HookMode;
use stockade_guard::policy::access::Reason;

use super::answer::{HookVerdict, Objection, ObjectionBasis};
use super::call::{Origin, ToolCall};
use super::heartbeat;
use super::judge::Agent;

/// The answer in the trail to a decision that was not applied.
pub const OBSERVED: &str = "observed";

/// Maximum number of paths in a command that are looked at. A command with more is not let through.
const MAX_PATHS: usize = 64;

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
        let place = CommandContext::new(Some(origin.cwd.clone()), Some(self.guard().workspace().to_owned()));
        matches!(violation.reason, Reason::Jail | Reason::AbsolutePath)
            && self.is_free(&place, &["tee", "--", name])
            && !self.is_protected(&place, name)
    }

    /// Whether a command names a file that only the sandbox protects: credentials, and what Stockade itself keeps. Without the
    /// sandbox, nothing would.
    pub(super) fn names_protected(&self, decided: &CommandDecision<'_, '_>, place: &CommandContext) -> bool {
        let paths = decided.paths();
        let is_protected = |named: &NamedPath| {
            // Of a pattern, the directory that it begins in is looked at.
            let is_plain = |part: &Component<'_>| {
                !named.is_pattern || !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '\\'])
            };
            let plain: PathBuf = named.path.components().take_while(is_plain).collect();
            plain.to_str().is_none_or(|name| !name.is_empty() && self.is_protected(place, name))
        };
        paths.len() > MAX_PATHS || paths.iter().any(is_protected)
    }

    /// Whether a file is protected by its name, wherever it is: a command that reads it has a hazard.
    fn is_protected(&self, place: &CommandContext, path: &str) -> bool {
        let command = match path.strip_prefix("~/") {
            Some(below) => format!("cat -- ~/{}", quote_argv([below])),
            None => quote_argv(["cat", "--", path]),
        };
        let (commands, options) = (self.guard().commands(), ReadOptions::default());
        let (decided, _) = decide_on_disk(place.clone(), |place| commands.decide(&command, &options, place));
        decided.effect > Effect::Sandbox
            || decided.parts.iter().any(|part| matches!(part.cause, Cause::Hazard(_)))
    }

    /// Whether a command runs without a question.
    fn is_free(&self, place: &CommandContext, argv: &[&str]) -> bool {
        let command = quote_argv(argv.iter().copied());
        let (commands, options) = (self.guard().commands(), ReadOptions::default());
        let (decided, _) = decide_on_disk(place.clone(), |place| commands.decide(&command, &options, place));
        decided.effect <= Effect::Sandbox
    }
}
