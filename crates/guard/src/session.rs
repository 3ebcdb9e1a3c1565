//! The mutable state of one agent run: active skills, answers, limits and bounds.

#[cfg(all(feature = "exec", target_os = "linux"))]
mod bounds;
mod calls;
#[cfg(all(feature = "exec", target_os = "linux"))]
mod command_answers;
#[cfg(all(feature = "exec", target_os = "linux"))]
mod graph;
mod hosts;
mod narrow;
mod own_tools;
#[cfg(all(feature = "exec", target_os = "linux"))]
mod path_visibility;
mod paths;
mod reading;
mod record_batch;
#[cfg(feature = "extract")]
mod result;
#[cfg(all(feature = "exec", target_os = "linux"))]
mod route;
#[cfg(all(feature = "exec", target_os = "linux"))]
mod run;
#[cfg(all(feature = "exec", target_os = "linux"))]
mod search_path;
#[cfg(all(feature = "exec", target_os = "linux"))]
mod start;
mod why;

#[cfg(all(feature = "exec", target_os = "linux"))]
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use stockade_command::Cause;
use stockade_command::rules::CommandPattern;
use stockade_command::shell::{ReadOptions, quote_argv};
use stockade_command::{CommandContext, CommandDecision, Effect, Layer};
use stockade_limits::store::{LimitStore, SharedLimits};
use stockade_policy::tools::ToolFix;
use stockade_policy::{SkillTools, ToolPolicy, ToolVerdict};
use stockade_scanner::Scanner;

pub use calls::{Call, Execution};
#[cfg(all(feature = "exec", target_os = "linux"))]
pub use graph::GraphRun;
pub use hosts::HostAnswer;
pub use narrow::Narrowing;
pub use paths::PathAnswer;
#[cfg(all(feature = "exec", target_os = "linux"))]
pub use route::RunPlace;
#[cfg(all(feature = "exec", target_os = "linux"))]
pub use run::{PendingRun, Ran, RunAnswer, WouldRun};
pub use why::{RuleOrigin, Why, WhyPart};

use crate::audit::{AuditError, AuditEvent, AuditTrail, EventKind, field};
use crate::guard::{
    Decision, DecisionDraft, DecisionLayer, DecisionRule, Guard, GuardError, admit_options, record,
    record_all,
};
use stockade_admission::PathGuard;
use stockade_admission::{
    Admission, AdmitOptions, LoadedSkill, OnCritical, SkillSource, admit, decide_on_disk,
};

/// The stores that a session uses.
#[derive(Debug)]
pub struct SessionOptions {
    /// The store of the agent's limits.
    pub limits: Box<dyn LimitStore>,
    /// The trail that records its actions.
    pub trail: AuditTrail,
}

/// The fix for a command within another one where substitutions are not allowed.
const UNHIDE: &str = "run the inner command separately, then use its output";

/// A run of one agent: its active skills, answers, steps and budgets.
///
/// An agent framework calls, in this order and as far as they apply: [`Session::admit`] for a skill, [`Session::tool`] for the
/// tool that a model requests, [`Session::begin_call`] for the cost of the call, and [`Session::path`] or [`Session::run`] for
/// what the tool accesses. Each decision is recorded before it is returned. A decision that cannot be recorded is an error, and
/// callers treat errors as denials.
///
/// Clones are the same session: they share answers and usage. Skills that are activated and limits that are narrowed in one clone
/// apply only to that clone.
#[derive(Debug, Clone)]
pub struct Session {
    guard: Guard,
    tools: ToolPolicy,
    /// Active skills, in the order of activation.
    skills: Vec<(String, SkillTools)>,
    narrowing: Arc<Narrowing>,
    /// Tools that the caller's narrowing permits.
    narrower_tools: Option<Arc<ToolPolicy>>,
    /// Opened on the first path request.
    paths: Arc<Mutex<Option<PathGuard>>>,
    limits: Arc<SharedLimits<Arc<dyn LimitStore>>>,
    trail: AuditTrail,
    held: record_batch::RecordBatch,
    #[cfg(all(feature = "exec", target_os = "linux"))]
    answers: Arc<stockade_admission::answers::CommandAnswers>,
    #[cfg(all(feature = "exec", target_os = "linux"))]
    bounds: bounds::CommandBounds,
    #[cfg(all(feature = "exec", target_os = "linux"))]
    shared: Vec<PathBuf>,
    #[cfg(all(feature = "exec", target_os = "linux"))]
    pool: Option<Arc<crate::exec::SandboxPool>>,
    #[cfg(all(feature = "exec", target_os = "linux"))]
    control: crate::exec::run::RunControl,
    #[cfg(all(feature = "exec", target_os = "linux"))]
    counting: start::Counting,
}

