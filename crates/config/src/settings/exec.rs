//! Settings of the sandbox of commands.

use std::path::PathBuf;
use std::time::Duration;

use stockade_exec_sandbox::backends::ContainerRequest;
use stockade_exec_sandbox::{
    HomeView, Limit, Network, OnUnavailable, Priority, ResourceLimits, ReviewPolicy, SandboxBackend,
    SandboxMode, SandboxSpec, backend_option,
};

use super::Permission;
use super::declare::settings;
use crate::agent::{ExecConfig, Isolation, SandboxNeed};

settings! {
    /// The sandbox of commands.
    struct ExecSandbox at "agents.<id>.skills.execSandbox" {
        /// Whether commands run in a sandbox. With `auto`, a command runs in one if no rule allows it or it uses a
        /// program of `alwaysSandbox`. Other commands run with the rights and the network of this user, and each run
        /// is recorded as a warning. `auto` acts as `always` where only a sandbox can enforce a setting (denied
        /// files, hosts, an overlay workspace, another mode than `workspace-write`, a remote backend), or where an
        /// entry of `PATH` is in the workspace. With `never`, commands that a rule allows are left to the embedding
        /// program, which runs them with all of its rights; the user is asked about every other command.
        "enabled" enabled: String = "always", Word(&["never", "auto", "always"]), Stricter;
        /// Programs that always run in a sandbox with `enabled: auto`, even if a rule allows them: they run untrusted
        /// code, obey repository settings, use the network, or read whole directories including those that a sandbox
        /// hides. To run a command outside of the sandbox anyway, list it in `excludedCommands`.
        "alwaysSandbox" always_sandbox: Vec<String> = [
            "npm", "npx", "yarn", "pnpm", "pip", "pip3", "cargo", "make", "cmake", "git", "gh", "kubectl", "grep",
            "egrep", "fgrep", "rg", "ag", "find", "fd", "tree", "diff", "tar", "zip"
        ], Texts, Union;
        /// What commands may change: nothing lasting with `read-only`, the workspace with `workspace-write`. With
        /// `danger-full-access`, commands that a rule allows run without a sandbox and with all rights of the calling
        /// user, the user is asked about every other command, and each run is recorded as a warning.
        "mode" mode: String = "workspace-write", Word(SandboxMode::NAMES), Stricter;
        /// Which commands work on an overlay of the workspace, so that their changes reach the workspace only after
        /// they end. With `hold`, changes wait for `stockade changes apply`. With `undoable`, they are applied
        /// automatically, and `stockade changes undo` reverts them. `destructive` does the same as `undoable`, only
        /// for commands that are known to delete or overwrite. Files that other programs obey are never applied.
        /// Requires a sandbox of namespaces.
        "review" review: String = "off", Word(ReviewPolicy::NAMES), Stricter;
        /// Commands that run outside of the sandbox, with all rights of the calling user: `docker ps` matches exactly
        /// that command, `docker logs **` every command that starts with it. Each program of a command must be
        /// excluded. A command with a redirection, a variable, a substitution or anything dangerous stays in the
        /// sandbox. A program that runs code that cannot be analysed, such as `docker compose up -d`, is excluded
        /// only if the entry spells out the whole command. Each run is recorded as a warning.
        "excludedCommands" excluded_commands: Vec<String> = [], Texts, Intersect;
        /// What to do with a command if no sandbox can be created: refuse it, ask the user, or run it without a
        /// sandbox, which its decision and outcome report.
        "onUnavailable" on_unavailable: String = "refuse", Word(OnUnavailable::NAMES), Stricter;
        /// Sandbox backend. `native` needs nothing installed, `bwrap` is bubblewrap, `landlock` works where
        /// namespaces are forbidden, and `auto` selects the first of these that works. `docker` and `podman` run a
        /// container from `image`. Other backends are selected by the names that `stockade backends` lists, such as
        /// the name of a program `stockade-backend-NAME`.
        "backend" backend: String = "auto", Backend, Never;
        /// Options for the backend, as `NAME=VALUE`, such as the address of its service. Do not put secrets here:
        /// name a file that holds them.
        "backendOptions" backend_options: Vec<String> = [], Options, Never;
        /// Container image, preferably by digest: `NAME@sha256:…`. It is never pulled.
        "image" image: Option<String> = null, OptionalName, Never;
        /// Container runtime to use instead of the engine's default, such as `runsc`.
        "runtime" runtime: Option<String> = null, OptionalName, Never;
        /// What commands see of the home directory. `tools` shows installed toolchains and libraries, the directories
        /// of `PATH`, and git settings; `private` shows only git settings. Credentials are never visible.
        "home" home: String = "tools", Word(HomeView::NAMES), Stricter;
        /// Additional paths that commands may read.
        "readOnlyAllowPaths" read_only_allow_paths: Vec<PathBuf> = [], Paths, IntersectPaths;
        /// Environment files (`.env`) that commands see with the names of the variables and without the values.
        "envNamesPaths" env_names_paths: Vec<PathBuf> = [], Paths, IntersectPaths;
        /// Network access of commands.
        "network" network: String = "none", Word(&["open", "none"]), Stricter;
        /// Wall-clock time limit of a command; null for no limit.
        "timeoutMs" timeout_ms: Option<u64> = 120000, OptionalCount { least: 1, most: 86_400_000 }, Lower;
        /// Memory limit of a command; null for no limit.
        "memoryMb" memory_mb: Option<u64> = 2048, OptionalCount { least: 1, most: 1 << 24 }, Lower;
        /// Limit of processes and threads of a command; null for no limit.
        "processes" processes: Option<u64> = 1024, OptionalCount { least: 1, most: 1 << 20 }, Lower;
        /// CPU priority of a command. `normal` is that of other programs of the user, `low` is slightly lower (nice
        /// 5), and `idle` gets only time that other programs leave, which is almost none on a busy machine. With
        /// `idle`, the property `priority` is enforced.
        "priority" priority: String = "low", Word(Priority::NAMES), Stricter;
        /// Maximum output of a command. Further output is dropped, and the number of dropped bytes is reported.
        "maxOutputBytes" max_output_bytes: u64 = 33554432, Count { least: 0, most: 1 << 30 }, Lower;
    }
}

