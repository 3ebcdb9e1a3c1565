//! `stockade check command`: lists everything that a shell command would run, with the decision about each part.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;
use stockade_guard::admission::answers::{AnsweredCommand, AskedCommand};
use stockade_guard::admission::{FileOptions, Source, decide_on_disk, read_text};
use stockade_guard::command::shell::{ReadOptions, Shell};
use stockade_guard::command::{Cause, CommandContext, CommandDecision, Effect, Suggestion};
use stockade_guard::config::Config;
use stockade_guard::{EvaluatedFor, evaluation_event};

use crate::args::Format;
use crate::exit::Exit;
use crate::failure::{Failure, with_causes};
use crate::render::command_text;
use crate::render::style::Styles;
use stockade_state::command_rules::{self, RulePlaces, RuleSources};
use stockade_state::saved_answers;
use stockade_state::trail;
use stockade_text::to_printable_json;

/// Show what a shell command would run, and the decision about each part
#[derive(Debug, clap::Args)]
pub(super) struct CommandArgs {
    /// Command as one argument; - for standard input
    #[arg(value_name = "COMMAND", allow_hyphen_values = true)]
    command: String,

    /// The least strict decision that exits with 1
    #[arg(long, value_name = "DECISION", default_value = "sandbox")]
    fail_on: FailOn,

    #[command(flatten)]
    how: HowArgs,

    /// Additional rule file; admin:FILE and project:FILE set its layer; repeatable
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,

    /// Agent whose configuration to use, with its rules and its defaults for unmatched commands
    #[arg(long, value_name = "ID", value_parser = stockade_state::agents::parse_name)]
    agent: Option<String>,
}

/// How and where the command would run.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct HowArgs {
    /// Shell that would run it
    #[arg(long, value_name = "SHELL", default_value = "bash")]
    shell: ShellChoice,

    /// Working directory: where links lead, and rules about directories [default: the current one]
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,

    /// Workspace, for rules about directories [default: the working directory]
    #[arg(long, value_name = "FOLDER")]
    workspace: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FailOn {
    Sandbox,
    Ask,
    Deny,
}

