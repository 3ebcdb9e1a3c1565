//! Settings that a guard is built from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use stockade_command::{CommandDefaults, Effect, RuleLayer, Substitutions};
use stockade_egress::{HostList, HostListError, NetPolicy, RefusalTexts};
use stockade_exec_sandbox::{
    HomeView, Limit, Network, OnUnavailable, ResourceLimits, ReviewPolicy, SandboxMode, SandboxSpec,
};
use stockade_limits::store::AgentLimits;
use stockade_output::ProfileOverride;
use stockade_policy::{SandboxConfig, ToolPolicyConfig};
use stockade_skill::Dialect;

/// Settings of one agent.
#[derive(Debug, Clone)]
pub struct AgentConfig {
    /// Tools that the agent may use.
    pub tools: ToolPolicyConfig,
    /// Budgets, circuit breaker and step limit.
    pub limits: AgentLimits,
    /// Whether a configuration sets the step limit. Where the host names no executions, as at a hook, the default would end
    /// every long session, so only an explicit limit is enforced.
    pub steps_are_set: bool,
    /// How skills are admitted.
    pub skills: SkillsConfig,
    /// Paths that the agent's tools may use.
    pub files: SandboxConfig,
    /// Paths that the configuration itself forbids or denies, without those of the preset. Commands in a sandbox cannot use
    /// them, too.
    pub denied_files: SandboxConfig,
    /// Overrides of the profiles that limit how much of a tool's result reaches a model.
    pub source_profiles: BTreeMap<String, ProfileOverride>,
    /// Decisions about commands that no rule matches.
    pub commands: CommandDefaults,
    /// How long a user's answer for the session stays valid. Zero: it applies once.
    pub session_answers: Duration,
    /// How long a user's saved answer stays valid. Zero: it is not saved.
    pub kept_answers: Duration,
    /// Rules for commands, by layer.
    pub rules: Vec<RuleLayer>,
    /// What hooks do with their decisions.
    pub hook_mode: HookMode,
    /// Texts behind the reasons of refusals and questions.
    pub messages: RefusalTexts,
    /// How commands are run.
    pub exec: ExecConfig,
}

/// What hooks do with their decisions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HookMode {
    /// They record what they would refuse, and refuse only what no rule can allow.
    Observe,
    /// They apply their decisions.
    #[default]
    Enforce,
}

/// How skills are admitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillsConfig {
    /// Expected format of the front matter.
    pub dialect: Dialect,
    /// Whether deviations that the dialect only notes are errors.
    pub strict: bool,
    /// Maximum number of characters of a skill in a prompt.
    pub max_chars: usize,
    /// The treatment of a skill with a critical finding.
    pub critical_findings: CriticalFindings,
    /// Lock files that a skill must match.
    pub lock_files: Vec<PathBuf>,
}

/// The treatment of a skill with a critical finding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CriticalFindings {
    /// The skill is blocked.
    #[default]
    Block,
    /// The skill is admitted and flagged.
    Flag,
}

/// How commands are run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecConfig {
    /// Whether they run in a sandbox.
    pub isolation: Isolation,
    /// What they may change.
    pub mode: SandboxMode,
    /// Which of them work on an overlay of the workspace, and whether their changes are applied automatically.
    pub review: ReviewPolicy,
    /// Commands that run outside of the sandbox.
    pub excluded: Vec<String>,
    /// Which programs need a sandbox; `None` if all do.
    pub need: Option<SandboxNeed>,
    /// Sandbox of a command, without its workspace and command line.
    pub spec: SandboxSpec,
    /// Allowed hosts. If empty, the network of `spec` decides.
    pub hosts: Vec<String>,
    /// Whether nothing adds to these hosts, not even an approved installation its registry.
    pub hosts_are_fixed: bool,
    /// Secrets that commands can use but not read.
    pub secrets: Vec<String>,
    /// Login files at home that commands see with placeholders.
    pub logins: Vec<String>,
    /// Names of secrets that are withheld because a project removed their hosts.
    pub withheld_secrets: Vec<String>,
    /// The proxy of this machine, or `none`; without one, the variables decide.
    pub upstream_proxy: Option<String>,
    /// The source of its login.
    pub upstream_login: Option<String>,
}

