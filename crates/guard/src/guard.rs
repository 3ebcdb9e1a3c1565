//! What guards one agent in one workspace, compiled once and shared.

mod cache;
mod decision;
mod error;
mod settings;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use stockade_admission::decide_on_disk;
use stockade_command::shell::ReadOptions;
use stockade_command::{AgentCommands, CommandContext, CommandDecision, Exclusions, RuleLayer};
use stockade_files::Resolver;
use stockade_policy::{ToolCatalog, ToolPolicy, ToolPolicyConfig, Workspace};

pub use cache::{GuardCache, GuardCacheError};
pub use decision::{Decision, DecisionLayer, DecisionRule};
pub(crate) use decision::{DecisionDraft, record, record_all};
pub use error::GuardError;
pub use settings::admit_options;
pub(crate) use settings::answer_terms;

use crate::egress::{HostList, NetPolicy, SecretBinding, SecretError};
use crate::session::{Session, SessionOptions};
use stockade_admission::PathGuard;
use stockade_config::{AgentConfig, AuditConfig, Config, LimitStoreConfig};
use stockade_scanner::{RuleChange, Scanner};

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
}

/// Everything that holds for one agent in one workspace: configuration, tools, rules and hosts, compiled once.
///
/// It never changes, and clones share it, so a server keeps one for all sessions of an agent (see [`GuardCache`], which
/// makes a new one when the files of the configuration change). What does change while an agent works is in its
/// [`Session`], which also puts every decision on record.
#[derive(Debug, Clone)]
pub struct Guard(Arc<Compiled>);

#[derive(Debug)]
struct Compiled {
    agent: String,
    config: AgentConfig,
    limit_store: LimitStoreConfig,
    audit: AuditConfig,
    rule_changes: Vec<RuleChange>,
    tools: ToolPolicy,
    workspace: Workspace,
    commands: Arc<AgentCommands>,
    #[cfg_attr(
        not(all(feature = "exec", target_os = "linux")),
        expect(dead_code, reason = "nothing runs a command here")
    )]
    exclusions: Exclusions,
    hosts: Option<HostList>,
    #[cfg_attr(
        not(all(feature = "exec", target_os = "linux")),
        expect(dead_code, reason = "nothing runs a command here")
    )]
    secrets: Vec<SecretBinding>,
}

impl Guard {
    /// Compiles the guard of an agent.
    ///
    /// # Errors
    /// When the configuration cannot be compiled or the workspace not opened. The agent must not start then.
    pub fn open(config: &Config, options: GuardOptions) -> Result<Self, GuardError> {
        let GuardOptions { agent, workspace, catalog, rules } = options;
        let (limit_store, audit) = (config.limit_store().clone(), config.audit().clone());
        let rule_changes = config.rule_changes();
        let config = config.agent(&agent)?;
        let tools =
            ToolPolicy::compile_with_foreign_tools(&config.tools, &servers_at_least(catalog, &config.tools))?;
        // Each session opens its own, for its own answers; here it shows whether it can be opened.
        let workspace = PathGuard::open(&config.files, &workspace, Resolver::Kernel)?.workspace().clone();
        let rules = rules.into_iter().chain(config.rules.iter().cloned()).collect();
        let commands = Arc::new(AgentCommands::compile(rules, config.commands)?);
        let exclusions = Exclusions::compile(&config.exec.excluded)?;
        let hosts = match config.exec.net_policy()? {
            NetPolicy::Hosts(hosts) => Some(hosts),
            NetPolicy::None | NetPolicy::Open => None,
        };
        if hosts.is_some() && cfg!(not(all(feature = "exec", target_os = "linux"))) {
            return Err(GuardError::HostsWithoutBroker { hosts: config.exec.hosts });
        }
        let secrets = secrets(&config.exec.secrets, &config.exec.logins, hosts.as_ref())?;
        Ok(Self(Arc::new(Compiled {
            agent,
            config,
            limit_store,
            audit,
            rule_changes,
            tools,
            workspace,
            commands,
            exclusions,
            hosts,
            secrets,
        })))
    }

    /// Begins a session: one run of the agent, with answers, steps and active skills of its own.
    #[must_use]
    pub fn session(&self, options: SessionOptions) -> Session {
        Session::new(self.clone(), options)
    }