impl FailOn {
    const fn effect(self) -> Effect {
        match self {
            Self::Sandbox => Effect::Sandbox,
            Self::Ask => Effect::Ask,
            Self::Deny => Effect::Deny,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum ShellChoice {
    #[default]
    Bash,
    Sh,
    Zsh,
}

impl HowArgs {
    pub(crate) fn read_options(&self) -> ReadOptions {
        ReadOptions::for_shell(match self.shell {
            ShellChoice::Bash => Shell::Bash,
            ShellChoice::Sh => Shell::Sh,
            ShellChoice::Zsh => Shell::Zsh,
        })
    }

    /// Returns where the command runs: here, unless an option says otherwise.
    pub(crate) fn place(&self) -> CommandContext {
        let cwd = self.cwd.clone().or_else(|| self.workspace.clone()).unwrap_or_else(|| PathBuf::from("."));
        CommandContext::new(Some(cwd.clone()), Some(self.workspace.clone().unwrap_or(cwd)))
    }
}

/// Returns the output and the exit code.
pub(super) fn run(args: &CommandArgs, format: Format, styles: Styles) -> Result<(String, Exit), Failure> {
    let config = command_rules::configuration(args.agent.as_deref())?;
    let RuleSources { policy, places } = match &args.agent {
        Some(agent) => command_rules::sources_with(&config, agent, &args.rules)?,
        None => command_rules::sources_of(&args.rules)?,
    };
    let text = command(&args.command)?;
    let options = args.how.read_options();
    let (decision, place) = decide_on_disk(args.how.place(), |place| policy.decide(&text, &options, place));
    let suggestions = policy.suggest(&decision, &options, &place);
    let said = said(args, &config, &decision, &place)?;
    let effect = said.as_ref().map_or(decision.effect, |said| said.effect);
    record(args, &config, &decision, effect, &suggestions)?;
    let messages = messages(args, &config, &decision)?;
    let printed = match format {
        Format::Text => {
            let text = command_text::decision(&decision, &places, &suggestions, styles);
            let messages: String = messages.iter().map(|message| format!("  note: {message}\n")).collect();
            format!("{}{text}{messages}", said.as_ref().map(command_text::answered).unwrap_or_default())
        }
        Format::Json => {
            let checked = Checked {
                messages,
                decision: effect,
                answered: said.as_ref().map(|said| said.answer.name()),
                ..Checked::of(&decision, &places, &suggestions)
            };
            format!("{}\n", to_printable_json(&checked))
        }
    };
    let fails = effect >= args.fail_on.effect();
    Ok((printed, if fails { Exit::Found } else { Exit::Clean }))
}

/// Returns the user's saved answer to exactly this command.
fn said(
    args: &CommandArgs,
    config: &Config,
    decision: &CommandDecision<'_, '_>,
    place: &CommandContext,
) -> Result<Option<AnsweredCommand>, Failure> {
    let agent = args.agent.as_deref().unwrap_or_default();
    let asked = AskedCommand { agent, shell: args.how.read_options().shell, place, variables: None };
    let settings = command_rules::of_agent(config, args.agent.as_deref().unwrap_or("*"))?;
    Ok(saved_answers::recalled(decision, &asked, settings.kept_answers)?)
}

/// Returns the operator's texts about what stops the command.
fn messages(
    args: &CommandArgs,
    config: &Config,
    decision: &CommandDecision<'_, '_>,
) -> Result<Vec<String>, Failure> {
    let settings = command_rules::of_agent(config, args.agent.as_deref().unwrap_or("*"))?;
    let stopping = decision.decisive().filter(|part| part.effect > Effect::Sandbox);
    let mut found: Vec<String> = stopping
        .filter_map(|part| settings.messages.of(part.cause.id(), decision.text).map(str::to_owned))
        .collect();
    found.dedup();
    Ok(found)
}

/// Records the decision, if the configuration requires it.
fn record(
    args: &CommandArgs,
    config: &Config,
    decision: &CommandDecision<'_, '_>,
    effect: Effect,
    suggestions: &[Suggestion],
) -> Result<(), Failure> {
    let (agent, cwd) = (args.agent.as_deref(), args.how.cwd.as_deref());
    let asked = EvaluatedFor { entry_point: "check command", agent, session: None, cwd };
    let recorded = trail::evaluated(config, || evaluation_event(decision, effect, suggestions, &asked));
    recorded.map_err(|error| {
        let why = with_causes(&error);
        Failure::incomplete(format_args!("cannot record the decision: {why}"))
            .with_help("`audit.evaluations` requires a record; `audit.path` sets its file")
    })
}

/// Only a command that may run unchanged exits with 0.
pub(crate) fn exit(decision: &CommandDecision<'_, '_>) -> Exit {
    if decision.is_allowed() { Exit::Clean } else { Exit::Found }
}

/// Returns the command from the arguments or standard input.
pub(crate) fn command(given: &str) -> Result<String, Failure> {
    if given != "-" {
        return Ok(given.to_owned());
    }
    let source = Source::Stdin { name: "stdin".into() };
    match read_text(&source, &FileOptions::default()) {
        // A final newline in piped input is not part of the command.
        Ok(file) => Ok(file.text.strip_suffix('\n').map_or(file.text.clone(), str::to_owned)),
        Err(gap) => Err(Failure::incomplete(format_args!("{}: {gap}", Path::new("stdin").display()))),
    }
}

/// A decision as JSON.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Checked {
    command: String,
    decision: Effect,
    /// The user's earlier answer to exactly this command, if it decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    answered: Option<&'static str>,
    parts: Vec<CheckedPart>,
    /// The operator's texts about what stops the command.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    messages: Vec<String>,
    /// The command in canonical form. Running it runs exactly what was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    rendered: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<Suggested>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckedPart {
    text: String,
    start: usize,
    end: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    argv: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    via: Vec<String>,
    decision: Effect,
    rule: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    layer: Option<&'static str>,
    /// Where the rule is defined.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

#[derive(Debug, Serialize)]
struct Suggested {
    rule: String,
    then: Effect,
}

impl Checked {
    pub(crate) fn of(
        decision: &CommandDecision<'_, '_>,
        places: &RulePlaces,
        suggestions: &[Suggestion],
    ) -> Self {
        let parts = decision.parts.iter().map(|part| CheckedPart {
            text: part.span.of(decision.text).to_owned(),
            start: part.span.start,
            end: part.span.end,
            argv: part
                .run()
                .map(|run| run.argv.iter().map(ToString::to_string).collect())
                .unwrap_or_default(),
            via: decision.call_chain(part),
            decision: part.effect,
            rule: part.cause.id().to_owned(),
            layer: part.cause.rule().map(|(_, layer)| layer.name()),
            place: places.of(&part.cause).map(str::to_owned),
            reason: part.cause.to_string(),
            fix: match &part.cause {
                Cause::Hazard(hazard) => Some(hazard.fix.clone()),
                _ => None,
            },
        });
        Self {
            command: decision.text.to_owned(),
            decision: decision.effect,
            answered: None,
            messages: Vec::new(),
            parts: parts.collect(),
            rendered: decision.rendered(),
            suggestions: suggestions
                .iter()
                .map(|one| Suggested { rule: one.rule.to_toml(), then: one.then })
                .collect(),
        }
    }
}
