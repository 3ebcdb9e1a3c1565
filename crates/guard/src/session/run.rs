//! Running a command: parses and judges it, and runs it where the configuration and this machine permit.

use stockade_command::answers::CommandAnswer;
use stockade_command::{CommandDecision, Effect};
use stockade_policy::{PermissionDecision, Reply};

use super::command_answers::AnswerUse;
use super::paths::reply_name;
use super::route::{RunPlace, RunRoute, Sandboxes, needs_none, run_route};
use super::search_path;
use super::start::{Found, look};
use super::{Decision, DecisionDraft, DecisionLayer, DecisionRule, GuardError, Session};
use crate::exec::run::Streams;
use crate::exec::{OnUnavailable, Refusal, ReviewPolicy, SandboxMode};
use crate::runner::{PreparedRun, RunReport};
use stockade_admission::answers::CommandQuestion;
use stockade_config::{ExecConfig, Isolation};

/// The result of running a command.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub enum RunAnswer {
    /// The command ran to its end.
    Ran(Box<Ran>),
    /// The user must be asked first: see [`Session::answer_run`].
    Pending(Box<PendingRun>),
    /// The command was refused, and nothing ran.
    Refused(Decision),
    /// Nothing ran. The command is allowed, but the configuration disables the sandbox, which is the rule of the decision. The
    /// caller must run the command itself; this variant makes that explicit.
    Unsandboxed(Decision),
}

/// A command that ran.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ran {
    /// The decision.
    pub decision: Decision,
    /// The outcome, and what was enforced.
    pub report: RunReport,
}

/// A command that waits for the user's answer.
#[derive(Debug)]
#[must_use = "a command that waits for an answer is not allowed"]
pub struct PendingRun {
    pub(super) text: String,
    pub(super) question: Option<CommandQuestion>,
    decision: Decision,
    place: RunPlace,
    streams: Streams,
}

impl PendingRun {
    /// The decision to show to the user.
    pub const fn decision(&self) -> &Decision {
        &self.decision
    }

    /// The question, to which the answer is bound; nothing if the rules do not ask, and the question is whether the command may
    /// run without a sandbox.
    #[must_use]
    pub const fn question(&self) -> Option<&CommandQuestion> {
        self.question.as_ref()
    }

    /// Where the command runs if the user agrees.
    #[must_use]
    pub const fn place(&self) -> RunPlace {
        self.place
    }
}

/// The next step after a command was judged.
enum Dispatch {
    /// The command does not run now: it was refused, the user must be asked, or the caller must run it.
    Answered(RunAnswer),
    /// The prepared command runs.
    Start(Decision, Box<PreparedRun>, RunPlace),
}

/// What [`Session::run`] would do with a command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WouldRun {
    /// The decision.
    pub decision: Decision,
    /// Where it would run, at once or after the user agrees; nothing if it would not.
    pub place: Option<RunPlace>,
}

const NEVER: &str = "`execSandbox.enabled` is `never`";
const FULL: &str = "`execSandbox.mode` is `danger-full-access`";

impl Session {
    /// Runs a command of the agent if it is allowed: in a sandbox, unless configured otherwise.
    ///
    /// # Errors
    /// When it cannot be recorded. Nothing ran then.
    pub fn run(&self, text: &str, streams: Streams) -> Result<RunAnswer, GuardError> {
        self.at_once(|session| match session.dispatch(text, streams, AnswerUse::Spends)? {
            Dispatch::Answered(answer) => Ok(answer),
            Dispatch::Start(decision, prepared, _) => session.start(text, decision, *prepared, streams),
        })?
    }

    /// Decides like [`Session::run`], as far as the decision is known before the command starts, without running it. Limits are
    /// not checked: see [`Session::check_limits`].
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn would_run(&self, text: &str) -> Result<WouldRun, GuardError> {
        Ok(self.plan(text)?.0)
    }

