//! What the rules for commands say of a command that a tool wants to run. It is the one decision on commands: whatever the
//! policies of a tool permit, it is never milder here than where the same rules are asked by themselves.

use std::sync::Arc;

use stockade_shell::ReadOptions;

use super::rule::PolicyRule;
use crate::paths::config::Answer;
use crate::paths::jail::Workspace;
use stockade_command::{AgentCommands, Cause, CommandContext, Effect};

/// How commands are judged.
#[derive(Debug, Clone)]
pub(super) struct Execute {
    /// The answer for a command that no policy stops.
    pub(super) unmatched: Answer,
    /// The rules for commands.
    pub(super) rules: Arc<AgentCommands>,
}

impl Execute {
    /// Returns what the rules for commands deny, and why. Commands that they would run in a sandbox are left to the policies: a
    /// request here is about what a command may do, and not where it runs.
    pub(super) fn judge(&self, text: &str, workspace: &Workspace) -> Option<(Answer, PolicyRule)> {
        let folder = Some(workspace.real.clone());
        let context = CommandContext::new(folder.clone(), folder);
        let decision = self.rules.decide(text, &ReadOptions::default(), &context);
        let answer = match decision.effect {
            Effect::Deny => Answer::Deny,
            Effect::Ask => Answer::Ask,
            Effect::Sandbox | Effect::Allow => return None,
        };
        let part = decision.decisive().next();
        let cause = part.map_or(&Cause::Nothing, |part| &part.cause);
        let rule = PolicyRule::Command { id: cause.id().to_owned(), reason: cause.to_string() };
        Some((answer, rule))
    }
}
