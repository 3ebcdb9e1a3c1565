//! Access of sandboxed commands to a path of this machine.

use std::path::Path;

use stockade_command::Effect;
use stockade_policy::Access;

use super::start::{Found, look};
use super::{Decision, DecisionDraft, DecisionLayer, DecisionRule, GuardError, Session};
use crate::exec::{Denial, MountAccess, OnUnavailable};

/// The key of the paths that commands may read outside of their workspace.
const READABLE: &str = "skills.execSandbox.readOnlyAllowPaths";

impl Session {
    /// Decides whether a command in the agent's sandbox may read or change a path of this machine, by the plan of that sandbox.
    /// The path must be absolute and without symlinks. Also returns why no setting allows it, if that is so.
    ///
    /// # Errors
    /// When no plan can be created, or the decision cannot be recorded.
    pub fn seen_by_commands(
        &self,
        access: Access,
        path: &Path,
    ) -> Result<(Decision, Option<String>), GuardError> {
        let judged = self.guard.decide_command("true", &Default::default(), &self.guard.command_place());
        let prepared = self.prepare(&judged, OnUnavailable::Refuse, self.mode())?;
        let wanted = match access {
            Access::Read => MountAccess::ReadOnly,
            Access::Write => MountAccess::ReadWrite,
        };
        let (effect, rule, reason, fix, never) =
            match (look(&prepared), prepared.plan().map_err(Clone::clone)) {
                (Found::Sandbox, Ok(plan)) => match plan.keeps_from(path, wanted) {
                    None => (Effect::Sandbox, "view", shared(access).to_owned(), None, None),
                    Some(denial) => {
                        let (reason, fix, never) = match path.starts_with(self.guard.workspace()) {
                            true => kept_back_within(&denial),
                            false => kept_back(&denial),
                        };
                        (Effect::Deny, denial.name(), reason, fix, never)
                    }
                },
                (Found::Nothing(refusal) | Found::Refused(refusal), _) | (_, Err(refusal)) => {
                    (Effect::Deny, "no-sandbox", refusal.to_string(), Some(refusal.fix), None)
                }
            };
        let (layer, subject) = (DecisionLayer::Sandbox, path.display().to_string());
        let rule = DecisionRule::Named(rule.to_owned());
        let draft = DecisionDraft { layer, effect, subject: &subject, rule, reason, fix };
        Ok((self.decided(draft)?, never))
    }
}

const fn shared(access: Access) -> &'static str {
    match access {
        Access::Read => "visible to commands in the sandbox",
        Access::Write => "writable for commands in the sandbox",
    }
}

/// Explains a denial in the workspace: commands may not access what file tools may not, nor names that other programs obey.
fn kept_back_within(denial: &Denial) -> (String, Option<String>, Option<String>) {
    match denial {
        Denial::Write(_) => {
            let fix = "remove matching globs from `files.denyWrite` and `files.forbiddenGlobs`, or set `execSandbox.mode` to `workspace-write`";
            ("read-only for commands in the sandbox".to_owned(), Some(fix.to_owned()), None)
        }
        other => kept_back(other),
    }
}

/// Returns the reason, the narrowest change, and why no change is offered.
fn kept_back(denial: &Denial) -> (String, Option<String>, Option<String>) {
    match denial {
        Denial::Read(path) => {
            let fix = format!("add \"{}\" to `{READABLE}`", path.display());
            ("not visible to commands in the sandbox".to_owned(), Some(fix), None)
        }
        Denial::Write(_) => {
            let never = "the configuration limits changes to the workspace; the user can allow it for one command: `stockade exec --rw DIR`";
            ("read-only for commands in the sandbox".to_owned(), None, Some(never.to_owned()))
        }
        Denial::Never(_, why) => {
            let reason = format!("it is shared with no command: {why}");
            (reason, None, Some("no setting shares it".to_owned()))
        }
        other => (
            format!("commands that use it are refused ({})", other.name()),
            None,
            Some("no setting allows it".to_owned()),
        ),
    }
}
