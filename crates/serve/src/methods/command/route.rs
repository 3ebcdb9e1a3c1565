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

/// Say where a command runs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::methods) struct RouteCommand {
    /// The command, as text for a shell.
    command: Option<String>,
    /// The same as a program and its arguments.
    argv: Option<Vec<String>>,
    /// The shell that would run it; `bash` by default.
    #[serde(default)]
    shell: ShellName,
    /// Rules of your own, as objects; they come before the built-in ones.
    #[serde(default)]
    rules: Vec<Map<String, Value>>,
    /// Rules of your own, as the text of a rule file in TOML.
    rules_toml: Option<String>,
    #[serde(default)]
    config: RouteConfig,
    /// The sandboxes that there are: `native` (or `bwrap`, `landlock`, `seatbelt`), `docker` (or `container`), or
    /// `ssh:HOST`.
    #[serde(default)]
    available: Vec<String>,
    /// The folder that it would run in, for rules about folders.
    cwd: Option<PathBuf>,
    /// The workspace, for rules about folders; `cwd` by default.
    workspace: Option<PathBuf>,
}

/// How commands are routed.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RouteConfig {
    /// Whether commands are put into a sandbox at all; false by default.
    enabled: Option<bool>,
    /// Programs that always run in a sandbox.
    #[serde(alias = "alwaysSandbox")]
    always: Option<Vec<String>>,
    /// Programs that need none while nothing about them is dangerous.
    #[serde(alias = "neverSandbox")]
    never: Option<Vec<String>>,
    /// Whether a command that needs a sandbox is blocked when no sandbox is available; otherwise a person is asked. True by
    /// default.
    #[serde(alias = "fail_closed", alias = "failClosed")]
    fail_closed_on_unavailable: Option<bool>,
    /// The sandboxes to use, the best first; those of the operating system, then containers, by default.
    backends: Option<Vec<String>>,
    /// Whether a person can be asked; true by default.
    asker: Option<bool>,
    /// What becomes of a command that no rule matches: `allow`, `sandbox`, `ask` or `deny`.
    default_action: Option<String>,
    /// Whether dangerous commands are found, whatever the rules say. They always are.
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
    /// Whether a person must say yes first. What is `blocked` then runs as it is, after a yes.
    ask: bool,
    /// What was decided about the command: `allow`, `sandbox`, `ask` or `deny`.
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

/// The sandboxes that a client can speak of, whether or not this program makes them.
#[derive(Debug, Clone, PartialEq)]
enum SandboxKind {
    /// One that the operating system provides.
    Native,
    /// A container, whatever runs it.
    Container,
    /// Another machine, reached by its name.
    Remote { host: String },
}

/// A sandbox by the name that the client has for it.
struct Named<'n> {
    name: &'n str,
    kind: SandboxKind,
}

/// The names of sandboxes, and their kinds.
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
