//! Paths that a tool wants: decided, opened, asked about, recorded.

use std::path::Path;
use std::sync::PoisonError;

use stockade_admission::{Authorization, PathGuard, PathRequest, PendingPath};
use stockade_command::Effect;
use stockade_files::Resolver;
use stockade_policy::access::Fix;
use stockade_policy::paths::STANDARD_FORBIDDEN_GLOBS;
use stockade_policy::{Access, Ask, Caller, Reply, Violation};

use super::Session;
use crate::audit::{EventKind, field};
use crate::guard::{Decision, DecisionDraft, DecisionLayer, DecisionRule, GuardError};

/// What came of asking for a path.
#[derive(Debug)]
#[must_use]
pub struct PathAnswer {
    /// What was decided.
    pub decision: Decision,
    /// What it leads to, already open; or a question, or a refusal.
    pub authorization: Authorization,
}

impl Session {
    /// Decides on a path that a tool wants; when it is allowed, with what it leads to already open.
    ///
    /// # Errors
    /// When the workspace cannot be opened, or the answer not be put on record.
    pub fn path(&self, tool: &str, access: Access, path: &Path) -> Result<PathAnswer, GuardError> {
        let caller = Caller { agent: self.guard.agent(), ..Caller::default() };
        self.path_for(&PathRequest { tool, access, path, caller })
    }

    /// The same, for a caller that says more about itself: that its run was aborted.
    ///
    /// # Errors
    /// As [`Session::path`].
    pub fn path_for(&self, request: &PathRequest<'_>) -> Result<PathAnswer, GuardError> {
        let authorization = self.with_paths(|paths| paths.authorize(request))?;
        self.path_answer(request.path, authorization)
    }

    /// Continues with a path after its question.
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

    /// Asks the guard of the paths of this session, which remembers what was answered.
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
            Authorization::Granted(granted) => Said::Granted(granted.path()),
            Authorization::Pending(pending) => Said::Pending(pending.ask()),
            Authorization::Denied(violation) => Said::Denied(violation),
            _ => Said::Unknown,
        };
        Ok(PathAnswer { decision: self.path_decision(path, &said)?, authorization })
    }

    /// Puts what is said of a path on record.
    pub(super) fn path_decision(&self, path: &Path, said: &Said<'_>) -> Result<Decision, GuardError> {
        let (effect, rule, reason, fix) = match said {
            Said::Granted(real) => {
                let reason = format!("it is {}", real.display());
                (Effect::Allow, DecisionRule::PathGranted, reason, None)
            }
            Said::Pending(ask) => {
                let rule = DecisionRule::Named(ask.rule().to_string());
                let fix = ask.fix().and_then(words_of);
                (Effect::Ask, rule, "a person must be asked".to_owned(), fix)
            }
            Said::Denied(violation) => {
                let rule = DecisionRule::Named(violation.reason.name().to_owned());
                let fix = violation.fix.as_ref().and_then(words_of);
                (Effect::Deny, rule, violation.rule.to_string(), fix)
            }
            Said::Unknown => {
                let reason = "the policy says nothing that is understood".to_owned();
                (Effect::Deny, DecisionRule::UnknownVerdict, reason, None)
            }
        };
        let layer = DecisionLayer::Paths;
        let subject = &path.display().to_string();
        self.decided(DecisionDraft { layer, effect, subject, rule, reason, fix })
    }
}

/// What is said of a path.
pub(super) enum Said<'s> {
    Granted(&'s Path),
    Pending(&'s Ask),
    Denied(&'s Violation),
    Unknown,
}

/// A fix in the words of the configuration of an agent; nothing where the configuration has none for it.
pub(super) fn words_of(fix: &Fix) -> Option<String> {
    Some(match fix {
        Fix::AddAllowGlob { access: Access::Read, glob } => format!("add `{glob}` to `files.allowRead`"),
        Fix::AddAllowGlob { access: Access::Write, glob } => format!("add `{glob}` to `files.allowWrite`"),
        Fix::RemoveDenyGlob { access: Access::Read, glob } => {
            format!("take `{glob}` out of `files.denyRead`")
        }
        Fix::RemoveDenyGlob { access: Access::Write, glob } => {
            format!("take `{glob}` out of `files.denyWrite`")
        }
        // What a preset forbids stands in no list that anybody could take it out of.
        Fix::RemoveForbiddenGlob { glob } if STANDARD_FORBIDDEN_GLOBS.contains(glob) => return None,
        Fix::RemoveForbiddenGlob { glob } => format!("take `{glob}` out of `files.forbiddenGlobs`"),
        Fix::AcceptHardLinks => return None,
        Fix::AcceptAbsolutePaths => {
            "set `files.preset` to `daemon`, which takes absolute paths, and `files.relativeOnly` to false"
                .to_owned()
        }
        Fix::TurnJailOff => "copy the file into the workspace; only `files.preset: permissive` lets tools out of it, and that \
                             restricts no path at all"
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
