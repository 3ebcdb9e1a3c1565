//! The layers as one: what an agent framework embeds.

#[cfg(all(feature = "exec", target_os = "linux"))]
mod bound;
mod decision;
mod error;
#[cfg(all(feature = "exec", target_os = "linux"))]
mod graph;
#[cfg(all(feature = "exec", target_os = "linux"))]
mod hosts;
#[cfg(all(feature = "exec", target_os = "linux"))]
mod route;
#[cfg(all(feature = "exec", target_os = "linux"))]
mod run;
#[cfg(all(feature = "exec", target_os = "linux"))]
mod start;

use std::path::{Path, PathBuf};

use stockade_limits::Usage;
use stockade_limits::breaker::CallOutcome;
use stockade_limits::steps::{Step, Steps};
use stockade_limits::store::{CallPermit, CallVerdict, LimitStore, SharedLimits, StoreError};
use stockade_policy::commands::validator::{Validation, ValidatorOptions, validate};
use stockade_policy::shell::ReadOptions;
use stockade_policy::{
    Access, Caller, CommandContext, CommandDecision, Effect, Reply, RuleLayer, ToolCatalog, ToolPolicy,
    ToolVerdict,
};
use stockade_scanner::Scanner;

pub use decision::{Decision, DecisionLayer};
pub use error::GuardError;
#[cfg(all(feature = "exec", target_os = "linux"))]
pub use graph::GraphRun;
#[cfg(all(feature = "exec", target_os = "linux"))]
pub use route::RunPlace;
#[cfg(all(feature = "exec", target_os = "linux"))]
pub use run::{PendingRun, Ran, RunAnswer};

use crate::admit::{Admission, LoadedSkill, admit};
use crate::agent_commands::AgentCommands;
use crate::audit::{AuditError, AuditEvent, AuditTrail, EventKind, Recorded, new_name};
use crate::config::{AgentConfig, Config};
use crate::egress::NetPolicy;
use crate::paths::{Authorization, PathGuard, PathRequest, PendingPath, Resolver};
use crate::skill::SkillSource;

/// What a guard is given besides its configuration.
#[derive(Debug)]
pub struct GuardOptions {
    /// The agent that is guarded.
    pub agent: String,
    /// The folder that it works in.
    pub workspace: PathBuf,
    /// The tools that there are.
    pub catalog: ToolCatalog,
    /// Rules for commands, besides the built-in ones and those of the configuration. Those of a project only make decisions
    /// stricter.
    pub rules: Vec<RuleLayer>,
    /// Where its limits are kept.
    pub limits: Box<dyn LimitStore>,
    /// Where its actions are put on record.
    pub trail: AuditTrail,
}

/// Everything that guards one agent.
///
/// An agent framework asks, in this order, as far as they concern it: [`Guard::admit`] for a skill, [`Guard::tool`] for
/// the tool that a model wants, [`Guard::begin_call`] for what the call may cost, [`Guard::path`] or [`Guard::run`] for what
/// the tool touches. Each answer is put on record before it is given. What cannot be put on record is an error, and an
/// error is a no.
#[derive(Debug)]
pub struct Guard {
    agent: String,
    config: AgentConfig,
    tools: ToolPolicy,
    paths: PathGuard,
    commands: AgentCommands,
    limits: SharedLimits<Store>,
    trail: AuditTrail,
    #[cfg(all(feature = "exec", target_os = "linux"))]
    shared: Vec<PathBuf>,
    #[cfg(all(feature = "exec", target_os = "linux"))]
    hosts: Option<crate::egress::HostList>,
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

impl Guard {
    /// Builds the guard of an agent.
    ///
    /// # Errors
    /// When the configuration cannot be compiled or the workspace not opened. The agent must not start then.
    pub fn open(config: &Config, options: GuardOptions) -> Result<Self, GuardError> {
        let GuardOptions { agent, workspace, catalog, rules, limits, trail } = options;
        let config = config.agent(&agent);
        let tools = ToolPolicy::compile(&config.tools, &catalog)?;
        let paths = PathGuard::open(&config.files, &workspace, Resolver::Kernel)?;
        let rules = rules.into_iter().chain(config.rules.iter().cloned()).collect();
        let commands = AgentCommands::compile(rules, config.commands)?;
        let hosts = match config.exec.net_policy()? {
            NetPolicy::Hosts(hosts) => Some(hosts),
            NetPolicy::None | NetPolicy::Open => None,
        };
        #[cfg(not(all(feature = "exec", target_os = "linux")))]
        if hosts.is_some() {
            return Err(GuardError::HostsWithoutBroker { hosts: config.exec.hosts });
        }
        let limits = SharedLimits::new(config.limits, Store(limits));
        Ok(Self {
            agent,
            config,
            tools,
            paths,
            commands,
            limits,
            trail,
            #[cfg(all(feature = "exec", target_os = "linux"))]
            shared: Vec::new(),
            #[cfg(all(feature = "exec", target_os = "linux"))]
            hosts,
        })
    }