    /// Decides like [`Session::would_run`], and prepares the command as it would run at once, or in the sandbox after the user
    /// agrees.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn plan(&self, text: &str) -> Result<(WouldRun, Option<PreparedRun>), GuardError> {
        let mut prepared = None;
        let would = match self.dispatch(text, Streams::default(), AnswerUse::Looks)? {
            Dispatch::Start(decision, its, place) => {
                prepared = Some(*its);
                WouldRun { decision, place: Some(place) }
            }
            Dispatch::Answered(RunAnswer::Unsandboxed(decision)) => {
                WouldRun { decision, place: Some(RunPlace::Unsandboxed) }
            }
            Dispatch::Answered(RunAnswer::Pending(pending)) => {
                if pending.place == RunPlace::Sandbox {
                    let judged = self.judged_again(&pending);
                    prepared = Some(self.prepare_approved(&judged, OnUnavailable::Refuse, self.mode())?);
                }
                WouldRun { decision: pending.decision.clone(), place: Some(pending.place) }
            }
            Dispatch::Answered(RunAnswer::Refused(decision)) => WouldRun { decision, place: None },
            // `dispatch` runs nothing, so this variant does not occur.
            Dispatch::Answered(RunAnswer::Ran(ran)) => WouldRun { decision: ran.decision, place: None },
        };
        Ok((would, prepared))
    }

    /// Judges a command, and determines where it runs.
    fn dispatch(&self, text: &str, streams: Streams, using: AnswerUse) -> Result<Dispatch, GuardError> {
        let (decision, judged) = self.judged(text)?;
        if judged.effect == Effect::Deny {
            return Ok(Dispatch::Answered(RunAnswer::Refused(decision)));
        }
        match self.guard.config().exec.isolation {
            Isolation::Direct => self.unsandboxed(&judged, decision, streams),
            Isolation::Sandbox(_) if self.mode() == SandboxMode::DangerFullAccess => {
                self.full_access(&judged, decision, streams)
            }
            Isolation::Sandbox(on_unavailable) => match self.outside(&judged) {
                Some((rule, why)) => {
                    let reason =
                        format!("{why}: it runs WITHOUT A SANDBOX, with all rights of the calling user");
                    let decision = self.by_sandbox(Effect::Allow, judged.text, rule, reason, None)?;
                    let prepared =
                        self.prepare(&judged, OnUnavailable::Refuse, SandboxMode::DangerFullAccess)?;
                    Ok(Dispatch::Start(decision, Box::new(prepared), RunPlace::Unsandboxed))
                }
                None => self.sandboxed(&judged, decision, on_unavailable, (streams, using)),
            },
        }
    }

    /// Returns why an allowed command runs outside of the sandbox: it is excluded, or needs none. Nothing if it does not.
    fn outside(&self, judged: &CommandDecision<'_, '_>) -> Option<(DecisionRule, String)> {
        if judged.effect <= Effect::Sandbox && self.may_leave() && self.guard.excludes(judged.text) {
            return Some((DecisionRule::Excluded, format!("`{}` names it", DecisionRule::Excluded)));
        }
        self.needs_no_sandbox(judged).then(|| {
            let rule = DecisionRule::SandboxDisabled;
            (rule.clone(), format!("`{rule}` is `auto`, and the command needs no sandbox"))
        })
    }

    /// Whether commands may run outside of the sandbox at all. They may not if the caller requested a mode, which applies to
    /// every command, or if `PATH` includes the workspace, where an earlier command may have created a program of that name.
    fn may_leave(&self) -> bool {
        self.mode() == SandboxMode::WorkspaceWrite
            && !self.bounds.has_mode()
            && !search_path::leads_into(self.guard.workspace())
    }

    /// Whether a command needs no sandbox with `execSandbox.enabled: auto`. Settings that only a sandbox enforces require one for
    /// every command. An allowed host does not: it only adds to what a sandbox reaches.
    #[must_use]
    pub fn needs_no_sandbox(&self, judged: &CommandDecision<'_, '_>) -> bool {
        let config = self.guard.config();
        self.may_leave()
            && config.denied_files == Default::default()
            && self.guard.hosts().is_none_or(|hosts| !hosts.entries().iter().any(|entry| entry.is_denied))
            && config.exec.review == ReviewPolicy::Off
            && needs_none(judged, &config.exec)
    }

    /// Continues with a command after the user's answer. An answer for the session is remembered: see
    /// [`Session::answer_command`].
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn answer_run(&self, pending: PendingRun, reply: Reply) -> Result<RunAnswer, GuardError> {
        let answer = match reply {
            Reply::Decision(PermissionDecision::Allow) => CommandAnswer::Allow,
            Reply::Decision(PermissionDecision::Deny) => CommandAnswer::Deny,
            Reply::Decision(PermissionDecision::AllowSession) => CommandAnswer::AllowSession,
            Reply::Decision(PermissionDecision::DenySession) => CommandAnswer::DenySession,
            Reply::Unreadable | Reply::Aborted | Reply::NoHandler => {
                self.record_answer(&pending.decision, reply_name(&reply))?;
                return self.decided_by_person(pending, reply);
            }
        };
        self.answer_command(pending, answer)
    }

    /// Continues according to the user's answer, which is already recorded.
    pub(super) fn decided_by_person(
        &self,
        pending: PendingRun,
        reply: Reply,
    ) -> Result<RunAnswer, GuardError> {
        let PendingRun { text, decision, place, streams, .. } = pending;
        let yes =
            matches!(reply, Reply::Decision(PermissionDecision::Allow | PermissionDecision::AllowSession));
        if !yes {
            let reason = "the user was asked, and did not agree".to_owned();
            return Ok(RunAnswer::Refused(self.answered(Effect::Deny, &text, reason)?));
        }
        // Judged again, because the rules or files may have changed since the question.
        let judged = self.guard.decide_command(&text, &Default::default(), &self.guard.command_place());
        if judged.effect == Effect::Deny {
            let reason = "the rules changed after the question was asked".to_owned();
            return self.refuse(&text, DecisionRule::RulesChanged, reason, None);
        }
        if self.guard.config().exec.isolation == Isolation::Direct {
            let reason = format!("a person was asked, and said yes; {NEVER}");
            return Ok(RunAnswer::Unsandboxed(self.answered(Effect::Allow, &text, reason)?));
        }
        let mode = match place {
            RunPlace::Unsandboxed => self.mode(),
            // The question stated that it would run in a sandbox.
            RunPlace::Sandbox => self.mode().max(SandboxMode::WorkspaceWrite),
        };
        let on_unavailable = match place {
            RunPlace::Sandbox => OnUnavailable::Refuse,
            RunPlace::Unsandboxed => OnUnavailable::Warn,
        };
        let prepared = self.prepare_approved(&judged, on_unavailable, mode)?;
        match (look(&prepared), place) {
            (Found::Sandbox, _) | (Found::Nothing(_), RunPlace::Unsandboxed) => {
                self.start(&text, decision, prepared, streams)
            }
            (Found::Nothing(refusal), RunPlace::Sandbox) => self.no_sandbox(&text, &refusal),
            (Found::Refused(refusal), _) => self.not_to_be_had(&text, &refusal),
        }
    }

    /// Continues without a sandbox, which the configuration disables.
    fn unsandboxed(
        &self,
        judged: &CommandDecision<'_, '_>,
        decision: Decision,
        streams: Streams,
    ) -> Result<Dispatch, GuardError> {
        let text = judged.text;
        match run_route(judged, &self.guard.config().exec, Sandboxes::None) {
            RunRoute::Runs(_) => {
                let reason = format!("{NEVER}: it runs with all rights of the calling user");
                let rule = DecisionRule::SandboxDisabled;
                let decision = self.by_sandbox(Effect::Allow, text, rule, reason, None)?;
                Ok(Dispatch::Answered(RunAnswer::Unsandboxed(decision)))
            }
            RunRoute::Asks(place) => {
                let reason = format!("{}; {NEVER}, so it would run without one", decision.reason);
                let fix = "set `execSandbox.enabled` to `always`, or add a rule that allows it";
                self.ask(judged, DecisionRule::SandboxDisabled, reason, fix, place, streams)
                    .map(Dispatch::Answered)
            }
            RunRoute::NoSandbox | RunRoute::Refused => Ok(Dispatch::Answered(RunAnswer::Refused(decision))),
        }
    }

    /// Continues without a sandbox, which the mode `danger-full-access` permits.
    fn full_access(
        &self,
        judged: &CommandDecision<'_, '_>,
        decision: Decision,
        streams: Streams,
    ) -> Result<Dispatch, GuardError> {
        let (text, rule) = (judged.text, DecisionRule::FullAccess);
        let exec = ExecConfig { isolation: Isolation::Direct, ..self.guard.config().exec.clone() };
        match run_route(judged, &exec, Sandboxes::None) {
            RunRoute::Runs(_) => {
                let reason =
                    format!("{FULL}: it runs WITHOUT A SANDBOX, with all rights of the calling user");
                let decision = self.by_sandbox(Effect::Allow, text, rule, reason, None)?;
                let prepared = self.prepare(judged, OnUnavailable::Refuse, SandboxMode::DangerFullAccess)?;
                Ok(Dispatch::Start(decision, Box::new(prepared), RunPlace::Unsandboxed))
            }
            RunRoute::Asks(place) => {
                let reason = format!("{}; {FULL}, so it would run without a sandbox", decision.reason);
                let fix = "set `execSandbox.mode` to `workspace-write`, or add a rule that allows it";
                self.ask(judged, rule, reason, fix, place, streams).map(Dispatch::Answered)
            }
            RunRoute::NoSandbox | RunRoute::Refused => Ok(Dispatch::Answered(RunAnswer::Refused(decision))),
        }
    }

    /// Runs it in a sandbox, or as configured if no sandbox is available.
    fn sandboxed(
        &self,
        judged: &CommandDecision<'_, '_>,
        decision: Decision,
        on_unavailable: OnUnavailable,
        (streams, using): (Streams, AnswerUse),
    ) -> Result<Dispatch, GuardError> {
        const RULE: DecisionRule = DecisionRule::SandboxUnavailable;
        let text = judged.text;
        // An explicit approval to run without a sandbox covers a failure that only shows at the start.
        let prepared = self.prepare(judged, on_unavailable, self.mode())?;
        let (sandboxes, refusal) = match look(&prepared) {
            Found::Sandbox => (Sandboxes::Some, None),
            Found::Nothing(refusal) => (Sandboxes::None, Some(refusal)),
            Found::Refused(refusal) => return self.not_to_be_had(text, &refusal).map(Dispatch::Answered),
        };
        let why = refusal.as_ref().map(ToString::to_string).unwrap_or_default();
        match (run_route(judged, &self.guard.config().exec, sandboxes), refusal) {
            (RunRoute::Runs(place @ RunPlace::Sandbox), _) => {
                Ok(Dispatch::Start(decision, Box::new(prepared), place))
            }
            (RunRoute::Runs(place @ RunPlace::Unsandboxed), _) => {
                let reason = format!("{why}; `{RULE}` is `warn`, so it runs without a sandbox");
                let decision = self.by_sandbox(Effect::Allow, text, RULE, reason, None)?;
                Ok(Dispatch::Start(decision, Box::new(prepared), place))
            }
            (RunRoute::Asks(RunPlace::Sandbox), _) => {
                let question = self.question(judged);
                match self.recalled(question.as_ref(), using)? {
                    Some(said) if said.answer.is_yes() => {
                        let reason =
                            format!("the user has allowed exactly this before ({})", said.answer.name());
                        let decision = self.answered(Effect::Sandbox, text, reason)?;
                        let prepared = self.prepare_approved(judged, on_unavailable, self.mode())?;
                        Ok(Dispatch::Start(decision, Box::new(prepared), RunPlace::Sandbox))
                    }
                    Some(said) => {
                        let reason = format!("a person has said no to this before ({})", said.answer.name());
                        Ok(Dispatch::Answered(RunAnswer::Refused(self.answered(
                            Effect::Deny,
                            text,
                            reason,
                        )?)))
                    }
                    None => {
                        let (text, place) = (text.to_owned(), RunPlace::Sandbox);
                        let pending = PendingRun { text, question, decision, place, streams };
                        Ok(Dispatch::Answered(RunAnswer::Pending(Box::new(pending))))
                    }
                }
            }
            (RunRoute::Asks(place), Some(refusal)) => {
                let reason = format!("{}; {why}, so it would run without a sandbox", decision.reason);
                self.ask(judged, RULE, reason, &refusal.fix, place, streams).map(Dispatch::Answered)
            }
            (RunRoute::NoSandbox, Some(refusal)) => self.no_sandbox(text, &refusal).map(Dispatch::Answered),
            (RunRoute::Asks(_) | RunRoute::NoSandbox | RunRoute::Refused, _) => {
                Ok(Dispatch::Answered(RunAnswer::Refused(decision)))
            }
        }
    }

    /// Returns the question to the user, which states where the command would run.
    fn ask(
        &self,
        judged: &CommandDecision<'_, '_>,
        rule: DecisionRule,
        reason: String,
        fix: &str,
        place: RunPlace,
        streams: Streams,
    ) -> Result<RunAnswer, GuardError> {
        let (text, fix) = (judged.text.to_owned(), Some(fix.to_owned()));
        // Running without a sandbox is confirmed each time: no earlier answer applies.
        let question = self.question(judged);
        let decision = self.by_sandbox(Effect::Ask, &text, rule, reason, fix)?;
        Ok(RunAnswer::Pending(Box::new(PendingRun { text, question, decision, place, streams })))
    }

    fn no_sandbox(&self, text: &str, refusal: &Refusal) -> Result<RunAnswer, GuardError> {
        self.refuse(text, DecisionRule::NoSandbox, refusal.to_string(), Some(refusal.fix.clone()))
    }

    pub(super) fn not_to_be_had(&self, text: &str, refusal: &Refusal) -> Result<RunAnswer, GuardError> {
        self.refuse(text, DecisionRule::SandboxRefused, refusal.to_string(), Some(refusal.fix.clone()))
    }

    pub(super) fn refuse(
        &self,
        text: &str,
        rule: DecisionRule,
        reason: String,
        fix: Option<String>,
    ) -> Result<RunAnswer, GuardError> {
        Ok(RunAnswer::Refused(self.by_sandbox(Effect::Deny, text, rule, reason, fix)?))
    }

    /// Records a decision that follows from the sandbox or its absence.
    fn by_sandbox(
        &self,
        effect: Effect,
        subject: &str,
        rule: DecisionRule,
        reason: String,
        fix: Option<String>,
    ) -> Result<Decision, GuardError> {
        self.decided(DecisionDraft { layer: DecisionLayer::Sandbox, effect, subject, rule, reason, fix })
    }

    /// Records a decision of the user.
    fn answered(&self, effect: Effect, subject: &str, reason: String) -> Result<Decision, GuardError> {
        let (layer, rule) = (DecisionLayer::Person, DecisionRule::Answered);
        self.decided(DecisionDraft { layer, effect, subject, rule, reason, fix: None })
    }
}
