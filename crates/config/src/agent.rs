//! Conversion of configuration values into the settings that a guard is built from.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use stockade_command::{CommandDefaults, Effect, RuleLayer, Substitutions};
use stockade_egress::{HostList, HostListError, NetPolicy};
use stockade_exec_sandbox::backends::ContainerRequest;
use stockade_exec_sandbox::{
    HomeView, Limit, Network, OnUnavailable, Priority, ResourceLimits, ReviewPolicy, SandboxBackend,
    SandboxMode, SandboxSpec, backend_option,
};
use stockade_limits::breaker::BreakerSettings;
use stockade_limits::budget::{Allowance, BudgetLimits};
use stockade_limits::store::AgentLimits;
use stockade_limits::{Cap, MicroUsd};
use stockade_output::ProfileOverride;
use stockade_policy::paths::{AbsolutePaths, Jail, Preset};
use stockade_policy::{Answer, SandboxConfig, ToolPolicyConfig};
use stockade_skill::Dialect;

use crate::known::Known;

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
    /// How commands are run.
    pub exec: ExecConfig,
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
    /// Whether the network is open.
    pub network: bool,
    /// Allowed hosts. If empty, `network` decides.
    pub hosts: Vec<String>,
    /// Secrets that commands can use but not read.
    pub secrets: Vec<String>,
    /// Names of secrets that are withheld because a project removed their hosts.
    pub withheld_secrets: Vec<String>,
}

