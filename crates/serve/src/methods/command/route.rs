//! `command.route`: where a command runs.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stockade_guard::command::CommandDecision;
use stockade_guard::command::router::{Fallback, Machine, Prompter, Route, RouterConfig, route};

use super::super::{AskedBy, Json, Lane, Parameters};
use super::ShellName;
use super::question::Question;
use crate::Server;
use crate::fault::Fault;

/// Decide where a command runs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::methods) struct RouteCommand {
    /// The command, as a shell text.
    command: Option<String>,
    /// The command as a program and its arguments.
    argv: Option<Vec<String>>,
    /// The shell that would run it; `bash` by default.
    #[serde(default)]
    shell: ShellName,
    /// Additional rules, as objects; they precede the built-in ones.
    #[serde(default)]
    rules: Vec<Map<String, Value>>,
    /// Additional rules, as the text of a rule file in TOML.
    rules_toml: Option<String>,
    #[serde(default)]
    config: RouteConfig,
    /// The available sandboxes: `native` (or `bwrap`, `landlock`, `seatbelt`), `docker` (or `container`), or `ssh:HOST`.
    #[serde(default)]
    available: Vec<String>,
    /// The working directory, for rules about directories.
    cwd: Option<PathBuf>,
    /// The workspace, for rules about directories; `cwd` by default.
    workspace: Option<PathBuf>,
}

/// Configuration of the routing.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RouteConfig {
    /// Whether commands run in a sandbox at all; false by default.
    enabled: Option<bool>,
    /// Programs that always run in a sandbox.
    #[serde(alias = "alwaysSandbox")]
    always: Option<Vec<String>>,
    /// Programs that need no sandbox unless they are used dangerously.
    #[serde(alias = "neverSandbox")]
    never: Option<Vec<String>>,
    /// Whether a command that needs a sandbox is blocked if none is available; otherwise the user is asked. True by default.
    #[serde(alias = "fail_closed", alias = "failClosed")]
    fail_closed_on_unavailable: Option<bool>,
    /// The sandboxes to use, in order of preference; by default those of the operating system, then containers.
    backends: Option<Vec<String>>,
    /// Whether the user can be asked; true by default.
    asker: Option<bool>,
    /// The decision for commands without a matching rule: `allow`, `sandbox`, `ask` or `deny`.
    default_action: Option<String>,
    /// Whether dangerous commands are detected regardless of rules. Must be true.
    detect_dangerous: Option<bool>,
}

/// Where a command runs.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::methods) struct Routed {
    /// `direct`, `sandbox` or `blocked`.
    mode: &'static str,
    /// The sandbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    backend: Option<String>,
    reason: String,
    /// Whether the user must approve it first. With `blocked`, an approved command runs without a sandbox.
    ask: bool,
    /// The decision on the command: `allow`, `sandbox`, `ask` or `deny`.
    action: &'static str,
}

impl Parameters for RouteCommand {
    const METHOD: &'static str = "command.route";
    const LANE: Lane = Lane::Here;
    type Answer = Routed;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let available: Vec<Named> =
            self.available.iter().map(|name| named(name)).collect::<Result<_, _>>()?;
        let question = Question {
            command: self.command,
            argv: self.argv,
            shell: self.shell,
            rules: self.rules,
            rules_toml: self.rules_toml,
            default_action: self.config.default_action.clone(),
            detect_dangerous: self.config.detect_dangerous,
            cwd: self.cwd,
            workspace: self.workspace,
        };
        let config = self.config.router()?;
        question.decided(server, |decision| Json::of(&Routed::of(decision, &config, &available)))
    }
}

impl Routed {
    fn of(
        decision: &CommandDecision<'_, '_>,
        config: &RouterConfig<SandboxKind>,
        available: &[Named<'_>],
    ) -> Self {
        let kinds: Vec<SandboxKind> = available.iter().map(|one| one.kind.clone()).collect();
        let routing = route(decision, config, &kinds);
        let (mode, backend, ask) = match &routing.route {
            Route::Direct => ("direct", None, false),
            Route::Sandbox(backend) => ("sandbox", Some(backend), false),
            Route::AskFirst(Some(backend)) => ("sandbox", Some(backend), true),
            Route::AskFirst(None) => ("blocked", None, true),
            _ => ("blocked", None, false),
        };
        let decisive = decision.decisive().next().map(|part| part.cause.to_string());
        let reason = match (&routing.route, &routing.need) {
            (Route::Blocked(why), _) => why.to_string(),
            (_, Some(need)) => need.to_string(),
            _ => decisive.unwrap_or_default(),
        };
        let name = |kind: &SandboxKind| {
            available.iter().find(|one| one.kind == *kind).map(|one| one.name.to_owned())
        };
        Self { mode, backend: backend.and_then(name), reason, ask, action: decision.effect.name() }
    }
}

impl RouteConfig {
    fn router(self) -> Result<RouterConfig<SandboxKind>, Fault> {
        let usual = RouterConfig::<SandboxKind>::default();
        let backends = match self.backends {
            Some(names) => names.iter().map(|name| Ok(named(name)?.kind)).collect::<Result<_, Fault>>()?,
            None => vec![SandboxKind::Native, SandboxKind::Container],
        };
        Ok(RouterConfig {
            enabled: self.enabled.unwrap_or(usual.enabled),
            always: self.always.unwrap_or(usual.always),
            never: self.never.unwrap_or(usual.never),
            fallback: match self.fail_closed_on_unavailable {
                Some(false) => Fallback::Ask,
                Some(true) | None => Fallback::Block,
            },
            machine: match backends.as_slice() {
                [SandboxKind::Remote { host }] => Machine::Remote { host: host.clone() },
                _ => Machine::Local,
            },
            backends,
            prompter: if self.asker == Some(false) { Prompter::Absent } else { Prompter::Present },
        })
    }
}

/// Kinds of sandboxes that a client can name, including those that this program does not create.
#[derive(Debug, Clone, PartialEq)]
enum SandboxKind {
    /// A sandbox of the operating system.
    Native,
    /// A container of any engine.
    Container,
    /// Another machine, by its name.
    Remote { host: String },
}

/// A sandbox, by the client's name for it.
struct Named<'n> {
    name: &'n str,
    kind: SandboxKind,
}

/// Names of sandboxes, and their kinds.
const BACKENDS: &[(&str, SandboxKind)] = &[
    ("native", SandboxKind::Native),
    ("bwrap", SandboxKind::Native),
    ("bubblewrap", SandboxKind::Native),
    ("landlock", SandboxKind::Native),
    ("seatbelt", SandboxKind::Native),
    ("os", SandboxKind::Native),
    ("docker", SandboxKind::Container),
    ("podman", SandboxKind::Container),
    ("container", SandboxKind::Container),
];

fn named(name: &str) -> Result<Named<'_>, Fault> {
    if let Some(host) = name.strip_prefix("ssh:").filter(|host| !host.is_empty()) {
        return Ok(Named { name, kind: SandboxKind::Remote { host: host.to_owned() } });
    }
    match BACKENDS.iter().find(|(known, _)| *known == name) {
        Some((_, kind)) => Ok(Named { name, kind: kind.clone() }),
        None => Err(Fault::unknown("sandbox", name, BACKENDS.iter().map(|(name, _)| *name))),
    }
}
