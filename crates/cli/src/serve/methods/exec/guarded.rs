//! `exec` for an agent: its configuration decides, as it does for `stockade run`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use stockade_guard::exec::{RunControl, SandboxMode, SandboxSpec};
use stockade_guard::{
    CommandAnswers, Decision, GuardCacheError, GuardError, PendingRun, Ran, RunAnswer, Session,
};

use super::{Ended, Exec, streams};
use crate::guarded;
use crate::serve::Server;
use crate::serve::fault::{self, Fault};
use crate::serve::methods::answers::{self, CHANGED};
use crate::serve::methods::command::text;

/// The tool that skills and policies know commands by.
const TOOL: &str = "exec";

/// Whose command it is: nobody's, or that of the one agent that the server is for.
pub(super) fn agent(asked: Option<&str>, only: Option<&str>) -> Result<Option<String>, Fault> {
    match (asked, only) {
        (Some(asked), Some(only)) if asked != only => Err(Fault::new(
            fault::REFUSED,
            format!(
                "this server runs commands of the agent `{only}` alone; it was started with `--agent {only}`"
            ),
        )),
        (Some(name), _) | (None, Some(name)) => {
            crate::args::agent(name).map(Some).map_err(|why| Fault::parameters(format!("`agent`: {why}")))
        }
        (None, None) => Ok(None),
    }
}

pub(super) fn run(server: &Server, agent: &str, exec: Exec, control: RunControl) -> Result<Ended, Fault> {
    let (output, streams) = (exec.output(), streams(exec.stream));
    if exec.stdin_base64.is_some() {
        return Err(Fault::parameters(
            "a command of an agent reads no standard input: what was judged would not be all that runs",
        ));
    }
    let text = text(exec.command, exec.argv.as_deref())?;
    let (workspace, mode) = exec.spec.workspace_alone()?;
    if server.rules.now()?.decide() {
        super::may_run(server, &text, &SandboxSpec::new(workspace.clone(), [text.as_str()]))?;
    }
    let answers = answers_of(server, agent, exec.session.as_deref())?;
    if let Some(said) = exec.answer {
        said.is_bound(exec.question.as_deref(), exec.session.as_deref())?;
    }
    let mut session = open(server, agent, &workspace)?;
    session.use_answers(answers);
    session.use_control(control);
    session.bound_commands(exec.timeout_ms.map(Duration::from_millis), Some(output));
    if let Some(mode) = mode {
        session.bound_mode(mode).map_err(|holds| wider(mode, holds))?;
    }
    let tool = session.tool(TOOL, Some(&text)).map_err(|error| undecided(&error))?;
    if !tool.is_allowed() {
        return Err(refused(&tool));
    }
    let answer = match session.run(&text, streams).map_err(|error| undecided(&error))? {
        RunAnswer::Pending(pending) => {
            let shown = pending.question().map(|question| question.id.as_str());
            match exec.answer {
                None => return Err(unasked(&pending)),
                // The answer to another question is none to this one.
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
        RunAnswer::Ran(ran) => Ok(ended(*ran)),
        RunAnswer::Refused(decision) => Err(refused(&decision)),
        RunAnswer::Pending(pending) => Err(unasked(&pending)),
        RunAnswer::Unsandboxed(decision) => Err(Fault {
            message: "the configuration leaves this command to whoever embeds the guard, and this server runs none without \
                      a sandbox"
                .to_owned(),
            code: fault::NO_SANDBOX,
            ..refused(&decision)
        }),
        _ => Err(Fault::new(fault::REFUSED, "the guard gives no answer that this server knows")),
    }
}

/// A request can only narrow what the configuration of its agent says.
fn wider(mode: SandboxMode, holds: SandboxMode) -> Fault {
    let (mode, holds) = (mode.name(), holds.name());
    let message =
        format!("the mode `{mode}` is more than the configuration of the agent allows, which is `{holds}`");
    Fault::new(fault::REFUSED, message).with(json!({"decision": "deny", "rule": "execSandbox.mode"}))
}

fn open(server: &Server, agent: &str, workspace: &Path) -> Result<Session, Fault> {
    let guard = server.guards.get(agent, workspace).map_err(|error| match &error {
        GuardCacheError::Config(error) => Fault::of(error),
        _ => Fault::internal(&error),
    })?;
    let trail = server.trail.get(Some(guard.audit()))?.ok_or_else(|| {
        Fault::new(
            fault::REFUSED,
            "commands of an agent are put on record, and this server was started with `--no-audit`",
        )
    })?;
    let mut session = guarded::session(&guard, trail);
    session.use_pool(Arc::clone(&server.sandboxes));
    Ok(session)
}

fn ended(ran: Ran) -> Ended {
    Ended { decision: Some(ran.decision), ..Ended::of(&ran.report) }
}

fn refused(decision: &Decision) -> Fault {
    Fault::new(fault::REFUSED, decision.to_string()).with(json!({ "decision": decision }))
}

/// Who asks a person then sends the request again, with the answer.
fn unasked(pending: &PendingRun) -> Fault {
    let decision = pending.decision();
    let message = format!("a person must be asked first, and `answer` say what they said: {decision}");
    let data = json!({ "decision": decision, "question": pending.question() });
    Fault::new(fault::REFUSED, message).with(data)
}

/// The answers that count: those of a session, which must be one of this agent, or those that are kept.
fn answers_of(server: &Server, agent: &str, session: Option<&str>) -> Result<Arc<CommandAnswers>, Fault> {
    if let Some(name) = session {
        let owner = server.sessions.find(name)?;
        if owner.agent() != agent {
            return Err(Fault::parameters("`session` is one of another agent: open one with this `agent`"));
        }
    }
    answers::of(server, session)
}

fn undecided(error: &GuardError) -> Fault {
    Fault::internal(error)
}