impl ExecSandbox {
    pub(super) fn read(self, permission: &Permission) -> ExecConfig {
        let must = permission.enable_node_permissions;
        let on_unavailable = match must {
            true => OnUnavailable::Refuse,
            false => OnUnavailable::from_name(&self.on_unavailable).unwrap_or_default(),
        };
        let mode = SandboxMode::from_name(&self.mode).unwrap_or(SandboxMode::ReadOnly);
        let mut read_only = self.read_only_allow_paths;
        let (mut hosts, mut secrets, mut logins) = (Vec::new(), Vec::new(), Vec::new());
        if must {
            read_only.extend(permission.allowed_fs_paths.iter().cloned());
            hosts.clone_from(&permission.allowed_net_hosts);
            secrets.clone_from(&permission.secrets);
            logins.clone_from(&permission.logins);
        }
        let spec = SandboxSpec {
            backend: SandboxBackend::from_name(&self.backend).unwrap_or_default(),
            container: ContainerRequest {
                image: self.image,
                runtime: self.runtime,
                ..ContainerRequest::default()
            },
            backend_options: self.backend_options.iter().filter_map(|text| backend_option(text)).collect(),
            home: HomeView::from_name(&self.home).unwrap_or_default(),
            network: match self.network.as_str() {
                "open" if !must => Network::Open,
                _ => Network::None,
            },
            read_only,
            env_names: self.env_names_paths,
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
            hosts,
            hosts_are_fixed: must,
            secrets,
            logins,
            withheld_secrets: Vec::new(),
            upstream_proxy: permission.upstream_proxy.clone(),
            upstream_login: permission.upstream_login.clone(),
        }
    }
}