    /// Lets a skill in, or turns it away.
    ///
    /// # Errors
    /// When it cannot be read, or the answer not be put on record.
    pub fn admit(&self, source: &SkillSource<'_>, scanner: &Scanner) -> Result<Admission, GuardError> {
        let admission = admit(source, scanner, &self.config.skills)?;
        let kind = match admission {
            Admission::Accepted(_) => EventKind::SkillAccepted,
            Admission::Flagged(_) => EventKind::SkillFlagged,
            Admission::Blocked(_) => EventKind::SkillBlocked,
        };
        let report = admission.report();
        let findings: Vec<String> = report.findings.iter().map(|finding| finding.rule_id.clone()).collect();
        let problems: Vec<String> = report.problems.iter().map(|problem| problem.rule.to_owned()).collect();
        let event = AuditEvent {
            agent: Some(self.agent.clone()),
            skill: Some(report.name.clone()),
            decision: Some(admission.name().to_owned()),
            ..AuditEvent::new(kind)
        };
        self.record(event.with("findings", findings).with("problems", problems))?;
        Ok(admission)
    }

    /// Makes a skill active: from here on, the agent has only the tools that it lists.
    pub fn activate(&mut self, skill: &LoadedSkill) {
        self.tools = self.tools.with_skill(skill.name(), skill.tools());
    }

    /// Decides whether a tool may be used. `arguments` is what the tool is asked to do, as far as skills speak of it.
    ///
    /// # Errors
    /// When the answer cannot be put on record.
    pub fn tool(&self, name: &str, arguments: Option<&str>) -> Result<Decision, GuardError> {
        let (effect, rule, reason) = match self.tools.decide(name) {
            ToolVerdict::Allowed => (Effect::Allow, "policy", "the policy grants it".to_owned()),
            ToolVerdict::AllowedFor(limits) => {
                let outside =
                    limits.iter().find(|limit| !arguments.is_some_and(|text| limit.admits_command(text)));
                match outside {
                    None => (Effect::Allow, "policy", "the policy and the active skills grant it".to_owned()),
                    Some(limit) => {
                        let reason =
                            format!("the active skill `{}` lists it for other arguments", limit.skill);
                        (Effect::Deny, "not-in-skill", reason)
                    }
                }
            }
            ToolVerdict::Removed(removal) => (Effect::Deny, "removed", removal.to_string()),
            _ => (Effect::Deny, "unknown", "the policy says nothing that is understood".to_owned()),
        };
        let fix = self.tools.fixes(name).first().map(ToString::to_string);
        let fix = fix.filter(|_| effect == Effect::Deny);
        self.decided(DecisionLayer::Tools, effect, name, rule, reason, fix)
    }

