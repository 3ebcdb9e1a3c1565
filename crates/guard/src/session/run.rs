//! Runs a command: read, judged, and sent where the configuration says and this machine can.

use stockade_command::answers::CommandAnswer;
use stockade_command::{CommandDecision, Effect};
use stockade_policy::{PermissionDecision, Reply};

use super::paths::reply_name;
use super::route::{RunPlace, Sandboxes, Way, needs_none, way};
use super::search_path;
use super::start::{Found, look};
use super::{Decision, DecisionDraft, DecisionLayer, DecisionRule, GuardError, Session};
use crate::exec::run::Streams;
use crate::exec::{OnUnavailable, Refusal, ReviewPolicy, SandboxMode};
use crate::runner::{PreparedRun, RunReport};
use stockade_admission::answers::CommandQuestion;
use stockade_config::{ExecConfig, Isolation};

/// What came of a command.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub enum RunAnswer {
    /// It ran, and this is how it ended.
    Ran(Box<Ran>),
    /// A person must be asked first: see [`Session::answer_run`].
    Pending(Box<PendingRun>),
    /// It was refused, and nothing ran.
    Refused(Decision),
    /// Nothing ran. It may run, but the configuration says: never in a sandbox, which the decision names as the rule. The
    /// caller has to run it, and accepts that with this variant.
    Unsandboxed(Decision),
}

/// A command that ran.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ran {
    /// What was decided about it.
    pub decision: Decision,
    /// How it ran: its outcome, and what was enforced.
    pub report: RunReport,
}

/// A command that waits for an answer.
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
    /// What was decided, to be shown to a person.
    pub const fn decision(&self) -> &Decision {
        &self.decision
    }

    /// What a person is to be shown, and what their answer is bound to; nothing where the rules ask nothing, and the question is
    /// whether it may run without a sandbox.
    #[must_use]
    pub const fn question(&self) -> Option<&CommandQuestion> {
        self.question.as_ref()
    }

    /// Where it runs if the answer is yes.
    #[must_use]
    pub const fn place(&self) -> RunPlace {
        self.place
    }
}

/// Where a command goes once it was judged.
enum Going {
    /// It does not run now: it was refused, the user has to be asked, or the caller has to run it.
    Stays(RunAnswer),
    /// It runs, as it was prepared.
    Starts(Decision, Box<PreparedRun>, RunPlace),
}

/// What [`Session::run`] would do with a command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WouldRun {
    /// What is decided.
    pub decision: Decision,
    /// Where it would run, at once or after a person has agreed; nothing where it would not.
    pub place: Option<RunPlace>,
}

const NEVER: &str = "`execSandbox.enabled` is `never`";
const FULL: &str = "`execSandbox.mode` is `danger-full-access`";

impl Session {
    /// Runs a command of the agent where it may run: in a sandbox, if the configuration does not say otherwise.
    ///
    /// # Errors
    /// When it cannot be put on record; nothing ran then.
    pub fn run(&self, text: &str, streams: Streams) -> Result<RunAnswer, GuardError> {
        match self.going(text, streams)? {
            Going::Stays(answer) => Ok(answer),
            Going::Starts(decision, prepared, _) => self.start(text, decision, *prepared, streams),
        }
    }

    /// Decides as [`Session::run`] does, as far as anything is known before a command begins, and runs nothing. Limits are not
    /// asked: see [`Session::check_limits`].
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn would_run(&self, text: &str) -> Result<WouldRun, GuardError> {
        Ok(match self.going(text, Streams::default())? {
            Going::Starts(decision, _, place) => WouldRun { decision, place: Some(place) },
            Going::Stays(RunAnswer::Unsandboxed(decision)) => {
                WouldRun { decision, place: Some(RunPlace::Unsandboxed) }
            }
            Going::Stays(RunAnswer::Pending(pending)) => {
                WouldRun { decision: pending.decision.clone(), place: Some(pending.place) }
            }
            Going::Stays(RunAnswer::Refused(decision)) => WouldRun { decision, place: None },
            // Nothing runs where a command only goes somewhere.
            Going::Stays(RunAnswer::Ran(ran)) => WouldRun { decision: ran.decision, place: None },
        })
    }

