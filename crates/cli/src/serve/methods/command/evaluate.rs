//! `command.evaluate` and `command.route`: what may become of a command, and where it runs.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stockade_guard::policy::{
    Asker, Backend, Because, CommandDecision, CommandPlace, CommandPolicy, Effect, Part, Route, RouterConfig,
    Unavailable, route,
};

use super::super::{Json, Lane, Parameters};
use super::rules::{Own, policy};
use super::{Argv, Place, ShellName, argv};
use crate::serve::Server;
use crate::serve::fault::Fault;

/// Decide what may become of a command, part by part.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::serve::methods) struct Evaluate {
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
    config: EvaluateConfig,
    /// The folder that it would run in, for rules about folders.
    cwd: Option<PathBuf>,
    /// The workspace, for rules about folders; `cwd` by default.
    workspace: Option<PathBuf>,
}

/// What holds beside the rules.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EvaluateConfig {
    /// What becomes of a command that no rule matches: `allow`, `sandbox`, `ask` or `deny`.
    default_action: Option<String>,
    /// Whether dangerous commands are found, whatever the rules say. They always are.
    detect_dangerous: Option<bool>,
}

/// Say where a command runs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::serve::methods) struct RouteCommand {
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
    /// Whether a command that needs a sandbox is blocked where there is none; else a person is asked. True by default.
    #[serde(alias = "fail_closed", alias = "failClosed")]
    fail_closed_on_unavailable: Option<bool>,
    /// The sandboxes to use, the best first; those of the operating system, then containers, by default.
    backends: Option<Vec<String>>,
    /// Whether somebody can be asked; true by default.
    asker: Option<bool>,
    /// What becomes of a command that no rule matches: `allow`, `sandbox`, `ask` or `deny`.
    default_action: Option<String>,
    /// Whether dangerous commands are found, whatever the rules say. They always are.
    detect_dangerous: Option<bool>,
}

/// What was decided.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::serve::methods) struct Evaluated {
    /// The strictest action of all parts: `allow`, `sandbox`, `ask` or `deny`.
    action: &'static str,
    /// Why, for the part that decides.
    reason: String,
    /// The rule or the hazard that decides, where it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    matched_rule: Option<String>,
    /// Everything that the command does, each with its own verdict.
    commands: Vec<Judged>,
    /// The same command in one canonical spelling, where every word is certain: run this, and what runs is what was
    /// judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    rendered: Option<String>,
}

/// One thing that the command does.
#[derive(Debug, Serialize, JsonSchema)]
struct Judged {
    /// The program and its arguments; `null` for a word that is only known when it runs. Empty for what runs nothing.
    argv: Argv,
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    reason: String,
    /// What would be safer, for a dangerous command.
    #[serde(skip_serializing_if = "Option::is_none")]
    instead: Option<String>,
    span: Place,
    /// The programs and substitutions that it runs through, the outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    via: Vec<String>,
}

/// Where a command runs.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::serve::methods) struct Routed {
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

impl Parameters for Evaluate {
    const METHOD: &'static str = "command.evaluate";
    const LANE: Lane = Lane::Here;
    type Answer = Evaluated;

    fn answer(self, server: &Server) -> Result<Json, Fault> {
        always_detects(self.config.detect_dangerous)?;
        let own = Own {
            rules: &self.rules,
            toml: self.rules_toml.as_deref(),
            default_action: self.config.default_action.as_deref(),
        };
        let own = policy(&own)?;
        let text = text(self.command, self.argv.as_deref())?;
        let place = place(self.cwd, self.workspace);
        let policy: &CommandPolicy = own.as_ref().unwrap_or(&server.commands);
        Ok(Json::of(&Evaluated::of(&policy.decide(&text, &self.shell.options(), &place))))
    }
}

impl Evaluated {
    pub(in crate::serve::methods) fn of(decision: &CommandDecision<'_, '_>) -> Self {
        let decisive = decision.decisive().next();
        Self {
            action: decision.effect.name(),
            reason: decisive.map(|part| part.because.to_string()).unwrap_or_default(),
            matched_rule: decisive.and_then(rule),
            commands: decision.parts.iter().map(|part| judged(decision, part)).collect(),
            rendered: decision.rendered(),
        }
    }
}

fn judged(decision: &CommandDecision<'_, '_>, part: &Part<'_, '_>) -> Judged {
    Judged {
        argv: part.run().map(argv).unwrap_or_default(),
        action: part.effect.name(),
        rule: rule(part),
        reason: part.because.to_string(),
        instead: match &part.because {
            Because::Hazard(hazard) => Some(hazard.fix.clone()).filter(|fix| !fix.is_empty()),
            _ => None,
        },
        span: part.span.into(),
        via: decision.via(part),
    }
}

/// The rule or the hazard that decided on a part.
fn rule(part: &Part<'_, '_>) -> Option<String> {
    let is_one = part.because.rule().is_some() || matches!(part.because, Because::Hazard(_));
    is_one.then(|| part.because.id().to_owned())
}

impl Parameters for RouteCommand {
    const METHOD: &'static str = "command.route";
    const LANE: Lane = Lane::Here;
    type Answer = Routed;

