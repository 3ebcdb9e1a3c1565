//! One run of an agent under its guard: what changes while the agent works.

#[cfg(all(feature = "exec", target_os = "linux"))]
mod asked;
#[cfg(all(feature = "exec", target_os = "linux"))]
mod bounds;
#[cfg(all(feature = "exec", target_os = "linux"))]
mod graph;
#[cfg(all(feature = "exec", target_os = "linux"))]
mod route;
#[cfg(all(feature = "exec", target_os = "linux"))]
mod run;
#[cfg(all(feature = "exec", target_os = "linux"))]
mod start;

use std::path::Path;
#[cfg(all(feature = "exec", target_os = "linux"))]
use std::path::PathBuf;
use std::sync::Arc;

use stockade_files::Resolver;
use stockade_limits::Usage;
use stockade_limits::breaker::CallOutcome;
use stockade_limits::steps::{Step, Steps};
use stockade_limits::store::{CallPermit, CallVerdict, LimitStore, SharedLimits, StoreError};
use stockade_policy::access::Fix;
use stockade_policy::commands::{Cause, Suggestion};
use stockade_policy::shell::ReadOptions;
use stockade_policy::{Access, Caller, CommandDecision, Effect, Reply, ToolPolicy, ToolVerdict};
use stockade_scanner::Scanner;

#[cfg(all(feature = "exec", target_os = "linux"))]
pub use graph::GraphRun;
#[cfg(all(feature = "exec", target_os = "linux"))]
pub use route::RunPlace;
#[cfg(all(feature = "exec", target_os = "linux"))]
pub use run::{PendingRun, Ran, RunAnswer};

use crate::audit::{AuditError, AuditEvent, AuditTrail, EventKind};
use crate::guard::{Decision, DecisionDraft, DecisionLayer, DecisionRule, Guard, GuardError, record};
use crate::paths::{Authorization, PathGuard, PathRequest, PendingPath};
use stockade_admission::{Admission, LoadedSkill, SkillSource, admit, decide_on_disk};

/// What a session is given.
#[derive(Debug)]
pub struct SessionOptions {
    /// Where the limits of the agent are kept.
    pub limits: Box<dyn LimitStore>,
    /// Where its actions are put on record.
    pub trail: AuditTrail,
}

/// What to do where no command may stand within another.
const UNHIDE: &str = "run the inner command by itself, then use what it printed";

/// One run of an agent: its active skills, its answers, its steps and its budgets.
///
/// An agent framework asks, in this order, as far as they concern it: [`Session::admit`] for a skill, [`Session::tool`] for
/// the tool that a model wants, [`Session::begin_call`] for what the call may cost, [`Session::path`] or [`Session::run`] for
/// what the tool touches. Each answer is put on record before it is given. What cannot be put on record is an error, and an
/// error is a no.
#[derive(Debug)]
pub struct Session {
    guard: Guard,
    tools: ToolPolicy,
    /// The skill that was made active last.
    skill: Option<String>,
    /// Opened when somebody asks for a path first.
    paths: Option<PathGuard>,
    limits: SharedLimits<Store>,
    trail: AuditTrail,
    #[cfg(all(feature = "exec", target_os = "linux"))]
    answers: Arc<crate::CommandAnswers>,
    #[cfg(all(feature = "exec", target_os = "linux"))]
    bounds: bounds::CommandBounds,
    #[cfg(all(feature = "exec", target_os = "linux"))]
    shared: Vec<PathBuf>,
    #[cfg(all(feature = "exec", target_os = "linux"))]
    pool: Option<Arc<crate::exec::SandboxPool>>,
    #[cfg(all(feature = "exec", target_os = "linux"))]
    control: crate::exec::RunControl,
}

/// One task of an agent, from its first call to its answer.
#[derive(Debug)]
pub struct Execution {
    name: String,
    steps: Steps,
}

/// A call that may be made.
#[derive(Debug)]
#[must_use = "a call that is never settled is charged in full"]
pub struct Call {
    permit: CallPermit,
}

/// What came of asking for a path.
#[derive(Debug)]
#[must_use]
pub struct PathAnswer {
    /// What was decided.
    pub decision: Decision,
    /// What it leads to, already open; or a question, or a refusal.
    pub authorization: Authorization,
}

