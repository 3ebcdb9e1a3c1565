//! `command.…`: what a shell command runs, and what may become of it.

mod compiled;
mod evaluate;
mod question;
mod route;
mod rules;

pub(crate) use compiled::CompiledRules;
pub(super) use evaluate::{Evaluate, Evaluated};
pub(super) use question::text;
pub(super) use route::RouteCommand;
pub(super) use rules::rule_objects;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stockade_guard::command::shell::{Actions, Arg, InvocationKind, ReadOptions, Run, Script, Shell, Span};
use stockade_guard::command::validator::{ValidatorChecks, ValidatorOptions, validate};

use super::{AskedBy, Json, Lane, Parameters};
use crate::Server;
use crate::fault::Fault;

/// List everything that a shell command runs and opens.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Parse {
    /// The command.
    command: String,
    /// The shell that would run it; `bash` by default.
    #[serde(default)]
    shell: ShellName,
}

/// Reject a command that hides other commands in substitutions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Validate {
    /// The command.
    command: String,
    /// The shell that would run it; `bash` by default.
    #[serde(default)]
    shell: ShellName,
}

/// The shell that reads the text.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[schemars(rename = "Shell")]
#[serde(rename_all = "lowercase")]
pub(super) enum ShellName {
    #[default]
    Bash,
    Sh,
    Zsh,
}

impl ShellName {
    pub(super) fn options(self) -> ReadOptions {
        ReadOptions::for_shell(match self {
            Self::Bash => Shell::Bash,
            Self::Sh => Shell::Sh,
            Self::Zsh => Shell::Zsh,
        })
    }
}

/// A program and its arguments; a word that is only known when it runs is `null`.
type Argv = Vec<Option<String>>;

/// What a command does.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Parsed {
    /// What runs as it is written.
    simple_commands: Vec<Argv>,
    /// Where each of these is written, in bytes.
    spans: Vec<ByteSpan>,
    /// What runs through wrappers, and in texts that another shell gets.
    unwrapped: Vec<Argv>,
    /// The files that redirections open.
    redirects: Vec<Opened>,
    /// Whether something is only known when it runs.
    dynamic: bool,
    /// Whether no reader can be sure of it: it must not run.
    unparseable: bool,
    /// Why it is unparseable.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Obstructed>,
}

/// A file that a redirection opens.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Redirect")]
struct Opened {
    /// The operator: `>`.
    op: String,
    /// The file; `null` where it is only known when it runs.
    target: Option<String>,
    span: ByteSpan,
}

/// Why a text was not read.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ParseObstacle")]
struct Obstructed {
    code: &'static str,
    message: &'static str,
    span: ByteSpan,
}

/// Where something is written, in bytes.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
struct ByteSpan {
    start: usize,
    end: usize,
}

impl From<Span> for ByteSpan {
    fn from(span: Span) -> Self {
        Self { start: span.start, end: span.end }
    }
}

/// What the validator says.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Validated {
    /// `allow` or `reject`.
    verdict: &'static str,
    /// The kind of what was found, by its stable name.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    span: Option<ByteSpan>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl Parameters for Parse {
    const METHOD: &'static str = "command.parse";
    const LANE: Lane = Lane::Here;
    type Answer = Parsed;

    fn answer(self, _: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        question::bounded(&self.command)?;
        let options = self.shell.options();
        let parsed = match Script::read(&self.command, &options) {
            Ok(script) => Parsed::of(&script.actions()),
            Err(refused) => {
                // What it would run is a reason to refuse it, so it is listed as far as it can be read.
                let despite = Script::read_despite_appearance(&self.command, &options).ok();
                let reason = Obstructed {
                    code: refused.kind.code(),
                    message: refused.kind.message(),
                    span: refused.span.into(),
                };
                let parsed = despite.map(|script| Parsed::of(&script.actions())).unwrap_or_default();
                Parsed { unparseable: true, reason: Some(reason), ..parsed }
            }
        };
        Ok(Json::of(&parsed))
    }
}

impl Parsed {
    fn of(actions: &Actions<'_>) -> Self {
        let written: Vec<_> =
            actions.runs.iter().filter(|run| run.invocation == InvocationKind::AsWritten).collect();
        let is_unwrapped =
            |run: &&Run<'_>| matches!(run.invocation, InvocationKind::Nested | InvocationKind::Elsewhere);
        let opened = actions.redirects.iter().filter(|redirect| redirect.opens_file());
        let is_open = |run: &Run<'_>| !run.is_known() || run.open_ended;
        Self {
            simple_commands: written.iter().map(|run| argv(run)).collect(),
            spans: written.iter().map(|run| run.span.into()).collect(),
            unwrapped: actions.runs.iter().filter(is_unwrapped).map(argv).collect(),
            redirects: opened
                .map(|redirect| Opened {
                    op: redirect.operator.as_str().to_owned(),
                    target: redirect.target.known().map(str::to_owned),
                    span: redirect.span.into(),
                })
                .collect(),
            dynamic: actions.runs.iter().any(is_open) || !actions.hazards.is_empty(),
            unparseable: false,
            reason: None,
        }
    }
}

fn argv(run: &Run<'_>) -> Argv {
    run.argv.iter().map(|arg: &Arg<'_>| arg.known().map(str::to_owned)).collect()
}

impl Parameters for Validate {
    const METHOD: &'static str = "command.validate";
    const LANE: Lane = Lane::Here;
    type Answer = Validated;

    fn answer(self, _: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        question::bounded(&self.command)?;
        let options = ValidatorOptions { read: self.shell.options(), checks: ValidatorChecks::All };
        let validation = validate(&self.command, &options);
        let rejection = validation.rejection();
        Ok(Json::of(&Validated {
            verdict: if rejection.is_some() { "reject" } else { "allow" },
            kind: rejection.map(|rejection| rejection.kind.code()),
            span: rejection.map(|rejection| rejection.span.into()),
            message: rejection.map(|rejection| rejection.kind.to_string()),
        }))
    }
}
