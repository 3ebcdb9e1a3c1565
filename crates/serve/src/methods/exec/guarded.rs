//! `exec` for an agent: its configuration decides, as for `stockade run`.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use stockade_guard::admission::ToolResult;
use stockade_guard::exec::run::{RunControl, Streams};
use stockade_guard::exec::{SandboxMode, SandboxSpec};
use stockade_guard::output::ProfileOverride;
use stockade_guard::policy::ToolCatalog;
use stockade_guard::scanner::Scanner;
use stockade_guard::{DecisionLayer, PendingRun, Ran, RunAnswer, Session};

use super::{Ended, Exec, OutputForm, streams};
use crate::Server;
use crate::fault::{self, Fault};
use crate::guarded::{self, exhausted, refused, undecided};
use crate::methods::answers::{self, CHANGED};
use crate::methods::command::text;
use crate::methods::sandbox::spec::{current_folder, mode_alone};
use crate::methods::session::of_agent;
use crate::sessions::is_short;
use stockade_state::executions;

/// The tool name of commands in skills and policies.
const TOOL: &str = "exec";

/// The profile of command output.
const PROFILE: &str = "bash";

/// The session of a command: the requested one, that of the server's agent, or a new one for this command alone.
pub(super) fn session(server: &Server, exec: &Exec) -> Result<Option<OfAgent>, Fault> {
    let only = server.options.agent.as_deref();
    let asked = of_agent(exec.agent.as_deref(), only)?;
    let workspace = exec.spec.workspace.as_deref();
    let named = match (&exec.session, only.is_some() && workspace.is_none()) {
        (None, false) => None,
        (name, _) => server.session_of(name.as_deref())?,
    };
    let Some(named) = named else {
        let Some(agent) = asked else { return Ok(None) };
        let folder = workspace.map_or_else(current_folder, |folder| Ok(folder.to_owned()))?;
        let guard = guarded::guard(server, &agent, &folder, &ToolCatalog::default())?;
        let mut session = guarded::session(server, &guard)?;
        session.use_answers(answers::of(server, None)?);
        let named = Some(exec.execution.clone()).filter(|name| !name.is_empty());
        let execution = named.or_else(|| executions::unnamed(session.guard()));
        return Ok(Some(OfAgent { session, execution }));
    };
    let Some(own) = named.of_agent() else {
        return match asked {
            None => Ok(None),
            Some(_) => {
                Err(Fault::parameters("`session` belongs to no agent: open a session with this `agent`"))
            }
        };
    };
    if asked.is_some_and(|agent| agent != own.agent()) {
        return Err(Fault::parameters("`session` is one of another agent: open one with this `agent`"));
    }
    let mut session = own.within(server, workspace)?;
    session.use_answers(Arc::clone(own.answers()));
    Ok(Some(OfAgent { session, execution: Some(own.execution(&exec.execution).to_owned()) }))
}

/// A session of an agent, and the task of a command.
pub(super) struct OfAgent {
    session: Session,
    execution: Option<String>,
}

pub(super) fn run(
    server: &Server,
    of: &OfAgent,
    mut exec: Exec,
    control: RunControl,
) -> Result<Ended, Fault> {
    let (output, streams) = (exec.max_output(), streams(exec.stream));
    if exec.stdin_base64.is_some() {
        return Err(Fault::parameters(
            "a command of an agent reads no standard input: what was judged would not be all that runs",
        ));
    }
    is_short("execution", &exec.execution)?;
    let text = text(exec.command.take(), exec.argv.as_deref())?;
    let (mode, review) = mode_alone(std::mem::take(&mut exec.spec))?;
    let mut session = of.session.clone();
    if server.rules.now()?.decide() {
        super::may_run(server, &text, &SandboxSpec::new(session.guard().workspace(), [text.as_str()]))?;
    }
    if let Some(said) = exec.answer {
        said.is_bound(exec.question.as_deref(), exec.session.as_deref())?;
    }
    session.use_pool(Arc::clone(&server.sandboxes));
    session.use_control(control);
    session.bound_commands(exec.timeout_ms.map(Duration::from_millis), Some(output));
    session.bound_review(review);
    if let Some(mode) = mode {
        session.bound_mode(mode).map_err(|holds| wider(mode, holds))?;
    }
    let decided = session.at_once(|session| run_at_once(session.clone(), of, &exec, &text, streams));
    decided.map_err(|error| undecided(&error.into()))?
}

/// Decides and runs, with one wait for the disk before the command starts.
fn run_at_once(
    mut session: Session,
    of: &OfAgent,
    exec: &Exec,
    text: &str,
    streams: Streams,
) -> Result<Ended, Fault> {
    let tool = session.tool(TOOL, Some(text)).map_err(|error| undecided(&error))?;
    if !tool.is_allowed() {
        return Err(refused(&tool));
    }
    session.count_commands(of.execution.as_deref().map(|name| session.begin(name)));
    let answer = match session.run(text, streams).map_err(|error| undecided(&error))? {
        RunAnswer::Pending(pending) => {
            let shown = pending.question().map(|question| question.id.as_str());
            match exec.answer {
                None => return Err(unasked(&pending)),
                // An answer to another question is void.
                Some(_) if exec.question.is_some() && exec.question.as_deref() != shown => {
                    let fault = unasked(&pending);
                    return Err(Fault { message: format!("{CHANGED}: {}", fault.message), ..fault });
                }
                Some(said) => {
                    session.answer_command(*pending, said.answer()).map_err(|error| undecided(&error))?
                }
            }
        }
        answer => answer,
    };
    match answer {
        RunAnswer::Ran(ran) if exec.stream => Ok(ended(*ran, None, exec.output)),
        RunAnswer::Ran(ran) => {
            let printed = &ran.report.outcome.output;
            let all = [printed.stdout.as_slice(), printed.stderr.as_slice()].concat();
            let overrides = ProfileOverride::default();
            let result = session.result(PROFILE, &all, None, Scanner::builtin(), &overrides);
            Ok(ended(*ran, Some(result.map_err(|error| undecided(&error))?), exec.output))
        }
        RunAnswer::Refused(decision) if decision.layer == DecisionLayer::Limits => Err(exhausted(&decision)),
        RunAnswer::Refused(decision) => Err(refused(&decision)),
        RunAnswer::Pending(pending) => Err(unasked(&pending)),
        RunAnswer::Unsandboxed(decision) => Err(Fault {
            message: "the configuration lets the caller run this command without a sandbox, but this server runs commands only \
                      in one"
                .to_owned(),
            code: fault::NO_SANDBOX,
            ..refused(&decision)
        }),
        _ => Err(Fault::new(fault::REFUSED, "the guard gives no answer that this server knows")),
    }
}

/// A request can only narrow the configuration of its agent.
fn wider(mode: SandboxMode, holds: SandboxMode) -> Fault {
    let (mode, holds) = (mode.name(), holds.name());
    let message =
        format!("the mode `{mode}` is more than the configuration of the agent allows, which is `{holds}`");
    Fault::new(fault::REFUSED, message).with(json!({"decision": "deny", "rule": "execSandbox.mode"}))
}

fn ended(ran: Ran, result: Option<ToolResult>, form: OutputForm) -> Ended {
    Ended { decision: Some(ran.decision), result, ..Ended::of(&ran.report, form) }
}

/// The client asks the user and repeats the request with the answer.
fn unasked(pending: &PendingRun) -> Fault {
    let decision = pending.decision();
    let message =
        format!("the user must be asked first; send the request again with their `answer`: {decision}");
    let data = json!({ "decision": decision, "question": pending.question() });
    Fault::new(fault::REFUSED, message).with(data)
}