/// A store of any kind.
#[derive(Debug)]
struct Store(Box<dyn LimitStore>);

impl LimitStore for Store {
    fn update(&self, agent: &str, change: &mut stockade_limits::store::Change<'_>) -> Result<(), StoreError> {
        self.0.update(agent, change)
    }
}

impl Session {
    pub(crate) fn new(guard: Guard, options: SessionOptions) -> Self {
        let SessionOptions { limits, trail } = options;
        Self {
            tools: guard.tools().clone(),
            skill: None,
            paths: None,
            limits: SharedLimits::new(guard.config().limits, Store(limits)),
            trail,
            #[cfg(all(feature = "exec", target_os = "linux"))]
            answers: Arc::new(crate::CommandAnswers::new(crate::AnswerTerms::default(), None)),
            #[cfg(all(feature = "exec", target_os = "linux"))]
            bounds: bounds::CommandBounds::default(),
            #[cfg(all(feature = "exec", target_os = "linux"))]
            shared: Vec::new(),
            #[cfg(all(feature = "exec", target_os = "linux"))]
            pool: None,
            #[cfg(all(feature = "exec", target_os = "linux"))]
            control: crate::exec::RunControl::default(),
            guard,
        }
    }

    /// Returns the guard that the session is under.
    #[must_use]
    pub const fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Returns the trail that actions are put on record in.
    #[must_use]
    pub const fn trail(&self) -> &AuditTrail {
        &self.trail
    }

    /// Returns the skill that was made active last.
    #[must_use]
    pub fn active_skill(&self) -> Option<&str> {
        self.skill.as_deref()
    }

    /// Lets a skill in, or turns it away.
    ///
    /// # Errors
    /// When it cannot be read, or the answer not be put on record.
    pub fn admit(&self, source: &SkillSource<'_>, scanner: &Scanner) -> Result<Admission, GuardError> {
        let admission = admit(source, scanner, &self.guard.config().skills)?;
        let kind = match admission {
            Admission::Accepted(_) => EventKind::SkillAccepted,
            Admission::Flagged(_) => EventKind::SkillFlagged,
            _ => EventKind::SkillBlocked,
        };
        let report = admission.report();
        let findings: Vec<String> = report.findings.iter().map(|finding| finding.rule_id.clone()).collect();
        let problems: Vec<String> = report.problems.iter().map(|problem| problem.rule.to_owned()).collect();
        let event = AuditEvent {
            skill: Some(report.name.clone()),
            decision: Some(admission.name().to_owned()),
            ..self.event(kind)
        };
        self.record(event.with("findings", findings).with("problems", problems))?;
        Ok(admission)
    }

    /// Makes a skill active: from here on, the agent has only the tools that it lists, and its commands are recorded as those
    /// of the skill.
    pub fn activate(&mut self, skill: &LoadedSkill) {
        self.tools = self.tools.with_skill(skill.name(), skill.tools());
        self.skill = Some(skill.name().to_owned());
    }

    /// Decides whether a tool may be used. `arguments` is what the tool is asked to do, as far as skills speak of it.
    ///
    /// # Errors
    /// When the answer cannot be put on record.
    pub fn tool(&self, name: &str, arguments: Option<&str>) -> Result<Decision, GuardError> {
        let (effect, rule, reason) = match self.tools.decide(name) {
            ToolVerdict::Allowed => {
                (Effect::Allow, DecisionRule::ToolGranted, "the policy grants it".to_owned())
            }
            ToolVerdict::AllowedFor(limits) => {
                let outside =
                    limits.iter().find(|limit| !arguments.is_some_and(|text| limit.admits_command(text)));
                match outside {
                    None => {
                        let reason = "the policy and the active skills grant it".to_owned();
                        (Effect::Allow, DecisionRule::ToolGranted, reason)
                    }
                    Some(limit) => {
                        let reason =
                            format!("the active skill `{}` lists it for other arguments", limit.skill);
                        (Effect::Deny, DecisionRule::NotInSkill, reason)
                    }
                }
            }
            ToolVerdict::Removed(removal) => (Effect::Deny, DecisionRule::ToolRemoved, removal.to_string()),
            _ => {
                let reason = "the policy says nothing that is understood".to_owned();
                (Effect::Deny, DecisionRule::UnknownVerdict, reason)
            }
        };
        let fix = self.tools.fixes(name).first().map(ToString::to_string);
        let fix = fix.filter(|_| effect == Effect::Deny);
        self.decided(DecisionDraft { layer: DecisionLayer::Tools, effect, subject: name, rule, reason, fix })
    }