impl ExecConfig {
    /// Returns the network policy of the agent's commands.
    ///
    /// # Errors
    /// When an entry of the host list is invalid.
    pub fn net_policy(&self) -> Result<NetPolicy, HostListError> {
        Ok(match self.network {
            _ if !self.hosts.is_empty() => NetPolicy::Hosts(HostList::compile(&self.hosts)?),
            true => NetPolicy::Open,
            false => NetPolicy::None,
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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Written {
    agents: BTreeMap<String, WrittenAgent>,
    security: Security,
    limits: Limits,
    audit: Audit,
    #[serde(default)]
    scanner: Scanner,
}

/// Scanner rules whose severity is configured.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Scanner {
    rules: BTreeMap<String, serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Limits {
    server: Option<String>,
    may_forget: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenAgent {
    tool_policy: Tools,
    budget: Budget,
    circuit_breaker: Breaker,
    max_steps: u32,
    skills: Skills,
    files: Files,
    #[serde(default)]
    source_profiles: BTreeMap<String, ProfileOverride>,
    commands: Commands,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Tools {
    profile: String,
    allow: Vec<String>,
    deny: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Budget {
    max_tokens: u64,
    max_cost_usd: Option<f64>,
    max_tokens_per_hour: u64,
    max_tokens_per_day: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Breaker {
    failure_threshold: NonZeroU32,
    reset_timeout_ms: u64,
    half_open_timeout_ms: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Skills {
    dialect: String,
    strict: bool,
    max_body_length: usize,
    content_scanning: ContentScanning,
    lock: Option<PathBuf>,
    exec_sandbox: ExecSandbox,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ContentScanning {
    block_on_critical: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ExecSandbox {
    enabled: String,
    mode: String,
    always_sandbox: Vec<String>,
    excluded_commands: Vec<String>,
    on_unavailable: String,
    review: String,
    backend: String,
    image: Option<String>,
    runtime: Option<String>,
    backend_options: Vec<String>,
    home: String,
    read_only_allow_paths: Vec<PathBuf>,
    network: String,
    timeout_ms: Option<u64>,
    memory_mb: Option<u64>,
    processes: Option<u64>,
    priority: String,
    max_output_bytes: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Files {
    preset: String,
    forbidden_globs: Vec<String>,
    allow_read: Vec<String>,
    allow_write: Vec<String>,
    deny_read: Vec<String>,
    deny_write: Vec<String>,
    reads: String,
    writes: String,
    jail: bool,
    relative_only: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Commands {
    unmatched: String,
    unanalysable: String,
    substitutions: String,
    session_answer_minutes: u64,
    kept_answer_days: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Security {
    permission: Permission,
    unnamed_agents: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Permission {
    enable_node_permissions: bool,
    allowed_fs_paths: Vec<PathBuf>,
    allowed_net_hosts: Vec<String>,
    secrets: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Audit {
    path: Option<PathBuf>,
    anchors: Vec<String>,
    on_unrecorded: String,
    evaluations: bool,
}

impl Written {
    /// Returns the known agents: all names are known if `security.unnamedAgents` is `allow`.
    pub(super) fn known(&self, known: Known) -> Known {
        if self.security.unnamed_agents == "allow" { Known::default() } else { known }
    }

    /// Returns the ids of scanner rules that any layer configures.
    pub(super) fn changed_rules(&self) -> Vec<String> {
        self.scanner.rules.keys().cloned().collect()
    }

    pub(super) fn read(self) -> (BTreeMap<String, AgentConfig>, LimitStoreConfig, AuditConfig) {
        let permission = &self.security.permission;
        let agents = self.agents.into_iter().map(|(id, agent)| (id, agent.read(permission))).collect();
        let audit = AuditConfig {
            path: self.audit.path,
            anchors: self.audit.anchors,
            warn_if_unrecorded: self.audit.on_unrecorded == "warn",
            evaluations: self.audit.evaluations,
        };
        let Limits { server, may_forget } = self.limits;
        (agents, LimitStoreConfig { server, may_forget }, audit)
    }
}

// Words were checked on parsing; an unknown one is treated as the strictest.
impl WrittenAgent {
    fn read(self, permission: &Permission) -> AgentConfig {
        let Tools { profile, allow, deny } = self.tool_policy;
        AgentConfig {
            steps_are_set: false,
            tools: ToolPolicyConfig { profile, allow, deny },
            limits: AgentLimits {
                budget: self.budget.read(),
                breaker: self.circuit_breaker.read(),
                max_steps: Some(self.max_steps),
            },
            denied_files: self.files.denied(),
            files: self.files.read(),
            source_profiles: self.source_profiles,
            commands: CommandDefaults {
                unmatched: Effect::from_name(&self.commands.unmatched).unwrap_or(Effect::Deny),
                unanalysable: Effect::from_name(&self.commands.unanalysable).unwrap_or(Effect::Deny),
                substitutions: Substitutions::from_name(&self.commands.substitutions)
                    .unwrap_or(Substitutions::None),
            },
            session_answers: Duration::from_secs(self.commands.session_answer_minutes.saturating_mul(60)),
            kept_answers: Duration::from_secs(self.commands.kept_answer_days.saturating_mul(24 * 3600)),
            rules: Vec::new(),
            exec: self.skills.exec_sandbox.read(permission),
            skills: SkillsConfig {
                dialect: Dialect::from_name(&self.skills.dialect).unwrap_or_default(),
                strict: self.skills.strict,
                max_chars: self.skills.max_body_length,
                critical_findings: match self.skills.content_scanning.block_on_critical {
                    true => CriticalFindings::Block,
                    false => CriticalFindings::Flag,
                },
                lock_files: self.skills.lock.into_iter().collect(),
            },
        }
    }
}

impl Budget {
    fn read(&self) -> BudgetLimits {
        // Fail closed: nothing may be spent under a limit that cannot be represented.
        let money = |dollars| MicroUsd::from_dollars(dollars).unwrap_or_default();
        let cost = self.max_cost_usd.map_or(Cap::Unlimited, |dollars| Cap::AtMost(money(dollars)));
        BudgetLimits {
            per_execution: Allowance { tokens: Cap::AtMost(self.max_tokens), cost },
            per_hour: Allowance::tokens(self.max_tokens_per_hour),
            per_day: Allowance::tokens(self.max_tokens_per_day),
            ..BudgetLimits::default()
        }
    }
}

impl Breaker {
    fn read(&self) -> BreakerSettings {
        BreakerSettings {
            failure_threshold: self.failure_threshold,
            cooldown: Duration::from_millis(self.reset_timeout_ms),
            probe_timeout: Duration::from_millis(self.half_open_timeout_ms),
        }
    }
}

impl Files {
    /// Globs of the configuration itself, without those of a preset, which match files that many commands need, such as
    /// certificates.
    fn denied(&self) -> SandboxConfig {
        let mut config = SandboxConfig::default();
        config.forbidden_globs.clone_from(&self.forbidden_globs);
        config.read.deny.clone_from(&self.deny_read);
        config.write.deny.clone_from(&self.deny_write);
        config
    }

    fn read(self) -> SandboxConfig {
        let mut config = SandboxConfig::from(Preset::from_name(&self.preset).unwrap_or(Preset::Default));
        config.forbidden_globs.extend(self.forbidden_globs);
        config.read.allow.extend(self.allow_read);
        config.write.allow.extend(self.allow_write);
        config.read.deny.extend(self.deny_read);
        config.write.deny.extend(self.deny_write);
        let answer = |word: &str| match word {
            "allow" => Answer::Allow,
            "ask" => Answer::Ask,
            _ => Answer::Deny,
        };
        config.read.default = config.read.default.max(answer(&self.reads));
        config.write.default = config.write.default.max(answer(&self.writes));
        if self.jail {
            config.jail = Jail::Confined;
        }
        if self.relative_only {
            config.absolute_paths = AbsolutePaths::Refused;
        }
        config
    }
}

impl ExecSandbox {
    fn read(self, permission: &Permission) -> ExecConfig {
        let must = permission.enable_node_permissions;
        let on_unavailable = match must {
            true => OnUnavailable::Refuse,
            false => OnUnavailable::from_name(&self.on_unavailable).unwrap_or_default(),
        };
        let mode = SandboxMode::from_name(&self.mode).unwrap_or(SandboxMode::ReadOnly);
        let mut read_only = self.read_only_allow_paths;
        let (mut hosts, mut secrets) = (Vec::new(), Vec::new());
        if must {
            read_only.extend(permission.allowed_fs_paths.iter().cloned());
            hosts.clone_from(&permission.allowed_net_hosts);
            secrets.clone_from(&permission.secrets);
        }
        let network = self.network == "open" && !must;
        let spec = SandboxSpec {
            backend: SandboxBackend::from_name(&self.backend).unwrap_or_default(),
            container: ContainerRequest {
                image: self.image,
                runtime: self.runtime,
                ..ContainerRequest::default()
            },
            backend_options: self.backend_options.iter().filter_map(|text| backend_option(text)).collect(),
            home: HomeView::from_name(&self.home).unwrap_or_default(),
            network: if network { Network::Open } else { Network::None },
            read_only,
            limits: ResourceLimits {
                wall_time: Limit::from(self.timeout_ms.map(Duration::from_millis)),
                memory: Limit::from(self.memory_mb.map(|mebibytes| mebibytes.saturating_mul(1 << 20))),
                processes: Limit::from(self.processes),
                priority: Priority::from_name(&self.priority).unwrap_or_default(),
                output: Limit::AtMost(self.max_output_bytes),
                ..ResourceLimits::default()
            },
            ..SandboxSpec::new("", [""; 0])
        };
        ExecConfig {
            isolation: match self.enabled == "never" && !must {
                true => Isolation::Direct,
                false => Isolation::Sandbox(on_unavailable),
            },
            excluded: if must { Vec::new() } else { self.excluded_commands },
            need: (self.enabled == "auto" && !must).then_some(SandboxNeed { always: self.always_sandbox }),
            mode: if must { mode.max(SandboxMode::WorkspaceWrite) } else { mode },
            review: ReviewPolicy::from_name(&self.review).unwrap_or(ReviewPolicy::Hold),
            spec,
            network,
            hosts,
            secrets,
            withheld_secrets: Vec::new(),
        }
    }
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
                network: false,
                hosts: Vec::new(),
                secrets: Vec::new(),
                withheld_secrets: Vec::new(),
            },
        }
    }
}
