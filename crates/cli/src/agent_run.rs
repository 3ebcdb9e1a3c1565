//! A command of an agent under its whole configuration: `stockade run` and `stockade exec --agent`.
#![expect(clippy::disallowed_methods, reason = "writes to standard error")]

use std::io::{self, Write as _};
use std::path::Path;

use stockade_guard::admission::ToolResult;
use stockade_guard::command::shell::quote_argv;
use stockade_guard::config::{Config, ConfigSources};
use stockade_guard::exec::SandboxMode;
use stockade_guard::exec::run::{Stream, Streams};
use stockade_guard::output::ProfileOverride;
use stockade_guard::policy::{PermissionDecision, Reply};
use stockade_guard::scanner::Scanner;
use stockade_guard::{Decision, GuardError, Ran, RunAnswer, Session};
use stockade_text::escape;

use crate::failure::{Failure, with_causes};
use stockade_harness::heartbeat;
use stockade_state::{agents, executions, tickets, trail};

/// Tool name of a command in the tool lists of agents and skills.
const TOOL: &str = "exec";

/// Source profile of a command's output.
const PROFILE: &str = "bash";

/// Result of a command.
pub(crate) enum AgentRun {
    /// It ran. Contains its outcome, and the part of its output for a model if that was requested.
    Ran(Box<Ran>, Option<ToolResult>),
    /// It was refused, or would need the user's answer. Nothing ran.
    Refused(Decision),
}

/// Opens a session of an agent. `set` overrides files and variables.
pub(crate) fn open(agent: &str, workspace: &Path, set: &[(String, String)]) -> Result<Session, Failure> {
    let config = configuration(agent, workspace, set)?;
    let trail = trail::open(&config).map_err(|error| {
        let failure = Failure::incomplete(with_causes(&error));
        match trail::fix(&error) {
            Some(fix) => failure.with_help(fix),
            None => failure,
        }
    })?;
    // Each command is a process of its own.
    trail.keep_journal();
    let guard = agents::open(&config, agent, workspace).map_err(|error| undecided(&error))?;
    Ok(agents::session(&guard, trail))
}

/// Loads the configuration for an agent in a workspace, and reports its notices.
pub(crate) fn configuration(
    agent: &str,
    workspace: &Path,
    set: &[(String, String)],
) -> Result<Config, Failure> {
    let sources = ConfigSources {
        flags: set.to_vec(),
        agents: vec![agent.to_owned()],
        // A command of a harness runs in the session that its hook was called in last.
        session: heartbeat::session_of(agent),
        ..ConfigSources::of_process(workspace)
    };
    let config = Config::load(&sources).map_err(|error| crate::commands::config::failure(&error))?;
    for notice in config.notices() {
        say(&format!("note: {}\n", escape(&notice.to_string())));
    }
    Ok(config)
}

/// Restricts the commands of a session to a mode, if one was given. It can be stricter than the configuration, not looser.
pub(crate) fn bound_mode(session: &mut Session, mode: Option<SandboxMode>) -> Result<(), Failure> {
    let Some(mode) = mode else { return Ok(()) };
    session.bound_mode(mode).map_err(|holds| {
        let (mode, holds) = (mode.name(), holds.name());
        Failure::usage(format_args!(
            "--sandbox {mode} is less strict than the configuration of the agent, which has {holds}"
        ))
        .with_help("change `execSandbox.mode` in the configuration; the option can only be stricter")
    })
}

/// Decides about the tool, the limits and the command, and runs the command if allowed. It counts as a step of the named
/// execution, or of the terminal session.
pub(crate) fn run(
    session: &Session,
    execution: Option<&str>,
    agreed: Option<&str>,
    words: &[String],
    streams: Streams,
) -> Result<AgentRun, Failure> {
    let decided = session.at_once(|session| run_at_once(session.clone(), execution, agreed, words, streams));
    decided.map_err(|error| undecided(&error.into()))?
}

fn run_at_once(
    mut session: Session,
    execution: Option<&str>,
    agreed: Option<&str>,
    words: &[String],
    streams: Streams,
) -> Result<AgentRun, Failure> {
    let is_kept = matches!(streams.stdout, Stream::Keep);
    let text = quote_argv(words.iter().map(String::as_str));
    let tool = session.tool(TOOL, Some(&text)).map_err(|error| undecided(&error))?;
    if !tool.is_allowed() {
        return Ok(AgentRun::Refused(tool));
    }
    let execution = execution.map(str::to_owned).or_else(|| executions::unnamed(session.guard()));
    session.count_commands(execution.map(|name| session.begin(name)));
    let mut answer = session.run(&text, streams).map_err(|error| undecided(&error))?;
    if let (RunAnswer::Pending(_), Some(ticket)) = (&answer, agreed) {
        let guard = session.guard();
        let is_agreed = tickets::redeem(ticket, guard.agent(), guard.workspace(), &text);
        if is_agreed.map_err(|error| Failure::incomplete(error.to_string()))?
            && let RunAnswer::Pending(pending) = answer
        {
            let yes = Reply::Decision(PermissionDecision::Allow);
            answer = session.answer_run(*pending, yes).map_err(|error| undecided(&error))?;
        }
    }
    Ok(match answer {
        RunAnswer::Ran(ran) => {
            let result = is_kept.then(|| result(&session, &ran)).transpose()?;
            AgentRun::Ran(ran, result)
        }
        RunAnswer::Refused(decision) => AgentRun::Refused(decision),
        RunAnswer::Pending(pending) => AgentRun::Refused(pending.decision().clone()),
        RunAnswer::Unsandboxed(decision) => {
            say(
                "stockade: the configuration leaves this command to the embedding program, and `stockade` runs no command \
                 without a sandbox\n",
            );
            AgentRun::Refused(decision)
        }
        _ => return Err(Failure::incomplete("unknown answer of the guard")),
    })
}

/// Returns the part of a command's output for a model.
fn result(session: &Session, ran: &Ran) -> Result<ToolResult, Failure> {
    let printed = &ran.report.outcome.output;
    let all = [printed.stdout.as_slice(), printed.stderr.as_slice()].concat();
    let result = session.result(PROFILE, &all, None, Scanner::builtin(), &ProfileOverride::default());
    result.map_err(|error| undecided(&error))
}

/// Converts an error of the guard. Without a decision, nothing runs.
pub(crate) fn undecided(error: &GuardError) -> Failure {
    let failure = Failure::incomplete(with_causes(error));
    match error.fix() {
        Some(fix) => failure.with_help(fix),
        None => failure,
    }
}

/// Writes text to standard error unchanged.
pub(crate) fn say(text: &str) {
    // A failure to write to standard error cannot be reported anywhere.
    io::stderr().write_all(text.as_bytes()).ok();
}
