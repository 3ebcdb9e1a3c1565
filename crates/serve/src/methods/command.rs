//! `command.…`: analysis of and decisions on shell commands.

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

/// List all programs that a shell command runs and all files that it opens.
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

/// The shell that parses the text.
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

/// A program and its arguments; a word that is only known at run time is `null`.
type Argv = Vec<Option<String>>;

/// The analysis of a command.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Parsed {
    /// The programs that run directly.
    simple_commands: Vec<Argv>,
    /// The position of each of these, in bytes.
    spans: Vec<ByteSpan>,
    /// The programs that run through wrappers, and in texts for another shell.
    unwrapped: Vec<Argv>,
    /// The files that redirections open.
    redirects: Vec<Opened>,
    /// Whether any part is only known at run time.
    dynamic: bool,
    /// Whether it cannot be parsed with certainty, and therefore must not run.
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
    /// The file; `null` if it is only known at run time.
    target: Option<String>,
    span: ByteSpan,
}

/// Why a text could not be parsed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ParseObstacle")]
struct Obstructed {
    code: &'static str,
    message: &'static str,
    span: ByteSpan,
}

/// A position in the text, in bytes.
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

/// The result of the validator.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Validated {
    /// `allow` or `reject`.
    verdict: &'static str,
    /// The stable name of the kind of finding.
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
                // Partially parsed commands are listed as well, because they can be reasons to refuse.
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