impl Session {
    pub(crate) fn new(guard: Guard, options: SessionOptions) -> Self {
        let SessionOptions { limits, trail } = options;
        Self {
            tools: guard.tools().clone(),
            skills: Vec::new(),
            narrowing: Arc::default(),
            narrower_tools: None,
            paths: Arc::default(),
            limits: Arc::new(SharedLimits::new(guard.config().limits, limits.into())),
            trail,
            held: record_batch::RecordBatch::default(),
            #[cfg(all(feature = "exec", target_os = "linux"))]
            answers: Arc::new(stockade_admission::answers::CommandAnswers::new(
                stockade_admission::answers::AnswerTerms::default(),
                None,
            )),
            #[cfg(all(feature = "exec", target_os = "linux"))]
            bounds: bounds::CommandBounds::default(),
            #[cfg(all(feature = "exec", target_os = "linux"))]
            shared: Vec::new(),
            #[cfg(all(feature = "exec", target_os = "linux"))]
            pool: None,
            #[cfg(all(feature = "exec", target_os = "linux"))]
            control: crate::exec::run::RunControl::default(),
            #[cfg(all(feature = "exec", target_os = "linux"))]
            counting: start::Counting::default(),
            guard,
        }
    }

    /// Returns the guard of the session.
    #[must_use]
    pub const fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Returns the trail that records the session's actions.
    #[must_use]
    pub const fn trail(&self) -> &AuditTrail {
        &self.trail
    }

    /// Records what follows in another trail.
    pub fn use_trail(&mut self, trail: AuditTrail) {
        self.trail = trail;
    }

    /// Returns the skill that was activated last.
    #[must_use]
    pub fn active_skill(&self) -> Option<&str> {
        self.skills.last().map(|(name, _)| name.as_str())
    }

    /// Returns the effective tool policy: what the configuration grants and all active skills list.
    #[must_use]
    pub const fn tools(&self) -> &ToolPolicy {
        &self.tools
    }

    /// Returns how long the configuration keeps answers to commands.
    #[must_use]
    pub fn answer_terms(&self) -> stockade_admission::answers::AnswerTerms {
        crate::guard::answer_terms(self.guard.config())
    }

    /// Admits or rejects a skill, with the configured severities of the scanner's rules.
    ///
    /// # Errors
    /// When the skill cannot be read, or the decision cannot be recorded.
    pub fn admit(&self, source: &SkillSource<'_>, scanner: &Scanner) -> Result<Admission, GuardError> {
        self.admit_within(
            source,
            scanner,
            &AdmitOptions { on_critical: OnCritical::Flag, ..admit_options(&self.guard.config().skills) },
        )
    }

    /// Admits or rejects a skill with stricter options of the caller. Options that are milder than the configuration are ignored.
    ///
    /// # Errors
    /// As [`Session::admit`].
    pub fn admit_within(
        &self,
        source: &SkillSource<'_>,
        scanner: &Scanner,
        wish: &AdmitOptions,
    ) -> Result<Admission, GuardError> {
        let admission = admit(source, &self.guard.scanner(scanner), &self.narrowed_admission(wish))?;
        let kind = match admission {
            Admission::Accepted(_) => EventKind::SkillAccepted,
            Admission::Flagged(_) => EventKind::SkillFlagged,
            _ => EventKind::SkillBlocked,
        };
        let report = admission.report();
        let findings: Vec<String> = report.findings.iter().map(|finding| finding.rule_id.clone()).collect();
        let problems: Vec<String> = report.problems.iter().map(|problem| problem.rule.to_owned()).collect();
        let event = AuditEvent {
            skill: Some(report.name.as_str().into()),
            decision: Some(admission.name().into()),
            ..self.event(kind)
        };
        let event = event.with(field::FINDINGS, findings).with(field::PROBLEMS, problems);
        self.record(match report.rules_off.is_empty() {
            true => event,
            false => event.with(field::RULES_OFF, report.rules_off.clone()),
        })?;
        Ok(admission)
    }

    /// Activates a skill: from now on the agent has only the tools that the skill lists, and its commands are recorded as the
    /// skill's.
    pub fn activate(&mut self, skill: &LoadedSkill) {
        self.activate_listed(skill.name(), skill.tools());
    }

    fn activate_listed(&mut self, name: &str, tools: &SkillTools) {
        self.tools = self.tools.with_skill(name, tools);
        self.skills.push((name.to_owned(), tools.clone()));
    }

