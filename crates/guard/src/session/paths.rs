//! Path requests of tools: decided, opened and recorded.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::PoisonError;

use stockade_admission::{Authorization, PathGuard, PathRequest, PendingPath, Reads};
use stockade_command::Effect;
use stockade_command::shell::quote_argv;
use stockade_files::Resolver;
use stockade_policy::access::{Fix, PolicyRule};
use stockade_policy::paths::STANDARD_FORBIDDEN_GLOBS;
use stockade_policy::{Access, Ask, Caller, Reply, Violation};

use super::Session;
use crate::audit::{EventKind, field};
use crate::guard::{Decision, DecisionDraft, DecisionLayer, DecisionRule, GuardError};

/// The answer to a path request.
#[derive(Debug)]
#[must_use]
pub struct PathAnswer {
    /// The decision.
    pub decision: Decision,
    /// The opened file or directory, a question to the user, or a refusal.
    pub authorization: Authorization,
}

impl Session {
    /// Decides on reading a path by the rules that the configuration has for it. The built-in limits of file tools, which are the
    /// workspace and forbidden names, do not count: if no rule decides, this continues with whether they would let a file tool
    /// read it, and what a command may read decides, so that both get the same answer. The level of a file's secrecy is a limit
    /// for its content: where only names are listed, it does not count either.
    ///
    /// # Errors
    /// As [`Session::path`].
    pub fn read_by_rules(
        &self,
        tool: &str,
        reads: Reads,
        path: &Path,
    ) -> Result<ControlFlow<Decision, bool>, GuardError> {
        let caller = Caller { agent: self.guard.agent(), ..Caller::default() };
        let request = PathRequest { tool, access: Access::Read, path, caller };
        let authorization = self.with_paths(|paths| paths.authorize(&request))?;
        match &authorization {
            Authorization::Granted(_) => Ok(ControlFlow::Continue(true)),
            Authorization::Denied(violation) if is_built_in(&violation.rule) => {
                Ok(ControlFlow::Continue(false))
            }
            Authorization::Pending(pending) if reads == Reads::Names && is_by_name(pending.ask().rule()) => {
                Ok(ControlFlow::Continue(true))
            }
            _ => Ok(ControlFlow::Break(self.path_answer(path, authorization)?.decision)),
        }
    }

    /// Decides on a path for a tool. An allowed path is returned open, so that it cannot be replaced between check and use.
    ///
    /// # Errors
    /// When the workspace cannot be opened, or the decision cannot be recorded.
    pub fn path(&self, tool: &str, access: Access, path: &Path) -> Result<PathAnswer, GuardError> {
        let caller = Caller { agent: self.guard.agent(), ..Caller::default() };
        self.path_for(&PathRequest { tool, access, path, caller })
    }

    /// Decides on a path like [`Session::path`], for a caller that can state that its run was aborted.
    ///
    /// # Errors
    /// As [`Session::path`].
    pub fn path_for(&self, request: &PathRequest<'_>) -> Result<PathAnswer, GuardError> {
        let authorization = self.with_paths(|paths| paths.authorize(request))?;
        self.path_answer(request.path, authorization)
    }

    /// Continues with a path after the user's answer.
    ///
    /// # Errors
    /// As [`Session::path`].
    pub fn answer_path(&self, pending: PendingPath, reply: Reply) -> Result<PathAnswer, GuardError> {
        let path = pending.path().to_owned();
        let event = self.event(EventKind::ApprovalAnswered).with(field::PATH, path.display().to_string());
        self.record(event.with(field::ANSWER, reply_name(&reply)))?;
        let authorization = self.with_paths(|paths| paths.answer(pending, reply))?;
        self.path_answer(&path, authorization)
    }

    /// Calls `ask` with the path guard of this session, which remembers answers.
    ///
    /// # Errors
    /// When the workspace cannot be opened.
    pub fn with_paths<R>(&self, ask: impl FnOnce(&mut PathGuard) -> R) -> Result<R, GuardError> {
        let mut paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = match paths.take() {
            Some(opened) => opened,
            None => self.open_paths()?,
        };
        Ok(ask(paths.insert(opened)))
    }

    fn open_paths(&self) -> Result<PathGuard, GuardError> {
        let (files, workspace) = (&self.guard.config().files, self.guard.workspace());
        let mut opened = PathGuard::open(files, workspace, Resolver::Kernel)?;
        if let Some(narrower) = &self.narrowing.paths {
            opened.narrow(narrower)?;
        }
        opened.set_commands(self.guard.commands());
        Ok(opened)
    }

