//! Check of a command by the rules, before a sandbox is created for it, if it belongs to no agent.
//!
//! A sandbox limits a command, but it may still destroy the workspace or send away what it reads. So denied commands are refused
//! at every entry point. Commands that the rules would ask about are allowed, since a user typed them, or a program sent them on
//! its own responsibility.

use stockade_guard::admission::decide_on_disk;
use stockade_guard::command::shell::ReadOptions;
use stockade_guard::command::{CommandContext, CommandDecision, CommandPolicy, Effect};
use stockade_guard::exec::SandboxSpec;

/// Returns why a command is denied, if it is.
pub fn denied<'t, 'p>(
    policy: &'p CommandPolicy,
    text: &'t str,
    spec: &SandboxSpec,
) -> Option<CommandDecision<'t, 'p>> {
    let cwd = spec.cwd.clone().unwrap_or_else(|| spec.workspace.clone());
    let place = CommandContext::new(Some(cwd), Some(spec.workspace.clone()));
    let (decision, _) = decide_on_disk(place, |place| policy.decide(text, &ReadOptions::default(), place));
    (decision.effect == Effect::Deny).then_some(decision)
}