    /// Decides whether a tool may be used. `arguments` is the part of the call that skills can restrict, such as a command.
    ///
    /// # Errors
    /// When the decision cannot be recorded.
    pub fn tool(&self, name: &str, arguments: Option<&str>) -> Result<Decision, GuardError> {
        let (effect, rule, reason) = match self.decide_tool(name) {
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
        let fix = self.tool_fix(name);
        let fix = fix.filter(|_| effect == Effect::Deny);
        self.decided(DecisionDraft { layer: DecisionLayer::Tools, effect, subject: name, rule, reason, fix })
    }

    /// Decides on a command without running it.
    ///
    /// # Errors
    /// When the decision cannot be recorded.
    pub fn command(&self, text: &str) -> Result<Decision, GuardError> {
        let (decision, _) = self.judged(text)?;
        Ok(decision)
    }

    fn judged<'t>(&self, text: &'t str) -> Result<(Decision, CommandDecision<'t, '_>), GuardError> {
        let options = ReadOptions::default();
        let commands = self.guard.commands();
        let (decided, place) =
            decide_on_disk(self.guard.command_place(), |place| commands.decide(text, &options, place));
        let decision = self.decided_on(&decided, &options, &place)?;
        Ok((decision, decided))
    }

    /// Records a decision on a command that the caller made with the agent's rules, or with additional stricter ones.
    ///
    /// # Errors
    /// When it cannot be recorded. The decision is then void.
    pub fn decided_on(
        &self,
        decided: &CommandDecision<'_, '_>,
        options: &ReadOptions,
        place: &CommandContext,
    ) -> Result<Decision, GuardError> {
        let cause = decided.decisive().next().map(|part| &part.cause);
        let reason = cause.map(ToString::to_string).unwrap_or_default();
        let rule = match cause {
            Some(Cause::Rejected(_)) => DecisionRule::Validator,
            cause => DecisionRule::Named(cause.map(|cause| cause.id().to_owned()).unwrap_or_default()),
        };
        let is_stopped = decided.effect > Effect::Sandbox;
        let fix = match cause {
            Some(Cause::Rejected(_)) => Some(UNHIDE.to_owned()),
            _ if is_stopped => {
                let helps = cause.is_some_and(is_own_denial)
                    || !self.guard.commands().suggest(decided, options, place).is_empty();
                helps.then(|| allowing(self.guard.agent(), decided.text))
            }
            _ => None,
        };
        let (layer, effect, subject) = (DecisionLayer::Commands, decided.effect, decided.text);
        self.decided(DecisionDraft { layer, effect, subject, rule, reason, fix })
    }

    /// Records a decision and returns it.
    fn decided(&self, draft: DecisionDraft<'_>) -> Result<Decision, GuardError> {
        let decision = draft.with_message(&self.guard.config().messages).named()?;
        self.record(self.of_agent(decision.event()))?;
        Ok(decision)
    }

    /// Records the user's answer to a decision.
    ///
    /// # Errors
    /// When it cannot be recorded. The answer is then void.
    pub fn record_answer(&self, decision: &Decision, answer: &'static str) -> Result<(), AuditError> {
        let event = self.event(EventKind::ApprovalAnswered).with(field::ID, decision.id.as_str());
        self.record(event.with(field::ANSWER, answer))
    }

    fn event(&self, kind: EventKind) -> AuditEvent {
        self.of_agent(AuditEvent::new(kind))
    }

    /// Adds the agent and the active skill to an event.
    fn of_agent(&self, event: AuditEvent) -> AuditEvent {
        let skill = self.active_skill().map(Into::into);
        AuditEvent { agent: Some(self.guard.agent().into()), skill, ..event }
    }

    fn record(&self, event: AuditEvent) -> Result<(), AuditError> {
        match self.held.hold(event)? {
            Some(event) => record(&self.trail, event),
            None => Ok(()),
        }
    }
}

impl Session {
    /// Returns the command that allows a tool, or the change of the configuration where none does.
    fn tool_fix(&self, name: &str) -> Option<String> {
        let fix = self.tools.fixes(name).into_iter().next()?;
        Some(match fix {
            ToolFix::AddToAllow { tool } => {
                quote_argv(["stockade", "allow", "--tool", self.guard.agent(), &tool])
            }
            other => other.to_string(),
        })
    }
}

/// Whether the user has denied exactly this command, which an approval of the same takes back.
fn is_own_denial(cause: &Cause<'_>) -> bool {
    let Cause::Rule { rule, layer: Layer::User } = cause else { return false };
    rule.effect == Effect::Deny && matches!(rule.pattern, CommandPattern::Exact(_))
}

/// Returns the `stockade allow` command that allows exactly this command.
fn allowing(agent: &str, command: &str) -> String {
    // A single word may also be the name of a tool or a host.
    match command.contains(char::is_whitespace) {
        true => quote_argv(["stockade", "allow", agent, command]),
        false => quote_argv(["stockade", "allow", "--command", agent, command]),
    }
}