    /// Begins a task.
    #[must_use]
    pub fn begin(&self, name: impl Into<String>) -> Execution {
        Execution { name: name.into(), steps: Steps::new(self.config.max_steps) }
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
        if let Step::Complete { limit } = execution.steps.begin() {
            let reason = format!("the task has taken all of its {limit} steps");
            let fix = Some("end it with what it has, or raise `maxSteps`".to_owned());
            return Ok((self.limited(&execution.name, "steps", reason, fix)?, None));
        }
        match self.limits.admit(&self.agent, &execution.name, estimate) {
            CallVerdict::Granted(permit) => {
                let reason = "steps and budget suffice".to_owned();
                let layer = DecisionLayer::Limits;
                // Calls that are within their limits are no events of their own.
                let decision = decision(layer, Effect::Allow, &execution.name, "limits", reason, None)?;
                Ok((decision, Some(Call { permit })))
            }
            CallVerdict::Refused(refusal) => {
                Ok((self.limited(&execution.name, "budget", refusal.to_string(), None)?, None))
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
    /// When the answer cannot be put on record.
    pub fn path(&mut self, tool: &str, access: Access, path: &Path) -> Result<PathAnswer, GuardError> {
        let agent = self.agent.clone();
        let caller = Caller { agent: &agent, ..Caller::default() };
        let authorization = self.paths.authorize(&PathRequest { tool, access, path, caller });
        self.path_answer(path, authorization)
    }

    /// Goes on with a path that somebody was asked about.
    ///
    /// # Errors
    /// When the answer cannot be put on record.
    pub fn answer_path(&mut self, pending: PendingPath, reply: Reply) -> Result<PathAnswer, GuardError> {
        let path = PathBuf::from(pending.ask().object().to_string());
        let event = self.event(EventKind::ApprovalAnswered).with("path", path.display().to_string());
        self.record(event.with("answer", reply_name(&reply)))?;
        let authorization = self.paths.answer(pending, reply);
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

    /// Returns the trail that actions are put on record in.
    #[must_use]
    pub const fn trail(&self) -> &AuditTrail {
        &self.trail
    }

    fn judged<'t>(&self, text: &'t str) -> Result<(Decision, Option<CommandDecision<'t, '_>>), GuardError> {
        let layer = DecisionLayer::Commands;
        if let Validation::Rejected(rejection) = validate(text, &ValidatorOptions::default()) {
            let fix = Some("run the inner command by itself, then use what it printed".to_owned());
            let decision =
                self.decided(layer, Effect::Deny, text, "validator", rejection.to_string(), fix)?;
            return Ok((decision, None));
        }
        let (options, place) = (ReadOptions::default(), self.place());
        let decided = self.commands.decide(text, &options, &place);
        let (rule, reason) = decided
            .decisive()
            .next()
            .map(|part| (part.cause.id().to_owned(), part.cause.to_string()))
            .unwrap_or_default();
        let fix =
            (decided.effect > Effect::Sandbox).then(|| self.commands.suggest(&decided, &options, &place));
        let fix = fix.and_then(|rules| Some(format!("add the rule `{}`", rules.first()?.rule.id)));
        let decision = self.decided(layer, decided.effect, text, &rule, reason, fix)?;
        Ok((decision, Some(decided)))
    }

    fn place(&self) -> CommandContext {
        let workspace = self.paths.workspace().real.clone();
        CommandContext { cwd: Some(workspace.clone()), workspace: Some(workspace) }
    }

    fn path_answer(&self, path: &Path, authorization: Authorization) -> Result<PathAnswer, GuardError> {
        let (effect, rule, reason, fix) = match &authorization {
            Authorization::Granted(granted) => {
                let reason = format!("it is {}", granted.path().display());
                (Effect::Allow, "paths".to_owned(), reason, None)
            }
            Authorization::Pending(pending) => {
                let fix = pending.ask().fix().map(ToString::to_string);
                (Effect::Ask, pending.ask().rule().to_string(), "a person must be asked".to_owned(), fix)
            }
            Authorization::Denied(violation) => {
                let fix = violation.fix.as_ref().map(ToString::to_string);
                (Effect::Deny, violation.reason.name().to_owned(), violation.rule.to_string(), fix)
            }
        };
        let subject = path.display().to_string();
        let decision = self.decided(DecisionLayer::Paths, effect, &subject, &rule, reason, fix)?;
        Ok(PathAnswer { decision, authorization })
    }

    fn limited(
        &self,
        subject: &str,
        rule: &str,
        reason: String,
        fix: Option<String>,
    ) -> Result<Decision, GuardError> {
        self.decided(DecisionLayer::Limits, Effect::Deny, subject, rule, reason, fix)
    }

    /// Puts a decision on record, and returns it.
    fn decided(
        &self,
        layer: DecisionLayer,
        effect: Effect,
        subject: &str,
        rule: &str,
        reason: String,
        fix: Option<String>,
    ) -> Result<Decision, GuardError> {
        put_on_record(&self.agent, &self.trail, (layer, effect, subject, rule, reason, fix))
    }

    fn event(&self, kind: EventKind) -> AuditEvent {
        AuditEvent { agent: Some(self.agent.clone()), ..AuditEvent::new(kind) }
    }

    fn record(&self, event: AuditEvent) -> Result<(), AuditError> {
        record(&self.trail, event)
    }
}

/// Where the trail was opened to warn only, an event may be lost: its owner chose that.
fn record(trail: &AuditTrail, event: AuditEvent) -> Result<(), AuditError> {
    match trail.record(event)? {
        Recorded::Kept(_) | Recorded::Lost(_) => Ok(()),
    }
}

/// What is decided: by which layer, how, about what, by which rule, why, and what would change it.
type Decided<'d> = (DecisionLayer, Effect, &'d str, &'d str, String, Option<String>);

/// Puts a decision on record, and returns it.
fn put_on_record(agent: &str, trail: &AuditTrail, decided: Decided<'_>) -> Result<Decision, GuardError> {
    let (layer, effect, subject, rule, reason, fix) = decided;
    let decision = decision(layer, effect, subject, rule, reason, fix)?;
    let event = AuditEvent {
        agent: Some(agent.to_owned()),
        decision: Some(effect.to_string()),
        rule: Some(decision.rule.clone()),
        ..AuditEvent::new(kind(layer, effect))
    };
    let event = event.with("id", decision.id.as_str()).with("subject", subject);
    record(trail, event.with("reason", decision.reason.as_str()))?;
    Ok(decision)
}

fn decision(
    layer: DecisionLayer,
    effect: Effect,
    subject: &str,
    rule: &str,
    reason: String,
    fix: Option<String>,
) -> Result<Decision, GuardError> {
    let id = new_name().map_err(GuardError::Nameless)?;
    Ok(Decision { id, layer, effect, subject: subject.to_owned(), rule: rule.to_owned(), reason, fix })
}

fn kind(layer: DecisionLayer, effect: Effect) -> EventKind {
    use DecisionLayer::{Commands, Limits, Network, Paths, Person, Sandbox, Skill, Tools};
    match (layer, effect) {
        (_, Effect::Ask) => EventKind::ApprovalAsked,
        (Tools | Skill, Effect::Deny) => EventKind::ToolDenied,
        (Tools | Skill, _) => EventKind::ToolAllowed,
        (Paths, Effect::Deny) => EventKind::PathDenied,
        (Paths, _) => EventKind::PathAllowed,
        (Limits, _) => EventKind::LimitReached,
        (Network, Effect::Deny) => EventKind::NetworkDenied,
        (Network, _) => EventKind::NetworkAllowed,
        (Commands | Sandbox | Person, Effect::Deny) => EventKind::CommandDenied,
        (Commands | Sandbox | Person, _) => EventKind::CommandAllowed,
    }
}

fn reply_name(reply: &Reply) -> &'static str {
    match reply {
        Reply::Decision(answer) => answer.name(),
        _ => "none",
    }
}
