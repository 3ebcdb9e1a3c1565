//! Paths and commands of an agent: its configuration decides, and each decision is put on record.

use std::path::Path;

use stockade_guard::admission::{Authorization, PathRequest};
use stockade_guard::audit::{AuditEvent, EventKind, field};
use stockade_guard::command::Effect;
use stockade_guard::command::shell::ReadOptions;
use stockade_guard::policy::access::Operation;
use stockade_guard::policy::{Access, Caller};
use stockade_guard::{EvaluatedFor, Session, path_evaluation_event};

use super::{
    Asker, Authorize, Decided, Policies, Prompt, Wish, add_policies, caller_of, command, operation_of,
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
    wishes: &[Wish],
    asker: &mut Asker<'_>,
) -> Result<Vec<Decided>, Fault> {
    let own = session.guard().agent();
    if let Some(other) = wishes.iter().filter_map(|wish| wish.agent.as_deref()).find(|agent| *agent != own) {
        let message = format!("the session is that of the agent `{own}`, and not of `{other}`");
        return Err(Fault::new(fault::REFUSED, message));
    }
    let added = session.with_paths(|paths| add_policies(paths, policies, wishes));
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
    wishes.iter().map(|wish| one(server, session, wish, asker)).collect()
}

fn one(server: &Server, session: &Session, wish: &Wish, asker: &mut Asker<'_>) -> Result<Decided, Fault> {
    let caller = Caller { agent: session.guard().agent(), ..caller_of(wish) };
    match operation_of(wish)? {
        Operation::Execute => commanded(server, session, wish, &caller, asker),
        Operation::Read => path(session, wish, Access::Read, caller, asker),
        Operation::Write => path(session, wish, Access::Write, caller, asker),
    }
}

fn path(
    session: &Session,
    wish: &Wish,
    access: Access,
    caller: Caller<'_>,
    asker: &mut Asker<'_>,
) -> Result<Decided, Fault> {
    let request = PathRequest { tool: wish.tool(), access, path: Path::new(&wish.resource), caller };
    let mut prompts = Vec::new();
    let answer = session.path_for(&request).map_err(|error| undecided(&error))?;
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

/// A command of a tool: the rules for commands decide, and then what is said of the tool. The stricter holds.
fn commanded(
    server: &Server,
    session: &Session,
    wish: &Wish,
    caller: &Caller<'_>,
    asker: &mut Asker<'_>,
) -> Result<Decided, Fault> {
    let mut decided =
        session.with_paths(|paths| command(paths, wish, caller, asker)).map_err(|error| undecided(&error))?;
    let operator = server.rules.now()?;
    if operator.decide() {
        let place = session.guard().command_place();
        let by_operator = operator.policy.all_rules().decide(&wish.resource, &ReadOptions::default(), &place);
        if by_operator.effect == Effect::Deny
            || (by_operator.effect == Effect::Ask && decided.decision == "allow")
        {
            decided.decision = if by_operator.effect == Effect::Deny { "deny" } else { "ask" };
            decided.reason =
                by_operator.decisive().next().map(|part| part.cause.to_string()).unwrap_or_default();
        }
    }
    let asked = EvaluatedFor { door: Authorize::METHOD, agent: Some(caller.agent), session: None, cwd: None };
    let event = path_evaluation_event(&wish.kind, &wish.resource, decided.decision, &decided.reason, &asked);
    session
        .trail()
        .record(event.with(field::TOOL, wish.tool()))
        .map(drop)
        .map_err(|error| Fault::internal(&error))?;
    Ok(decided)
}
