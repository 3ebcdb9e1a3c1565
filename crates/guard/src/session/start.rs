//! Preparing and starting an allowed command: the sandbox request, and what this machine supports.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use stockade_command::shell::ReadOptions;
use stockade_command::{CommandDecision, CommandPolicy, Effect, PackageRegistry, package_use};

use super::run::{Ran, RunAnswer};
use super::{Decision, DecisionRule, Execution, GuardError, Session};
use crate::audit::{AuditEvent, EventKind, field};
use crate::denied_files;
use crate::egress::{BrokerOptions, HostList, NetTarget, UpstreamProxies, read_login_source};
use crate::exec::provider::Provider;
use crate::exec::run::{RunControl, Streams};
use crate::exec::{Limit, Network, OnUnavailable, Refusal, RunError, SandboxMode, SandboxPool, SandboxSpec};
use stockade_config::{ExecConfig, Isolation};

use crate::package_hosts::{self, InstallationNeeds};
use crate::runner::{Egress, NotRun, PreparedRun, RunRecord};

/// How commands count against the agent's limits.
#[derive(Debug, Clone, Default)]
pub(super) enum Counting {
    /// Not at all: the caller counts the calls that run them.
    #[default]
    Elsewhere,
    /// Each command is a task of its own, and needs a remaining budget.
    Each,
    /// Each command is a step of this task.
    In(Execution),
}

/// Whether this machine can create the requested sandbox.
pub(super) enum Found {
    /// The sandbox as it was requested.
    Sandbox,
    /// No sandbox, for this reason; the command could run without one.
    Nothing(Refusal),
    /// The request is refused, with or without a sandbox.
    Refused(Refusal),
}

impl Session {
    /// Runs commands in sandboxes of this pool that were created beforehand, where one matches. Their restrictions are identical.
    pub fn use_pool(&mut self, pool: Arc<SandboxPool>) {
        self.pool = Some(pool);
    }

    /// Sets the handle by which the caller controls running commands of this session.
    pub fn use_control(&mut self, control: RunControl) {
        self.control = control;
    }

    /// Counts each command as a step of a task or as a task of its own. Without this, the calls that run them are counted (see
    /// [`Session::begin_call`]).
    pub fn count_commands(&mut self, execution: Option<Execution>) {
        self.counting = execution.map_or(Counting::Each, Counting::In);
    }

    /// Returns the sandbox mode of commands.
    pub(super) fn mode(&self) -> SandboxMode {
        self.bounds.mode(&self.guard.config().exec)
    }

    /// Prepares a command of the agent as far as the rules allow it.
    pub(super) fn prepare(
        &self,
        judged: &CommandDecision<'_, '_>,
        on_unavailable: OnUnavailable,
        mode: SandboxMode,
    ) -> Result<PreparedRun, GuardError> {
        self.prepare_with(judged, on_unavailable, mode, false)
    }

    /// Prepares a command that the user has approved.
    pub(super) fn prepare_approved(
        &self,
        judged: &CommandDecision<'_, '_>,
        on_unavailable: OnUnavailable,
        mode: SandboxMode,
    ) -> Result<PreparedRun, GuardError> {
        self.prepare_with(judged, on_unavailable, mode, true)
    }