    fn answer(self, server: &Server) -> Result<Json, Fault> {
        always_detects(self.config.detect_dangerous)?;
        let own = Own {
            rules: &self.rules,
            toml: self.rules_toml.as_deref(),
            default_action: self.config.default_action.as_deref(),
        };
        let own = policy(&own)?;
        let available: Vec<Named> =
            self.available.iter().map(|name| named(name)).collect::<Result<_, _>>()?;
        let config = self.config.router()?;
        let text = text(self.command, self.argv.as_deref())?;
        let place = place(self.cwd, self.workspace);
        let policy = own.as_ref().unwrap_or(&server.commands);
        let decision = policy.decide(&text, &self.shell.options(), &place);
        let kinds: Vec<Backend> = available.iter().map(|one| one.kind.clone()).collect();
        let routing = route(&decision, &config, &kinds);
        let (mode, backend, ask) = match &routing.route {
            Route::Direct => ("direct", None, false),
            Route::Sandbox(backend) => ("sandbox", Some(backend), false),
            Route::AskFirst(Some(backend)) => ("sandbox", Some(backend), true),
            Route::AskFirst(None) => ("blocked", None, true),
            _ => ("blocked", None, false),
        };
        let decisive = decision.decisive().next().map(|part| part.because.to_string());
        let reason = match (&routing.route, &routing.need) {
            (Route::Blocked(why), _) => why.to_string(),
            (_, Some(need)) => need.to_string(),
            _ => decisive.unwrap_or_default(),
        };
        let name =
            |kind: &Backend| available.iter().find(|one| one.kind == *kind).map(|one| one.name.to_owned());
        Ok(Json::of(&Routed {
            mode,
            backend: backend.and_then(name),
            reason,
            ask,
            action: decision.effect.name(),
        }))
    }
}

impl RouteConfig {
    fn router(self) -> Result<RouterConfig, Fault> {
        let usual = RouterConfig::default();
        let backends = match self.backends {
            Some(names) => names.iter().map(|name| Ok(named(name)?.kind)).collect::<Result<_, Fault>>()?,
            None => usual.backends,
        };
        Ok(RouterConfig {
            enabled: self.enabled.unwrap_or(usual.enabled),
            always: self.always.unwrap_or(usual.always),
            never: self.never.unwrap_or(usual.never),
            unavailable: match self.fail_closed_on_unavailable {
                Some(false) => Unavailable::Ask,
                Some(true) | None => Unavailable::Block,
            },
            backends,
            asker: if self.asker == Some(false) { Asker::Absent } else { Asker::Present },
        })
    }
}

/// A sandbox by the name that the client has for it.
struct Named<'n> {
    name: &'n str,
    kind: Backend,
}

/// The names of sandboxes, and their kinds.
const BACKENDS: &[(&str, Backend)] = &[
    ("native", Backend::Native),
    ("bwrap", Backend::Native),
    ("bubblewrap", Backend::Native),
    ("landlock", Backend::Native),
    ("seatbelt", Backend::Native),
    ("os", Backend::Native),
    ("docker", Backend::Container),
    ("podman", Backend::Container),
    ("container", Backend::Container),
];

fn named(name: &str) -> Result<Named<'_>, Fault> {
    if let Some(host) = name.strip_prefix("ssh:").filter(|host| !host.is_empty()) {
        return Ok(Named { name, kind: Backend::Remote { host: host.to_owned() } });
    }
    match BACKENDS.iter().find(|(known, _)| *known == name) {
        Some((_, kind)) => Ok(Named { name, kind: kind.clone() }),
        None => Err(Fault::unknown("sandbox", name, BACKENDS.iter().map(|(name, _)| *name))),
    }
}

/// A client that could switch the floor off would be the one who is to be watched.
fn always_detects(wish: Option<bool>) -> Result<(), Fault> {
    match wish {
        Some(false) => Err(Fault::parameters(
            "`detectDangerous` cannot be false: dangerous commands are found whatever the rules say; the rules of an \
             admin may switch off a single hazard, see `stockade policy --help`",
        )),
        Some(true) | None => Ok(()),
    }
}

/// The text to judge.
pub(in crate::serve::methods) fn text(
    command: Option<String>,
    argv: Option<&[String]>,
) -> Result<String, Fault> {
    match (command, argv) {
        (Some(command), None) => Ok(command),
        (None, Some(argv)) if !argv.is_empty() => Ok(quoted(argv)),
        (None, Some(_)) => Err(Fault::parameters("`argv` is empty; its first word is the program")),
        _ => Err(Fault::parameters("give either `command` or `argv`")),
    }
}

/// Spells words so that a shell reads exactly these.
fn quoted(words: &[String]) -> String {
    let is_plain = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./:,+@%".contains(&byte))
    };
    let quoted = |word: &String| match is_plain(word) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn place(cwd: Option<PathBuf>, workspace: Option<PathBuf>) -> CommandPlace {
    CommandPlace { workspace: workspace.or_else(|| cwd.clone()), cwd }
}

/// Reads the name of an action.
pub(super) fn effect(name: &str) -> Result<Effect, Fault> {
    Effect::from_name(name).ok_or_else(|| Fault::unknown("action", name, Effect::NAMES.iter().copied()))
}
