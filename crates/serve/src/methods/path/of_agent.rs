//! Paths and commands of an agent: its configuration decides, and each decision is recorded.

use std::path::Path;

use stockade_guard::admission::{Authorization, PathRequest};
use stockade_guard::audit::{AuditEvent, EventKind, field};
use stockade_guard::command::Effect;
use stockade_guard::command::shell::ReadOptions;
use stockade_guard::policy::access::Operation;
use stockade_guard::policy::{Access, Caller};
use stockade_guard::{EvaluatedFor, Session, path_evaluation_event};

use super::{
    AccessRequest, Asker, Authorize, Decided, Policies, Prompt, add_policies, caller_of, command,
    operation_of,
};
use crate::Server;
use crate::fault::{self, Fault};
use crate::guarded::undecided;
use crate::methods::Parameters as _;

pub(super) fn decided(
    server: &Server,
    session: &Session,
    named: Option<&str>,
    policies: &Policies,
    requests: &[AccessRequest],
    asker: &mut Asker<'_>,
) -> Result<Vec<Decided>, Fault> {
    let own = session.guard().agent();
    if let Some(other) =
        requests.iter().filter_map(|request| request.agent.as_deref()).find(|agent| *agent != own)
    {
        let message = format!("the session is that of the agent `{own}`, and not of `{other}`");
        return Err(Fault::new(fault::REFUSED, message));
    }
    let added = session.with_paths(|paths| add_policies(paths, policies, requests));
    let changes = added.map_err(|error| undecided(&error))??;
    for change in &changes {
        let event = AuditEvent { agent: Some(own.into()), ..AuditEvent::new(EventKind::PolicyChanged) };
        let event =
            event.with(field::TOOL, change.tool.as_str()).with(field::POLICIES, change.policies.clone());
        session.trail().record(event).map(drop).map_err(|error| Fault::internal(&error))?;
    }
    if let Some(named) = named {
        server.tell_of_tools(named, &changes);
    }
    requests.iter().map(|request| one(server, session, request, asker)).collect()
}

fn one(
    server: &Server,
    session: &Session,
    request: &AccessRequest,
    asker: &mut Asker<'_>,
) -> Result<Decided, Fault> {
    let caller = Caller { agent: session.guard().agent(), ..caller_of(request) };
    match operation_of(request)? {
        Operation::Execute => commanded(server, session, request, &caller, asker),
        Operation::Read => path(session, request, Access::Read, caller, asker),
        Operation::Write => path(session, request, Access::Write, caller, asker),
    }
}

fn path(
    session: &Session,
    request: &AccessRequest,
    access: Access,
    caller: Caller<'_>,
    asker: &mut Asker<'_>,
) -> Result<Decided, Fault> {
    let path_request =
        PathRequest { tool: request.tool(), access, path: Path::new(&request.resource), caller };
    let mut prompts = Vec::new();
    let answer = session.path_for(&path_request).map_err(|error| undecided(&error))?;
    let authorization = match answer.authorization {
        Authorization::Pending(pending) => {
            prompts.push(Prompt::of(pending.ask()));
            match asker.reply() {
                Some(reply) => {
                    session.answer_path(*pending, reply).map_err(|error| undecided(&error))?.authorization
                }
                None => return Ok(Decided::pending(pending.ask(), prompts)),
            }
        }
        decided => decided,
    };
    Ok(match authorization {
        Authorization::Granted(granted) => {
            let path = granted.path().to_string_lossy().into_owned();
            Decided { path: Some(path), ..Decided::allowed(prompts) }
        }
        Authorization::Denied(violation) => Decided::denied(&violation, prompts),
        _ => Decided::undecided(prompts),
    })
}

/// Decides on a command of a tool: the stricter of the command rules and the tool's policies applies.
fn commanded(
    server: &Server,
    session: &Session,
    request: &AccessRequest,
    caller: &Caller<'_>,
    asker: &mut Asker<'_>,
) -> Result<Decided, Fault> {
    let mut decided = session
        .with_paths(|paths| command(paths, request, caller, asker))
        .map_err(|error| undecided(&error))?;
    let operator = server.rules.now()?;
    if operator.decide() {
        let place = session.guard().command_place();
        let by_operator =
            operator.policy.all_rules().decide(&request.resource, &ReadOptions::default(), &place);
        if by_operator.effect == Effect::Deny
            || (by_operator.effect == Effect::Ask && decided.decision == "allow")
        {
            decided.decision = if by_operator.effect == Effect::Deny { "deny" } else { "ask" };
            decided.reason =
                by_operator.decisive().next().map(|part| part.cause.to_string()).unwrap_or_default();
        }
    }
    let asked =
        EvaluatedFor { entry_point: Authorize::METHOD, agent: Some(caller.agent), session: None, cwd: None };
    let event =
        path_evaluation_event(&request.kind, &request.resource, decided.decision, &decided.reason, &asked);
    session
        .trail()
        .record(event.with(field::TOOL, request.tool()))
        .map(drop)
        .map_err(|error| Fault::internal(&error))?;
    Ok(decided)
}
