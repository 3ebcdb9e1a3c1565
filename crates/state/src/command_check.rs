//! What the rules say of a command before a sandbox is made for it that belongs to no agent.
//!
//! A sandbox bounds what a command may do and does not make it a good idea: it may still ruin the workspace and send away what
//! it reads. So what is denied is refused at every door. What would be asked about was typed by a person, or sent by a program
//! that answers for itself.

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