    /// Judges a command, and finds out where it goes.
    fn going(&self, text: &str, streams: Streams) -> Result<Going, GuardError> {
        let (decision, judged) = self.judged(text)?;
        if judged.effect == Effect::Deny {
            return Ok(Going::Stays(RunAnswer::Refused(decision)));
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
                    Ok(Going::Starts(decision, Box::new(prepared), RunPlace::Unsandboxed))
                }
                None => self.sandboxed(&judged, decision, on_unavailable, streams),
            },
        }
    }

    /// Why a command that needs no question runs outside of the sandbox, if it does: it is excluded, or needs none.
    fn outside(&self, judged: &CommandDecision<'_, '_>) -> Option<(DecisionRule, String)> {
        if judged.effect <= Effect::Sandbox && self.may_leave() && self.guard.excludes(judged.text) {
            return Some((DecisionRule::Excluded, format!("`{}` names it", DecisionRule::Excluded)));
        }
        self.needs_no_sandbox(judged).then(|| {
            let rule = DecisionRule::SandboxDisabled;
            (rule.clone(), format!("`{rule}` is `auto`, and it needs none"))
        })
    }

    /// Whether commands may leave the sandbox at all. A requested mode applies to every command, and where `PATH` includes the
    /// workspace, an earlier command may have put another program there.
    fn may_leave(&self) -> bool {
        self.mode() == SandboxMode::WorkspaceWrite
            && !self.bounds.has_mode()
            && !search_path::leads_into(self.guard.workspace())
    }

    /// Whether a command needs no sandbox by `execSandbox.enabled: auto`. What only a sandbox holds keeps every command in one.
    #[must_use]
    pub fn needs_no_sandbox(&self, judged: &CommandDecision<'_, '_>) -> bool {
        let config = self.guard.config();
        self.may_leave()
            && config.denied_files == Default::default()
            && self.guard.hosts().is_none()
            && config.exec.review == ReviewPolicy::Off
            && needs_none(judged, &config.exec)
    }

    /// Continues with a command after its question. An answer for the session is remembered: see
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

    /// Goes on as a person has said; that they said it is on record.
    pub(super) fn decided_by_person(
        &self,
        pending: PendingRun,
        reply: Reply,
    ) -> Result<RunAnswer, GuardError> {
        let PendingRun { text, decision, place, streams, .. } = pending;
        let yes =
            matches!(reply, Reply::Decision(PermissionDecision::Allow | PermissionDecision::AllowSession));
        if !yes {
            let reason = "a person was asked, and did not say yes".to_owned();
            return Ok(RunAnswer::Refused(self.answered(Effect::Deny, &text, reason)?));
        }
        // Judged again: what was asked about is what runs.
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
            // It was said that it would run in a sandbox.
            RunPlace::Sandbox => self.mode().max(SandboxMode::WorkspaceWrite),
        };
        let on_unavailable = match place {
            RunPlace::Sandbox => OnUnavailable::Refuse,
            RunPlace::Unsandboxed => OnUnavailable::Warn,
        };
        let prepared = self.prepare(&judged, on_unavailable, mode)?;
        match (look(&prepared), place) {
            (Found::Sandbox, _) | (Found::Nothing(_), RunPlace::Unsandboxed) => {
                self.start(&text, decision, prepared, streams)
            }
            (Found::Nothing(refusal), RunPlace::Sandbox) => self.no_sandbox(&text, &refusal),
            (Found::Refused(refusal), _) => self.not_to_be_had(&text, &refusal),
        }
    }

    /// Goes on where the configuration says: in no sandbox.
    fn unsandboxed(
        &self,
        judged: &CommandDecision<'_, '_>,
        decision: Decision,
        streams: Streams,
    ) -> Result<Going, GuardError> {
        let text = judged.text;
        match way(judged, &self.guard.config().exec, Sandboxes::None) {
            Way::Runs(_) => {
                let reason = format!("{NEVER}: it runs with all rights of the calling user");
                let rule = DecisionRule::SandboxDisabled;
                let decision = self.by_sandbox(Effect::Allow, text, rule, reason, None)?;
                Ok(Going::Stays(RunAnswer::Unsandboxed(decision)))
            }
            Way::Asks(place) => {
                let reason = format!("{}; {NEVER}, so it would run without one", decision.reason);
                let fix = "set `execSandbox.enabled` to `always`, or add a rule that allows it";
                self.ask(judged, DecisionRule::SandboxDisabled, reason, fix, place, streams).map(Going::Stays)
            }
            Way::NoSandbox | Way::Refused => Ok(Going::Stays(RunAnswer::Refused(decision))),
        }
    }

    /// Goes on where the configuration says: without a sandbox, which it names for what it is.
    fn full_access(
        &self,
        judged: &CommandDecision<'_, '_>,
        decision: Decision,
        streams: Streams,
    ) -> Result<Going, GuardError> {
        let (text, rule) = (judged.text, DecisionRule::FullAccess);
        let exec = ExecConfig { isolation: Isolation::Direct, ..self.guard.config().exec.clone() };
        match way(judged, &exec, Sandboxes::None) {
            Way::Runs(_) => {
                let reason =
                    format!("{FULL}: it runs WITHOUT A SANDBOX, with all rights of the calling user");
                let decision = self.by_sandbox(Effect::Allow, text, rule, reason, None)?;
                let prepared = self.prepare(judged, OnUnavailable::Refuse, SandboxMode::DangerFullAccess)?;
                Ok(Going::Starts(decision, Box::new(prepared), RunPlace::Unsandboxed))
            }
            Way::Asks(place) => {
                let reason = format!("{}; {FULL}, so it would run without a sandbox", decision.reason);
                let fix = "set `execSandbox.mode` to `workspace-write`, or add a rule that allows it";
                self.ask(judged, rule, reason, fix, place, streams).map(Going::Stays)
            }
            Way::NoSandbox | Way::Refused => Ok(Going::Stays(RunAnswer::Refused(decision))),
        }
    }

    /// Runs it as configured: in a sandbox, or as configured for the case that no sandbox is available.
    fn sandboxed(
        &self,
        judged: &CommandDecision<'_, '_>,
        decision: Decision,
        on_unavailable: OnUnavailable,
        streams: Streams,
    ) -> Result<Going, GuardError> {
        const RULE: DecisionRule = DecisionRule::SandboxUnavailable;
        let text = judged.text;
        // An explicit approval to run without a sandbox covers a failure that only shows at the start.
        let prepared = self.prepare(judged, on_unavailable, self.mode())?;
        let (sandboxes, refusal) = match look(&prepared) {
            Found::Sandbox => (Sandboxes::Some, None),
            Found::Nothing(refusal) => (Sandboxes::None, Some(refusal)),
            Found::Refused(refusal) => return self.not_to_be_had(text, &refusal).map(Going::Stays),
        };
        let why = refusal.as_ref().map(ToString::to_string).unwrap_or_default();
        match (way(judged, &self.guard.config().exec, sandboxes), refusal) {
            (Way::Runs(place @ RunPlace::Sandbox), _) => {
                Ok(Going::Starts(decision, Box::new(prepared), place))
            }
            (Way::Runs(place @ RunPlace::Unsandboxed), _) => {
                let reason = format!("{why}; `{RULE}` is `warn`, so it runs without a sandbox");
                let decision = self.by_sandbox(Effect::Allow, text, RULE, reason, None)?;
                Ok(Going::Starts(decision, Box::new(prepared), place))
            }
            (Way::Asks(RunPlace::Sandbox), _) => {
                let question = self.question(judged);
                match self.recalled(question.as_ref())? {
                    Some(said) if said.answer.is_yes() => {
                        let reason =
                            format!("a person has said yes to exactly this before ({})", said.answer.name());
                        let decision = self.answered(Effect::Sandbox, text, reason)?;
                        Ok(Going::Starts(decision, Box::new(prepared), RunPlace::Sandbox))
                    }
                    Some(said) => {
                        let reason = format!("a person has said no to this before ({})", said.answer.name());
                        Ok(Going::Stays(RunAnswer::Refused(self.answered(Effect::Deny, text, reason)?)))
                    }
                    None => {
                        let (text, place) = (text.to_owned(), RunPlace::Sandbox);
                        let pending = PendingRun { text, question, decision, place, streams };
                        Ok(Going::Stays(RunAnswer::Pending(Box::new(pending))))
                    }
                }
            }
            (Way::Asks(place), Some(refusal)) => {
                let reason = format!("{}; {why}, so it would run without a sandbox", decision.reason);
                self.ask(judged, RULE, reason, &refusal.fix, place, streams).map(Going::Stays)
            }
            (Way::NoSandbox, Some(refusal)) => self.no_sandbox(text, &refusal).map(Going::Stays),
            (Way::Asks(_) | Way::NoSandbox | Way::Refused, _) => {
                Ok(Going::Stays(RunAnswer::Refused(decision)))
            }
        }
    }

    /// Waits for a person, who is told where it would run.
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
        // That it runs without a sandbox is said each time: no earlier answer counts.
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

    /// Puts on record what the sandbox, or the lack of one, decides.
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

    /// Puts on record what a person has decided.
    fn answered(&self, effect: Effect, subject: &str, reason: String) -> Result<Decision, GuardError> {
        let (layer, rule) = (DecisionLayer::Person, DecisionRule::Answered);
        self.decided(DecisionDraft { layer, effect, subject, rule, reason, fix: None })
    }
}