    fn path_answer(&self, path: &Path, authorization: Authorization) -> Result<PathAnswer, GuardError> {
        let said = match &authorization {
            Authorization::Granted(granted) => PathOutcome::Granted(granted.path()),
            Authorization::Pending(pending) => PathOutcome::Pending(pending.ask()),
            Authorization::Denied(violation) => PathOutcome::Denied(violation),
            _ => PathOutcome::Unknown,
        };
        Ok(PathAnswer { decision: self.path_decision(path, &said)?, authorization })
    }

    /// Records the outcome of a path request.
    pub(super) fn path_decision(&self, path: &Path, said: &PathOutcome<'_>) -> Result<Decision, GuardError> {
        let (effect, rule, reason, fix) = match said {
            PathOutcome::Granted(real) => {
                let reason = format!("it is {}", real.display());
                (Effect::Allow, DecisionRule::PathGranted, reason, None)
            }
            PathOutcome::Pending(ask) => {
                let rule = DecisionRule::Named(ask.rule().to_string());
                let fix = ask.fix().and_then(|fix| self.path_fix(path, fix));
                (Effect::Ask, rule, "the user must be asked".to_owned(), fix)
            }
            PathOutcome::Denied(violation) => {
                let rule = DecisionRule::Named(violation.reason.name().to_owned());
                let fix = violation.fix.as_ref().and_then(|fix| self.path_fix(path, fix));
                (Effect::Deny, rule, violation.rule.to_string(), fix)
            }
            PathOutcome::Unknown => {
                let reason = "the policy says nothing that is understood".to_owned();
                (Effect::Deny, DecisionRule::UnknownVerdict, reason, None)
            }
        };
        let layer = DecisionLayer::Paths;
        let subject = &path.display().to_string();
        self.decided(DecisionDraft { layer, effect, subject, rule, reason, fix })
    }
}

impl Session {
    /// Returns the command that allows a path, or the change of the configuration where none does.
    fn path_fix(&self, path: &Path, fix: &Fix) -> Option<String> {
        let Fix::AddAllowGlob { access, .. } = fix else { return words_of(fix) };
        let option = match access {
            Access::Read => "--path",
            Access::Write => "--write",
        };
        let whole = self.guard.workspace().join(path);
        let (workspace, whole) = (self.guard.workspace().to_str()?, whole.to_str()?);
        let line = ["stockade", "allow", option, "--workspace", workspace, self.guard.agent(), whole];
        Some(quote_argv(line))
    }
}

/// Whether a path was denied by a limit of file tools that no key of the configuration has set.
fn is_built_in(rule: &PolicyRule) -> bool {
    match rule {
        PolicyRule::AbsolutePaths | PolicyRule::Jail => true,
        PolicyRule::ForbiddenGlob { glob } => STANDARD_FORBIDDEN_GLOBS.contains(glob),
        _ => false,
    }
}

/// Whether the name of the file asks, and no key of the configuration.
const fn is_by_name(rule: &PolicyRule) -> bool {
    matches!(rule, PolicyRule::DangerousName { .. })
}

/// The outcome of a path request.
pub(super) enum PathOutcome<'s> {
    Granted(&'s Path),
    Pending(&'s Ask),
    Denied(&'s Violation),
    Unknown,
}

/// Returns a fix as a change of the agent's configuration; nothing if no key allows it.
pub(super) fn words_of(fix: &Fix) -> Option<String> {
    Some(match fix {
        Fix::AddAllowGlob { access: Access::Read, glob } => format!("add `{glob}` to `files.allowRead`"),
        Fix::AddAllowGlob { access: Access::Write, glob } => format!("add `{glob}` to `files.allowWrite`"),
        Fix::RemoveDenyGlob { access: Access::Read, glob } => {
            format!("remove `{glob}` from `files.denyRead`")
        }
        Fix::RemoveDenyGlob { access: Access::Write, glob } => {
            format!("remove `{glob}` from `files.denyWrite`")
        }
        // Globs of a preset are not in a list of the configuration, so no change removes them.
        Fix::RemoveForbiddenGlob { glob } if STANDARD_FORBIDDEN_GLOBS.contains(glob) => return None,
        Fix::RemoveForbiddenGlob { glob } => format!("remove `{glob}` from `files.forbiddenGlobs`"),
        Fix::AcceptHardLinks => return None,
        Fix::AcceptAbsolutePaths => {
            "set `files.preset` to `daemon`, which accepts absolute paths, and `files.relativeOnly` to false"
                .to_owned()
        }
        Fix::TurnJailOff => "copy the file into the workspace; only `files.preset: permissive` allows paths outside of it, and that restricts nothing"
            .to_owned(),
        other => other.to_string(),
    })
}

pub(super) fn reply_name(reply: &Reply) -> &'static str {
    match reply {
        Reply::Decision(answer) => answer.name(),
        _ => "none",
    }
}
