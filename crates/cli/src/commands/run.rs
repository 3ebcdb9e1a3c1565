//! `stockade run`: admits a skill and runs a command on its behalf, under the configuration of an agent.
#![expect(clippy::disallowed_methods, reason = "prints documents")]

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use stockade_guard::admission::{Admission, AdmitOptions, OnCritical, SkillSource, ToolResult};
use stockade_guard::exec::run::{Input, Signals, Stream, Streams};
use stockade_guard::exec::{ReviewMode, SandboxMode};
use stockade_guard::scanner::Scanner;
use stockade_guard::{Decision, Ran};
use stockade_text::{escape, escape_path};

use super::exec::{self, document, report};
use crate::agent_run::{self, AgentRun, say, undecided};
use crate::args::{Format, HELP};
use crate::failure::Failure;
use crate::render::skill_text;
use crate::render::style::Styles;
use stockade_state::graph_runs;

const EXAMPLES: &str = "\
Examples:
  stockade run skills/builder -- make test     check the skill, then run the command on its behalf
  stockade run --agent ci skills/builder -- make test
                                               use the configuration of the agent `ci`";

const MORE: &str = "\
The skill is scanned and cleaned first. Its tool list can only restrict: if it has one, the command must be among those that it lists for
`exec`. Every decision, the start and the end are recorded in the audit trail. A command that would need the user's answer is refused.
`stockade config show --agent ID` shows the effective settings.";

/// Exit codes if the command did not start.
const FAILED: u8 = 125;
const REFUSED: u8 = 126;

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = exec::exit_codes(MORE))]
pub(crate) struct RunArgs {
    /// Skill: a directory with a SKILL.md, or a file
    #[arg(value_name = "SKILL")]
    skill: PathBuf,

    /// Agent whose configuration to use
    #[arg(long, value_name = "ID", default_value = "default", value_parser = stockade_state::agents::parse_name)]
    agent: String,

    /// Workspace: the directory that the command runs in and may change
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,

    /// Setting that overrides files and variables; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = super::config::assignment)]
    set: Vec<(String, String)>,

    /// Additional rule file of yours, as in `commands.ruleFiles`; repeatable
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,

    /// Sandbox mode; it can only be stricter than that of the configuration
    #[arg(long, value_name = "MODE")]
    sandbox: Option<SandboxMode>,

    /// Run on an overlay of the workspace; changes wait for `stockade changes apply`, or are applied at the end and can be undone
    /// (undoable)
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "hold")]
    review: Option<ReviewMode>,

    /// Execution that the command counts toward, for step limits [default: the terminal session, if maxSteps is set]
    #[arg(long, value_name = "NAME", value_parser = stockade_state::executions::parse_name)]
    execution: Option<String>,

    /// Graph run of the agent, as printed by `stockade graph begin`; its shared directory becomes readable and writable
    #[arg(long, value_name = "RUN")]
    graph: Option<PathBuf>,

    /// Lock file from `stockade skill lock`; a skill that differs from it is rejected
    #[arg(long, value_name = "FILE")]
    lock: Option<PathBuf>,

    /// Output format; json collects the command's output in one document
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// Command and arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Runs the command and exits like it.
pub(crate) fn run(args: &RunArgs) -> ExitCode {
    match let_in(args) {
        Ok(code) => code,
        Err(failure) => {
            failure.report();
            not_run(args, &document::failed(&failure.message(), FAILED), FAILED)
        }
    }
}

fn let_in(args: &RunArgs) -> Result<ExitCode, Failure> {
    let mut session = agent_run::open(&args.agent, &args.workspace, &settings(args)?)?;
    agent_run::bound_mode(&mut session, args.sandbox)?;
    session.bound_review(args.review.unwrap_or_default());
    graph_runs::join(&mut session, args.graph.as_ref())?;
    // All other settings come from the configuration.
    let wish = AdmitOptions {
        on_critical: OnCritical::Flag,
        max_chars: usize::MAX,
        locks: super::skill::lock_at(args.lock.as_deref())?.into_iter().collect(),
        ..AdmitOptions::default()
    };
    let admission = session
        .admit_within(&SkillSource::Path(&args.skill), Scanner::builtin(), &wish)
        .map_err(|error| undecided(&error))?;
    if !matches!(admission, Admission::Accepted(_)) {
        say(&skill_text::report(&escape_path(&args.skill), &admission, Styles::PLAIN));
    }
    let why = format!("the skill is {}", admission.name());
    let Some(skill) = admission.loaded() else {
        return Ok(not_run(args, &document::not_let(&why, None, None, REFUSED), REFUSED));
    };
    session.activate(&skill);
    let stream = if args.format == Format::Json { Stream::Keep } else { Stream::Relay };
    let streams = Streams {
        stdin: Input::Inherit,
        stdout: stream,
        stderr: stream,
        signals: Signals::Forward,
        speaks_as: Some("stockade"),
        ..Streams::default()
    };
    Ok(match agent_run::run(&session, args.execution.as_deref(), None, &args.command, streams)? {
        AgentRun::Ran(ran, result) => ended(args, &ran, result.as_ref()),
        AgentRun::Refused(decision) => refused(args, &decision),
    })
}

/// Returns the settings of the command line, in which rule files are one as well.
fn settings(args: &RunArgs) -> Result<Vec<(String, String)>, Failure> {
    let mut settings = args.set.clone();
    if !args.rules.is_empty() {
        let real = |file: &PathBuf| {
            let wrong = |error| Failure::incomplete(format_args!("{}: {error}", escape_path(file)));
            std::fs::canonicalize(file).map_err(wrong)
        };
        let files = args.rules.iter().map(real).collect::<Result<Vec<_>, _>>()?;
        let files = serde_json::to_string(&files).map_err(Failure::incomplete)?;
        settings.push((format!("agents.{}.commands.ruleFiles", args.agent), files));
    }
    Ok(settings)
}

fn ended(args: &RunArgs, ran: &Ran, result: Option<&ToolResult>) -> ExitCode {
    if let Some(error) = &ran.report.unrecorded {
        say(&format!("stockade: cannot record the end: {}\n", escape(&error.to_string())));
    }
    if ran.report.is_unsandboxed() {
        say(&format!("stockade: the command ran WITHOUT A SANDBOX: {}\n", escape(&ran.decision.reason)));
    }
    match args.format {
        Format::Json => print(&document::ran(&ran.report, Some(&ran.decision), result, Some(&args.agent))),
        Format::Text => report::left(&ran.report.outcome),
    }
    ExitCode::from(exec::exit_code(args.format, &ran.report.outcome))
}

fn refused(args: &RunArgs, decision: &Decision) -> ExitCode {
    let why = decision.to_string();
    say(&format!("stockade: {}\n", escape(&why)));
    not_run(args, &document::not_let(&why, decision.fix.as_deref(), Some(decision), REFUSED), REFUSED)
}

/// Prints a document even if nothing ran, since programs expect one.
fn not_run(args: &RunArgs, document: &str, code: u8) -> ExitCode {
    if args.format == Format::Json {
        print(document);
    }
    ExitCode::from(code)
}

fn print(document: &str) {
    if let Err(error) = io::stdout().write_all(format!("{document}\n").as_bytes()) {
        say(&format!("stockade: cannot write the outcome: {error}\n"));
    }
}
