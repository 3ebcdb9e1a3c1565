//! Every setting: a field with its documentation, its type, its default, and how a project may change it.
//!
//! This is the only place that defines a setting. Its [`ConfigKey`](crate::ConfigKey) derives from the field; `CONFIG.md`, the
//! schema, `stockade config explain`, `stockade init` and shell completion derive from the key. `read` of a table converts its
//! values into what a guard is built from.

mod agent;
mod declare;
mod exec;
mod skills;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::agent::{AgentConfig, AuditConfig, LimitStoreConfig};
use crate::known::Known;
use agent::Agent;
use declare::settings;

pub(crate) use declare::Rows;

/// Severities of scanner rules, from mildest to worst.
const SEVERITIES: &[&str] = &["off", "warn", "critical"];

settings! {
    /// Everything that a configuration can set.
    struct Settings at "" {
        "agents" agents: BTreeMap<String, Agent>;
        "security" security: Security;
        "scanner" scanner: Option<Scanner>;
        "limits" limits: Limits;
        "audit" audit: Audit;
    }

    /// Settings that concern every agent.
    struct Security at "security" {
        "permission" permission: Permission;
        /// What to do with an agent that this configuration does not name, if it names others: refuse it, since its
        /// name may be mistyped, or apply `agents.*`. A table names an agent even if it is empty: `[agents.bot]`.
        /// `default` and the harnesses of `stockade hook` (`claude`, `codex` …) are always known.
        "unnamedAgents" unnamed_agents: String = "refuse", Word(&["allow", "refuse"]), Stricter;
    }

    /// Restrictions of all agents.
    struct Permission at "security.permission" {
        /// Whether every command must run in a sandbox, regardless of `execSandbox`, and may read only its workspace,
        /// `allowedFsPaths` and `readOnlyAllowPaths`.
        "enableNodePermissions" enable_node_permissions: bool = false, Flag, OnlyTrue;
        /// Paths that commands may read if `enableNodePermissions` is true.
        "allowedFsPaths" allowed_fs_paths: Vec<PathBuf> = [], Paths, IntersectPaths;
        /// Hosts that commands may connect to if `enableNodePermissions` is true. `example.com` allows ports 443 and
        /// 80, `*.example.com:8443` subdomains at one port, `db.example.com:5432/tcp` protocols other than TLS and
        /// HTTP, and `!ads.example.com` denies a host. Conditions such as `api.example.com GET /v1/** requests=100`
        /// require inspecting TLS; see `stockade exec --help`. An egress proxy checks every connection: names, ports,
        /// each resolved address, and that TLS requests the same name. It cannot be bypassed, and programs need no
        /// proxy settings.
        "allowedNetHosts" allowed_net_hosts: Vec<String> = [], Texts, IntersectHosts;
        /// Secrets that commands can use but not read, each bound to one of `allowedNetHosts` and a place in the
        /// request: `GITHUB_TOKEN=env:GITHUB_TOKEN@api.github.com in header:Authorization`. In the sandbox, the
        /// variable holds a placeholder of the same form, which the egress proxy replaces by the secret. Sources are
        /// a variable of the program that starts commands (`env:NAME`), a file that only its owner can read
        /// (`file:/PATH`), the output of a command run without a shell (`cmd:PROGRAM ARGUMENTS`), and the keyring
        /// (`keyring:SERVICE/ACCOUNT`). A project cannot enable secrets: they are used only if another layer sets
        /// `enableNodePermissions`. If a project removes a secret's host from `allowedNetHosts`, the secret is
        /// omitted with a notice; see [Secrets](../egress/SECRETS.md).
        "secrets" secrets: Vec<String> = [], Texts, Never;
        /// Login files of tools at home, such as `~/.netrc`, `~/.npmrc` or `~/.config/gh/hosts.yml`, that commands see with
        /// placeholders: a copy of the logins for `allowedNetHosts`, whose secrets the egress proxy inserts. A project cannot
        /// enable logins, as it cannot enable secrets; see [Secrets](../egress/SECRETS.md).
        "logins" logins: Vec<String> = [], Texts, Never;
        /// Proxy of this machine by which the egress proxy reaches hosts, for commands with `allowedNetHosts` and for
        /// approved installations; `none` for no proxy. Null for that of the variables `HTTPS_PROXY`, `HTTP_PROXY` and
        /// `ALL_PROXY`. Hosts of `NO_PROXY` are connected to directly. See [Company networks](../egress/UPSTREAM.md).
        "upstreamProxy" upstream_proxy: Option<String> = null, OptionalProxy, Never;
        /// Source of that proxy's login `USER:PASSWORD`, as in `secrets`.
        "upstreamLogin" upstream_login: Option<String> = null, OptionalSource, Never;
    }

    /// The scanner of skills.
    struct Scanner at "scanner" {
        "rules" rules: BTreeMap<String, ScannerRule>;
    }

    /// Settings of one built-in rule of the scanner.
    struct ScannerRule at "scanner.rules.<rule>" {
        /// Severity of a built-in scanner rule in every scan: `off` disables the rule, null keeps its own severity.
        /// Each finding names the layer that changed its severity, and each report lists the disabled rules. Set the
        /// severity of your own rules in their file.
        #[expect(dead_code, reason = "read with its origin, by `Config::rule_changes`")]
        "severity" severity: Option<String> = null, OptionalWord(SEVERITIES), Stricter;
    }

    /// Where budgets, circuit breakers and steps are stored.
    struct Limits at "limits" {
        /// Redis server that shares budgets, circuit breakers and steps between machines. It must keep its data
        /// across restarts (`appendonly yes`) and must not evict keys. Null for a file of this user:
        /// `$XDG_STATE_HOME/stockade/limits.db`.
        "server" server: Option<String> = null, OptionalAddress, Never;
        /// Whether to use a server that may lose recorded usage.
        "mayForget" may_forget: bool = false, Flag, Never;
    }

    /// Where actions are recorded, and what happens if that fails.
    struct Audit at "audit" {
        /// File of the audit trail: a database, or JSON lines if the name ends in `.jsonl`. Null for the user's own,
        /// in `$XDG_STATE_HOME/stockade`.
        "path" path: Option<PathBuf> = null, OptionalPath, Never;
        /// External witnesses that also receive checkpoints of the trail: `journal` for the systemd journal, or
        /// existing files, preferably owned by another user. A checkpoint that a witness does not receive counts as
        /// unrecorded.
        "anchors" anchors: Vec<String> = [], Texts, Never;
        /// Whether to record decisions that are only queried, too: `check command`, and the methods
        /// `command.evaluate` and `path.authorize` of `stockade serve`.
        "evaluations" evaluations: bool = false, Flag, OnlyTrue;
        /// What to do with an action that cannot be recorded.
        "onUnrecorded" on_unrecorded: String = "refuse", Word(&["warn", "refuse"]), Stricter;
    }
}

impl Settings {
    /// Returns the known agents: all names are known if `security.unnamedAgents` is `allow`.
    pub(crate) fn known(&self, known: Known) -> Known {
        if self.security.unnamed_agents == "allow" { Known::default() } else { known }
    }

    /// Returns the ids of scanner rules that any layer configures.
    pub(crate) fn changed_rules(&self) -> Vec<String> {
        self.scanner.iter().flat_map(|scanner| scanner.rules.keys().cloned()).collect()
    }

    pub(crate) fn read(self) -> (BTreeMap<String, AgentConfig>, LimitStoreConfig, AuditConfig) {
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