    fn prepare_with(
        &self,
        judged: &CommandDecision<'_, '_>,
        on_unavailable: OnUnavailable,
        mode: SandboxMode,
        is_approved: bool,
    ) -> Result<PreparedRun, GuardError> {
        // A proxy can only be enforced in a sandbox.
        let has_sandbox = mode != SandboxMode::DangerFullAccess;
        let needs = if has_sandbox { self.installation_needs(judged, is_approved) } else { None };
        let hosts = match &needs {
            Some(needs) => Some(self.hosts_with(&needs.hosts)?),
            None => self.guard.hosts().filter(|_| has_sandbox).cloned(),
        };
        let with_hosts = |hosts| {
            let upstream = upstream(&self.guard.config().exec).map_err(GuardError::Broker)?;
            let options = BrokerOptions {
                allow_command: Some(format!("stockade allow --host {}", self.guard.agent())),
                texts: self.guard.config().messages.clone(),
                upstream,
                ..BrokerOptions::default()
            };
            Ok::<_, GuardError>(Egress { hosts, options, secrets: self.guard.secrets().to_vec() })
        };
        let egress = hosts.map(with_hosts).transpose()?;
        let record =
            RunRecord { trail: Some(self.trail.clone()), agent: Some(self.guard.agent().to_owned()) };
        let mut spec = self.spec(command(judged), on_unavailable, mode);
        // Without a sandbox there is no overlay.
        if mode != SandboxMode::DangerFullAccess {
            spec.review = self.bounds.review(&self.guard.config().exec, judged.destroys());
        }
        let variables = needs.into_iter().flat_map(|needs| needs.variables);
        spec.environment.set.extend(variables.map(|(name, value)| (name.into(), value.into())));
        let denied = denied_files::look(&self.guard.config().denied_files, &spec.workspace)
            .map_err(GuardError::DeniedFiles)?;
        (spec.hidden, spec.unwritable) = (denied.hidden, denied.unwritable);
        let prepared = PreparedRun::new(spec, egress, record);
        prepared
            .map(|prepared| prepared.pooled(self.pool.clone()).controlled(self.control.clone()))
            .map_err(GuardError::Broker)
    }

    /// Runs a prepared command.
    pub(super) fn start(
        &self,
        text: &str,
        decision: Decision,
        prepared: PreparedRun,
        streams: Streams,
    ) -> Result<RunAnswer, GuardError> {
        let counted = match &self.counting {
            Counting::Elsewhere => None,
            Counting::Each => Some(self.check_limits()?),
            Counting::In(execution) => Some(self.take_step(execution)?),
        };
        if let Some(refused) = counted.filter(|counted| !counted.is_allowed()) {
            return Ok(RunAnswer::Refused(refused));
        }
        let started = AuditEvent {
            decision: Some(decision.effect.name().into()),
            rule: Some(decision.rule.name().into()),
            ..self.event(EventKind::SandboxStarted)
        };
        let started = started.with(field::ID, decision.id.as_str()).with(field::COMMAND, text);
        let started = match &self.guard.config().exec.withheld_secrets {
            withheld if withheld.is_empty() => started,
            withheld => started.with(field::SECRETS_WITHHELD, withheld.clone()),
        };
        match prepared.behind(self.held.take()?).run(started, streams) {
            Ok(report) => Ok(RunAnswer::Ran(Box::new(Ran { decision, report }))),
            Err(NotRun::Unrecorded(error)) => Err(error.into()),
            Err(NotRun::Sandbox { error: RunError::Refused(refusal), .. }) => {
                self.not_to_be_had(text, &refusal)
            }
            Err(NotRun::Secret(error)) => {
                self.refuse(text, DecisionRule::CannotRun, error.to_string(), Some(error.fix))
            }
            Err(NotRun::Sandbox { error, .. }) => {
                self.refuse(text, DecisionRule::CannotRun, error.to_string(), None)
            }
        }
    }

    /// Whether all that a command asks about are installations, which work in the sandbox once they are approved.
    #[must_use]
    pub fn only_installs(&self, text: &str) -> bool {
        let exec = &self.guard.config().exec;
        let judged = self.guard.decide_command(text, &ReadOptions::default(), &self.guard.command_place());
        let mut asked = judged.parts.iter().filter(|part| part.effect >= Effect::Ask).peekable();
        !exec.hosts_are_fixed
            && exec.isolation != Isolation::Direct
            && self.mode() == SandboxMode::WorkspaceWrite
            && asked.peek().is_some()
            && asked.all(|part| part.run().is_some_and(|run| package_use(run).is_some()))
    }

    /// Returns what an approved installation needs besides the agent's own hosts.
    fn installation_needs(
        &self,
        judged: &CommandDecision<'_, '_>,
        is_approved: bool,
    ) -> Option<InstallationNeeds> {
        let exec = &self.guard.config().exec;
        if exec.hosts_are_fixed || exec.spec.network == Network::Open {
            return None;
        }
        let mut registries = package_hosts::registries_of(judged, Effect::Allow);
        if !registries.is_empty() && !is_approved {
            registries = self.allowed_registries(judged);
        }
        (!registries.is_empty()).then(|| package_hosts::needs_of(&registries))
    }