    /// Returns the name of the agent.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.0.agent
    }

    /// Returns what the configuration says of the agent.
    #[must_use]
    pub fn config(&self) -> &AgentConfig {
        &self.0.config
    }

    /// Returns where the configuration has the limits of agents kept.
    #[must_use]
    pub fn limit_store(&self) -> &LimitStoreConfig {
        &self.0.limit_store
    }

    /// Returns what the configuration says of the audit trail.
    #[must_use]
    pub fn audit(&self) -> &AuditConfig {
        &self.0.audit
    }

    /// Returns a scanner as the configuration has it: some of its rules may be off, or worse or milder than they say. A session
    /// asks for it by itself, whatever scanner it is given.
    #[must_use]
    pub fn scanner(&self, scanner: &Scanner) -> Scanner {
        scanner.changed(&self.0.rule_changes)
    }

    /// Returns the folder that the agent works in, with all links resolved.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.0.workspace.real
    }

    /// Decides on a shell text by the agent's rules, and by the repositories in which it would run git. Nothing is recorded: for
    /// running, use [`Session::run`].
    pub fn decide_command<'t>(
        &self,
        text: &'t str,
        options: &ReadOptions,
        place: &CommandContext,
    ) -> CommandDecision<'t, '_> {
        decide_on_disk(place.clone(), |place| self.0.commands.decide(text, options, place)).0
    }

    /// Whether `excludedCommands` of the configuration contains a command.
    #[cfg(all(feature = "exec", target_os = "linux"))]
    pub(crate) fn excludes(&self, text: &str) -> bool {
        let Some(policy) = self.0.exclusions.policy() else { return false };
        let decide = |place: &CommandContext| policy.decide(text, &ReadOptions::default(), place);
        self.0.exclusions.excludes(&decide_on_disk(self.command_place(), decide).0)
    }

    /// Whether both are the same instance, not only equal.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn tools(&self) -> &ToolPolicy {
        &self.0.tools
    }

    /// Returns the agent's command rules.
    #[must_use]
    pub fn commands(&self) -> &Arc<AgentCommands> {
        &self.0.commands
    }

    /// Returns the host list of the agent's commands, if configured.
    #[must_use]
    pub fn hosts(&self) -> Option<&HostList> {
        self.0.hosts.as_ref()
    }

    /// Returns the secrets that the agent's commands can use but not read.
    #[cfg(all(feature = "exec", target_os = "linux"))]
    pub(crate) fn secrets(&self) -> &[SecretBinding] {
        &self.0.secrets
    }

    /// Returns the workspace of the agent's commands.
    #[must_use]
    pub fn command_place(&self) -> CommandContext {
        let workspace = self.0.workspace.real.clone();
        CommandContext::new(Some(workspace.clone()), Some(workspace))
    }
}

/// The tools of a catalog. Without an explicit catalog, other programs may know tools of servers that this one does not, such as
/// the harness that the agent runs in: then a server name in the configuration is not reported as a mistake.
fn servers_at_least(said: ToolCatalog, tools: &ToolPolicyConfig) -> ToolCatalog {
    if !said.tools.is_empty() || !said.mcp_servers.is_empty() {
        return said;
    }
    let server = |entry: &String| Some(entry.strip_prefix("mcp__")?.split_once("__")?.0.to_owned());
    let named = tools.allow.iter().chain(&tools.deny).filter_map(server);
    ToolCatalog { mcp_servers: named.filter(|server| !server.contains('*')).collect(), ..said }
}

/// The host list of a configuration, in errors.
const HOST_LIST: &str = "`security.permission.allowedNetHosts`";

/// Returns the secrets and logins of a configuration. Secrets are not read from their sources; of login files, only the hosts
/// are kept.
fn secrets(
    written: &[String],
    logins: &[String],
    hosts: Option<&HostList>,
) -> Result<Vec<SecretBinding>, GuardError> {
    let none = HostList::default();
    let hosts = hosts.unwrap_or(&none);
    let mut bindings: Vec<_> =
        written.iter().map(|text| SecretBinding::read(text)).collect::<Result<_, _>>()?;
    bindings.extend(of_logins(logins, hosts).map_err(GuardError::Logins)?);
    SecretBinding::check(&bindings, hosts, HOST_LIST)?;
    Ok(bindings)
}

/// A file without a login for an allowed host lends nothing: a project may have removed that host.
#[cfg(target_os = "linux")]
fn of_logins(files: &[String], hosts: &HostList) -> Result<Vec<SecretBinding>, SecretError> {
    let mut bindings = Vec::new();
    for path in files {
        bindings
            .extend(crate::egress::UserLoginFile::at(path.as_ref())?.bindings(hosts, HOST_LIST)?.bindings);
    }
    Ok(bindings)
}

/// Without an egress proxy, commands run without a list of hosts, and get no login.
#[cfg(not(target_os = "linux"))]
fn of_logins(_files: &[String], _hosts: &HostList) -> Result<Vec<SecretBinding>, SecretError> {
    Ok(Vec::new())
}