impl ExecConfig {
    /// Returns the network policy of the agent's commands.
    ///
    /// # Errors
    /// When an entry of the host list is invalid.
    pub fn net_policy(&self) -> Result<NetPolicy, HostListError> {
        Ok(match self.spec.network {
            _ if !self.hosts.is_empty() => NetPolicy::Hosts(HostList::compile(&self.hosts)?),
            Network::Open => NetPolicy::Open,
            _ => NetPolicy::None,
        })
    }
}

/// Which commands need a sandbox, if not all do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxNeed {
    /// Programs that always need one.
    pub always: Vec<String>,
}

/// Whether commands run in a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// In a sandbox, with this fallback where none can be created.
    Sandbox(OnUnavailable),
    /// In the program that embeds the guard, with all of its rights.
    Direct,
}

/// Where budgets, circuit breakers and steps are stored.
#[derive(Clone, PartialEq, Eq)]
pub struct LimitStoreConfig {
    /// Address of the Redis server, which may contain a password; `None` for the file of this user.
    pub server: Option<String>,
    /// Whether a server is accepted that may lose recorded usage.
    pub may_forget: bool,
}

impl LimitStoreConfig {
    /// Returns how to fix a store that cannot be used. Nothing is allowed until it works.
    #[must_use]
    pub const fn fix(&self) -> &'static str {
        match self.server {
            Some(_) => "start the server, or change `limits.server` in the configuration",
            None => {
                "make `stockade/limits.db` in `$XDG_STATE_HOME` or `~/.local/state` writable for this user, move it away if it is \
                   damaged, or set `limits.server`"
            }
        }
    }
}

/// Shows all fields except the address, which may contain a password.
impl fmt::Debug for LimitStoreConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitStoreConfig").field("may_forget", &self.may_forget).finish_non_exhaustive()
    }
}

/// Settings of the audit trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditConfig {
    /// File of the trail; `None` for the user's own.
    pub path: Option<PathBuf>,
    /// Whether an action that cannot be recorded is only warned about, and not refused.
    pub warn_if_unrecorded: bool,
    /// External witnesses of checkpoints.
    pub anchors: Vec<String>,
    /// Whether decisions that are only queried are recorded.
    pub evaluations: bool,
}

impl Default for SkillsConfig {
    fn default() -> Self {
        Self {
            dialect: Dialect::default(),
            strict: false,
            max_chars: 20_000,
            critical_findings: CriticalFindings::default(),
            lock_files: Vec::new(),
        }
    }
}

/// The strictest settings, for a configuration that could not be found.
impl Default for AgentConfig {
    fn default() -> Self {
        Self {
            tools: ToolPolicyConfig { profile: "minimal".to_owned(), allow: Vec::new(), deny: Vec::new() },
            limits: AgentLimits { max_steps: Some(1), ..AgentLimits::default() },
            steps_are_set: true,
            skills: SkillsConfig::default(),
            files: SandboxConfig::standard(),
            denied_files: SandboxConfig::default(),
            source_profiles: BTreeMap::new(),
            commands: CommandDefaults {
                unmatched: Effect::Deny,
                unanalysable: Effect::Deny,
                substitutions: Substitutions::None,
            },
            session_answers: Duration::ZERO,
            kept_answers: Duration::ZERO,
            rules: Vec::new(),
            hook_mode: HookMode::Enforce,
            messages: RefusalTexts::default(),
            exec: ExecConfig {
                isolation: Isolation::Sandbox(OnUnavailable::Refuse),
                mode: SandboxMode::ReadOnly,
                review: ReviewPolicy::Hold,
                excluded: Vec::new(),
                need: None,
                spec: SandboxSpec {
                    home: HomeView::Private,
                    network: Network::None,
                    limits: ResourceLimits {
                        wall_time: Limit::AtMost(Duration::from_secs(120)),
                        ..ResourceLimits::default()
                    },
                    ..SandboxSpec::new("", [""; 0])
                },
                hosts: Vec::new(),
                secrets: Vec::new(),
                logins: Vec::new(),
                hosts_are_fixed: false,
                withheld_secrets: Vec::new(),
                upstream_proxy: None,
                upstream_login: None,
            },
        }
    }
}