    /// Returns the agent's host list with more entries. What the list says of a host holds for it.
    fn hosts_with(&self, more: &BTreeSet<String>) -> Result<HostList, GuardError> {
        let own = HostList::compile(&self.guard.config().exec.hosts)?;
        let is_listed = |entry: &&String| {
            let host = entry.split(' ').next().unwrap_or_default();
            NetTarget::parse(&format!("https://{host}")).is_ok_and(|target| own.entry_for(&target).is_some())
        };
        let new = more.iter().filter(|entry| !is_listed(entry));
        Ok(HostList::compile(&self.guard.config().exec.hosts.iter().chain(new).cloned().collect::<Vec<_>>())?)
    }

    /// Returns the registries of the parts that run without a question only by a rule of the user or of the machine's owner.
    fn allowed_registries(&self, judged: &CommandDecision<'_, '_>) -> BTreeSet<PackageRegistry> {
        if judged.effect > Effect::Sandbox {
            return BTreeSet::new();
        }
        let builtin = CommandPolicy::builtin();
        let by_default = builtin.decide(judged.text, &ReadOptions::default(), &self.guard.command_place());
        let mut found = package_hosts::registries_of(&by_default, Effect::Ask);
        found.append(&mut package_hosts::registries_of_allowed_builds(judged));
        found
    }

    fn spec(&self, command: Vec<String>, on_unavailable: OnUnavailable, mode: SandboxMode) -> SandboxSpec {
        let exec = &self.guard.config().exec;
        let mut spec = SandboxSpec {
            command: command.into_iter().map(Into::into).collect(),
            workspace: self.guard.workspace().to_path_buf(),
            on_unavailable,
            shared: self.shared.clone(),
            ..exec.spec.clone()
        };
        spec.limits.wall_time = Limit::from(self.bounds.timeout(exec));
        spec.limits.output = Limit::AtMost(self.bounds.output(exec));
        mode.apply(&mut spec);
        spec
    }
}

/// Checks whether this machine can create the sandbox, and why not.
pub(super) fn look(prepared: &PreparedRun) -> Found {
    // A plan with a sandbox is the same for every value of `on_unavailable`, so the prepared one decides.
    if prepared.plan().is_ok_and(|plan| plan.provider != Provider::Nothing) {
        return Found::Sandbox;
    }
    let planned = |on_unavailable| prepared.plan_with(|spec| spec.on_unavailable = on_unavailable);
    let Err(refusal) = planned(OnUnavailable::Refuse) else { return Found::Sandbox };
    match planned(OnUnavailable::Warn) {
        Ok(_) => Found::Nothing(refusal),
        Err(_) => Found::Refused(refusal),
    }
}

/// Returns the arguments to start: the program itself if its arguments are known exactly, otherwise a shell with the text that
/// was judged.
fn command(judged: &CommandDecision<'_, '_>) -> Vec<String> {
    if let Some(argv) = judged.argv() {
        return argv;
    }
    let rendered = judged.rendered().unwrap_or_else(|| judged.text.to_owned());
    vec!["bash".to_owned(), "-c".to_owned(), rendered]
}

/// Returns the proxies of this machine, as the configuration or the variables name them.
fn upstream(config: &ExecConfig) -> io::Result<UpstreamProxies> {
    let wrong = |key: &str, why: String| io::Error::other(format!("`security.permission.{key}`: {why}"));
    let url = config.upstream_proxy.as_deref();
    let proxies = UpstreamProxies::chosen(url).map_err(|error| match url {
        None => io::Error::other(error),
        Some(_) => wrong("upstreamProxy", error.to_string()),
    })?;
    let Some(source) = config.upstream_login.as_deref().filter(|_| !proxies.is_empty()) else {
        return Ok(proxies);
    };
    let wrong = |why: String| wrong("upstreamLogin", why);
    let login = read_login_source(source).map_err(|error| wrong(format!("{error}: {}", error.fix)))?;
    proxies.with_login(&login).map_err(|error| wrong(error.to_string()))
}
