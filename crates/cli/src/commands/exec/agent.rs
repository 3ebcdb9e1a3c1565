//! `stockade exec --agent`: runs a command of an agent as its configuration decides.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use stockade_guard::command::shell::quote_argv;
use stockade_guard::{Decision, Session};

use super::{ExecArgs, FAILED, REFUSED, document, ended, not_run, report, show_plan, streams};
use crate::agent_run::{self, AgentRun};
use crate::failure::Failure;
use stockade_state::{agents, graph_runs};

/// Runs the command and exits like it.
pub(super) fn run(args: &ExecArgs, agent: &str) -> ExitCode {
    if args.dry_run {
        return show(args, agent).unwrap_or_else(|failure| {
            failure.report();
            not_run(args, &document::failed(&failure.message(), FAILED), FAILED)
        });
    }
    match try_run(args, agent) {
        Ok(AgentRun::Ran(ran, result)) => ended(args, &ran.report, Some(&ran.decision), result.as_ref()),
        Ok(AgentRun::Refused(decision)) => refused(args, &decision),
        Err(failure) => {
            failure.report();
            not_run(args, &document::failed(&failure.message(), FAILED), FAILED)
        }
    }
}

fn try_run(args: &ExecArgs, agent: &str) -> Result<AgentRun, Failure> {
    let words = words(&args.command)?;
    let workspace = args.spec.workspace.as_deref().unwrap_or_else(|| Path::new("."));
    let mut session = agent_run::open(agent, workspace, &[])?;
    narrow(args, &mut session)?;
    agent_run::run(&session, args.execution.as_deref(), args.agreed.as_deref(), &words, streams(args))
}

/// Prints the plan of the command as the configuration of the agent makes it, and the decision. Nothing runs, and nothing is
/// recorded.
fn show(args: &ExecArgs, agent: &str) -> Result<ExitCode, Failure> {
    let text = quote_argv(words(&args.command)?.iter().map(String::as_str));
    let workspace = args.spec.workspace.as_deref().unwrap_or_else(|| Path::new("."));
    let config = agent_run::configuration(agent, workspace, &[])?;
    let (mut session, _folder) = agents::unrecorded(&config, agent, workspace)?;
    narrow(args, &mut session)?;
    let (would, prepared) = session.plan(&text).map_err(|error| agent_run::undecided(&error))?;
    let is_plan = prepared.as_ref().map(|prepared| show_plan(args, prepared));
    if would.decision.is_allowed() {
        return Ok(is_plan.unwrap_or(ExitCode::SUCCESS));
    }
    report::say(&would.decision.to_string());
    Ok(ExitCode::from(REFUSED))
}

/// Applies the options that make the configuration stricter.
fn narrow(args: &ExecArgs, session: &mut Session) -> Result<(), Failure> {
    session.bound_commands(args.spec.limits.timeout(), args.spec.limits.output_bytes);
    agent_run::bound_mode(session, args.spec.asked_mode())?;
    session.bound_review(args.spec.review.unwrap_or_default());
    graph_runs::join(session, args.graph.as_ref())?;
    Ok(())
}

/// Returns the words of the command. The text that is checked must be what runs, so every word has to be valid UTF-8.
fn words(command: &[OsString]) -> Result<Vec<String>, Failure> {
    let text = |word: &OsString| {
        word.to_str().map(str::to_owned).ok_or_else(|| {
            Failure::usage(format_args!(
                "a word of the command is not valid UTF-8: {}",
                word.to_string_lossy()
            ))
        })
    };
    command.iter().map(text).collect()
}

fn refused(args: &ExecArgs, decision: &Decision) -> ExitCode {
    report::say(&decision.to_string());
    let why = decision.to_string();
    not_run(args, &document::not_let(&why, decision.fix.as_deref(), Some(decision), REFUSED), REFUSED)
}