    /// Begins a task.
    #[must_use]
    pub fn begin(&self, name: impl Into<String>) -> Execution {
        Execution { name: name.into(), steps: Steps::new(self.guard.config().max_steps) }
    }

    /// Decides whether a call may be made that costs up to `estimate`: first by its steps, then by its budget, then by the
    /// breaker. A call that may be made is to be settled.
    ///
    /// # Errors
    /// When the answer cannot be put on record. Nothing is charged then.
    pub fn begin_call(
        &self,
        execution: &mut Execution,
        estimate: Usage,
    ) -> Result<(Decision, Option<Call>), GuardError> {
        let subject = execution.name.as_str();
        if let Step::Complete { limit } = execution.steps.begin() {
            let reason = format!("the task has taken all of its {limit} steps");
            let fix = Some("end it with what it has, or raise `maxSteps`".to_owned());
            return Ok((self.limited(subject, DecisionRule::Steps, reason, fix)?, None));
        }
        match self.limits.admit(self.guard.agent(), subject, estimate) {
            CallVerdict::Granted(permit) => {
                // Calls that are within their limits are no events of their own.
                let decision = DecisionDraft {
                    layer: DecisionLayer::Limits,
                    effect: Effect::Allow,
                    subject,
                    rule: DecisionRule::WithinLimits,
                    reason: "steps and budget suffice".to_owned(),
                    fix: None,
                };
                Ok((decision.named()?, Some(Call { permit })))
            }
            CallVerdict::Refused(refusal) => {
                Ok((self.limited(subject, DecisionRule::Budget, refusal.to_string(), None)?, None))
            }
        }
    }

    /// Charges what a call did cost, and takes note of how it went.
    ///
    /// # Errors
    /// When that cannot be kept. The call is then charged in full when its time is over.
    pub fn end_call(&self, call: Call, actual: Usage, outcome: CallOutcome) -> Result<(), GuardError> {
        self.limits.settle(call.permit, actual, outcome)?;
        Ok(())
    }

    /// Decides on a path that a tool wants; when it is allowed, with what it leads to already open.
    ///
    /// # Errors
    /// When the workspace cannot be opened, or the answer not be put on record.
    pub fn path(&mut self, tool: &str, access: Access, path: &Path) -> Result<PathAnswer, GuardError> {
        let guard = self.guard.clone();
        let caller = Caller { agent: guard.agent(), ..Caller::default() };
        let authorization = self.paths()?.authorize(&PathRequest { tool, access, path, caller });
        self.path_answer(path, authorization)
    }

    /// Goes on with a path that somebody was asked about.
    ///
    /// # Errors
    /// As [`Session::path`].
    pub fn answer_path(&mut self, pending: PendingPath, reply: Reply) -> Result<PathAnswer, GuardError> {
        let path = pending.path().to_owned();
        let event = self.event(EventKind::ApprovalAnswered).with("path", path.display().to_string());
        self.record(event.with("answer", reply_name(&reply)))?;
        let authorization = self.paths()?.answer(pending, reply);
        self.path_answer(&path, authorization)
    }

    /// Decides what may become of a command, without running it.
    ///
    /// # Errors
    /// When the answer cannot be put on record.
    pub fn command(&self, text: &str) -> Result<Decision, GuardError> {
        let (decision, _) = self.judged(text)?;
        Ok(decision)
    }

    fn paths(&mut self) -> Result<&mut PathGuard, GuardError> {
        let paths = match self.paths.take() {
            Some(paths) => paths,
            None => {
                let (files, workspace) = (&self.guard.config().files, self.guard.workspace());
                let mut opened = PathGuard::open(files, workspace, Resolver::Kernel)?;
                opened.sandbox().set_commands(Arc::clone(self.guard.commands()));
                opened
            }
        };
        Ok(self.paths.insert(paths))
    }

    fn judged<'t>(&self, text: &'t str) -> Result<(Decision, CommandDecision<'t, '_>), GuardError> {
        let layer = DecisionLayer::Commands;
        let options = ReadOptions::default();
        let commands = self.guard.commands();
        let (decided, place) =
            decide_on_disk(self.guard.command_place(), |place| commands.decide(text, &options, place));
        let cause = decided.decisive().next().map(|part| &part.cause);
        let reason = cause.map(ToString::to_string).unwrap_or_default();
        let rule = match cause {
            Some(Cause::Rejected(_)) => DecisionRule::Validator,
            cause => DecisionRule::Named(cause.map(|cause| cause.id().to_owned()).unwrap_or_default()),
        };
        let is_stopped = decided.effect > Effect::Sandbox;
        let fix = match cause {
            Some(Cause::Rejected(_)) => Some(UNHIDE.to_owned()),
            _ if is_stopped => added(&commands.suggest(&decided, &options, &place)),
            _ => None,
        };
        let effect = decided.effect;
        let decision = self.decided(DecisionDraft { layer, effect, subject: text, rule, reason, fix })?;
        Ok((decision, decided))
    }

    fn path_answer(&self, path: &Path, authorization: Authorization) -> Result<PathAnswer, GuardError> {
        let (effect, rule, reason, fix) = match &authorization {
            Authorization::Granted(granted) => {
                let reason = format!("it is {}", granted.path().display());
                (Effect::Allow, DecisionRule::PathGranted, reason, None)
            }
            Authorization::Pending(pending) => {
                let rule = DecisionRule::Named(pending.ask().rule().to_string());
                let fix = pending.ask().fix().map(words_of);
                (Effect::Ask, rule, "a person must be asked".to_owned(), fix)
            }
            Authorization::Denied(violation) => {
                let rule = DecisionRule::Named(violation.reason.name().to_owned());
                let fix = violation.fix.as_ref().map(words_of);
                (Effect::Deny, rule, violation.rule.to_string(), fix)
            }
        };
        let layer = DecisionLayer::Paths;
        let subject = &path.display().to_string();
        let decision = self.decided(DecisionDraft { layer, effect, subject, rule, reason, fix })?;
        Ok(PathAnswer { decision, authorization })
    }

    fn limited(
        &self,
        subject: &str,
        rule: DecisionRule,
        reason: String,
        fix: Option<String>,
    ) -> Result<Decision, GuardError> {
        let (layer, effect) = (DecisionLayer::Limits, Effect::Deny);
        self.decided(DecisionDraft { layer, effect, subject, rule, reason, fix })
    }

    /// Puts a decision on record, and returns it.
    fn decided(&self, draft: DecisionDraft<'_>) -> Result<Decision, GuardError> {
        let decision = draft.named()?;
        self.record(AuditEvent { agent: Some(self.guard.agent().to_owned()), ..decision.event() })?;
        Ok(decision)
    }

    fn event(&self, kind: EventKind) -> AuditEvent {
        AuditEvent { agent: Some(self.guard.agent().to_owned()), ..AuditEvent::new(kind) }
    }

    fn record(&self, event: AuditEvent) -> Result<(), AuditError> {
        record(&self.trail, event)
    }
}

/// A fix in the words of the configuration of an agent.
fn words_of(fix: &Fix) -> String {
    match fix {
        Fix::AddAllowGlob { access: Access::Read, glob } => format!("add `{glob}` to `files.allowRead`"),
        Fix::AddAllowGlob { access: Access::Write, glob } => format!("add `{glob}` to `files.allowWrite`"),
        other => other.to_string(),
    }
}

/// Says which rules would make a decision milder.
fn added(suggestions: &[Suggestion]) -> Option<String> {
    let ids: Vec<String> = suggestions.iter().map(|one| format!("`{}`", one.rule.id)).collect();
    match ids.as_slice() {
        [] => None,
        [id] => Some(format!("add the rule {id}")),
        ids => Some(format!("add the rules {}", ids.join(", "))),
    }
}

fn reply_name(reply: &Reply) -> &'static str {
    match reply {
        Reply::Decision(answer) => answer.name(),
        _ => "none",
    }
}
