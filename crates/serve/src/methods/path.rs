//! `path.authorize`: whether a tool may read or write a path, or run a command.

mod of_agent;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use stockade_guard::admission::{Authorization, Judgement, PathGuard, PathRequest};
use stockade_guard::audit::field;
use stockade_guard::policy::access::{ChainChange, Operation, Policy, Position, RunState};
use stockade_guard::policy::{
    Access, Ask, Caller, PermissionDecision, Reply, SandboxConfig, Verdict, Violation,
};
use stockade_guard::{EvaluatedFor, Resolver, path_evaluation_event};

use super::trail::evaluated;
use super::{AskedBy, Json, Lane, Parameters};
use crate::Server;
use crate::bounds::{MAX_COMMAND, MAX_GUARDED_TOOLS, MAX_PATHS, at_most};
use crate::fault::Fault;
use crate::sessions::is_short;

/// The default name of a tool.
const TOOL: &str = "tool";

/// Decide on a tool's access to a path, or on a command, by what really is on the disk. The file is not kept open; to prevent
/// replacement between check and use, open it through the library.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Authorize {
    /// The workspace and its rules: `{cwd, jail, allowAbsolutePaths, hardLinks, names: "guarded" | "free", forbiddenGlobs, read:
    /// {default, allow, deny}, write: {…}, execute}`, or `{preset: "default" | "permissive" | "daemon", …}` with differences from
    /// the preset. Without a session, the default is the preset `default`.
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    config: Option<SandboxConfig>,
    /// Additional policies of the tool.
    #[serde(default)]
    policies: Policies,
    /// The request.
    request: Option<AccessRequest>,
    /// Several requests, decided in order; `results` then contains the answer to each.
    requests: Option<Vec<AccessRequest>>,
    /// The user's answers, in order: `allow`, `deny`, `allow-session`, `deny-session`; any other string is a denial, `abort`
    /// cancels the question, and `no-handler` means that no user can be asked. Without answers, the decision is `ask`.
    answers: Option<Vec<Value>>,
    /// A session, which remembers answers for the session. In the session of an agent, the agent's configuration decides on its
    /// workspace, and every decision is recorded.
    session: Option<String>,
}

/// Additional policies of a tool.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "ToolPolicies")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Policies {
    /// Patterns of denied commands; `"default"` for commands that no agent should run.
    deny_commands: Option<Patterns>,
    /// Patterns of commands that the user is asked about.
    approve_commands: Option<Patterns>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "CommandPatterns")]
#[serde(untagged)]
enum Patterns {
    Named(String),
    List(Vec<String>),
}

/// A request for access.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "PathRequest")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AccessRequest {
    /// `fs.read`, `fs.write` or `command.execute`.
    #[serde(rename = "type")]
    kind: String,
    /// The path as the tool received it, or the command.
    resource: String,
    /// The tool; answers for a session are remembered per tool.
    tool: Option<String>,
    /// The agent, for the question.
    agent: Option<String>,
    /// Whether the run was aborted, in which case no question is asked.
    #[serde(default)]
    aborted: bool,
}

/// The answer to one request, or `{results: […]}` for several.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Answered {
    One(Decided),
    Many { results: Vec<Decided> },
}

/// The decision on the path.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "PathDecision")]
pub(super) struct Decided {
    /// `allow`, `deny` or `ask`, after the answers.
    decision: &'static str,
    /// The resolved path, without symlinks.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The code of the reason: `jail`, `read-denied`, `policy-ask`, …; `allowed` if it is allowed, `approved` if the user allowed
    /// it.
    reason: String,
    /// The deciding rule, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    /// The narrowest change of the configuration that removes this obstacle.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
    /// The number of questions.
    asked: usize,
    /// The questions.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    prompts: Vec<Prompt>,
}

/// A question to the user.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PermissionPrompt")]
#[serde(rename_all = "camelCase")]
struct Prompt {
    operation: &'static str,
    resource: String,
    agent_name: String,
    tool_name: String,
    reason: &'static str,
}

/// The remaining answers. A question without one stays open.
struct Asker<'a>(std::slice::Iter<'a, Value>);

impl Parameters for Authorize {
    const METHOD: &'static str = "path.authorize";
    const LANE: Lane = Lane::Work;
    type Answer = Answered;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let (requests, one) = match (self.request, self.requests) {
            (Some(request), None) => (vec![request], true),
            (None, Some(requests)) => (requests, false),
            _ => return Err(Fault::parameters("give either `request` or `requests`")),
        };
        at_most("`requests`", requests.len(), MAX_PATHS, "ask about the rest in another request")?;
        let answers = self.answers.as_deref().unwrap_or_default();
        let mut asker = Asker(answers.iter());
        requests.iter().try_for_each(|request| {
            is_short("tool", request.tool())?;
            at_most("bytes of `resource`", request.resource.len(), MAX_COMMAND, "shorten it")
        })?;
        let session = server.session_of(self.session.as_deref())?;
        if let Some(guarded) = session.as_ref().and_then(|session| session.of_agent()) {
            if self.config.is_some() {
                let message = "`config` is for sessions without an agent; session.open narrows the configuration of an agent";
                return Err(Fault::parameters(message));
            }
            let session = guarded.now(server)?;
            let named = self.session.as_deref();
            let results = of_agent::decided(server, &session, named, &self.policies, &requests, &mut asker)?;
            return Ok(several(results, one));
        }
        let commands = Arc::clone(&server.rules.now()?.policy);
        let mut decide = |guard: &mut PathGuard| {
            // The current rules: they may have changed since the session began.
            guard.set_commands(&commands);
            let changes = add_policies(guard, &self.policies, &requests)?;
            if let Some(session) = &self.session {
                server.tell_of_tools(session, &changes);
            }
            requests
                .iter()
                .map(|request| decided(guard, request, &mut asker))
                .collect::<Result<Vec<_>, Fault>>()
        };
        let results = match &session {
            Some(session) => session.with_paths(self.config, decide)?,
            None => decide(&mut open(self.config.unwrap_or_else(SandboxConfig::standard))?)?,
        };
        record(server, self.session.as_deref(), &requests, &results)?;
        Ok(several(results, one))
    }
}

fn several(results: Vec<Decided>, one: bool) -> Json {
    match <[Decided; 1]>::try_from(results) {
        Ok([result]) if one => Json::of(&Answered::One(result)),
        Ok([result]) => Json::of(&Answered::Many { results: vec![result] }),
        Err(results) => Json::of(&Answered::Many { results }),
    }
}

fn record(
    server: &Server,
    session: Option<&str>,
    requests: &[AccessRequest],
    results: &[Decided],
) -> Result<(), Fault> {
    let of_session = session.map(|name| server.sessions.find(name)).transpose()?;
    for (request, result) in requests.iter().zip(results) {
        let agent = request.agent.as_deref().or(of_session.as_ref().map(|session| session.agent()));
        let asked = EvaluatedFor { entry_point: Authorize::METHOD, agent, session, cwd: None };
        evaluated(server, || {
            path_evaluation_event(&request.kind, &request.resource, result.decision, &result.reason, &asked)
                .with(field::TOOL, request.tool())
        })?;
    }
    Ok(())
}

/// Opens a workspace with a configuration.
pub(crate) fn open(mut config: SandboxConfig) -> Result<PathGuard, Fault> {
    let cwd = config.cwd.take().unwrap_or_else(|| PathBuf::from("."));
    PathGuard::open(&config, &cwd, Resolver::Kernel).map_err(|error| Fault::of(&error))
}

/// Adds the policies of a request to its tools, and returns the changes of each tool. A policy of the same name replaces the earlier
/// one, and one that is there already changes nothing.
fn add_policies(
    guard: &mut PathGuard,
    policies: &Policies,
    requests: &[AccessRequest],
) -> Result<Vec<ChainChange>, Fault> {
    let patterns = |patterns: &Patterns| match patterns {
        Patterns::List(list) => Ok(list.clone()),
        Patterns::Named(name) => Err(Fault::parameters(format!("`{name}` is no list of patterns"))),
    };
    let mut added = Vec::new();
    match &policies.deny_commands {
        Some(Patterns::Named(name)) if name == "default" => added.push(Policy::deny_dangerous_commands()),
        Some(list) => {
            added.push(Policy::deny_commands(&patterns(list)?).map_err(|error| Fault::of(&error))?);
        }
        None => {}
    }
    if let Some(list) = &policies.approve_commands {
        added.push(Policy::approve_commands(&patterns(list)?).map_err(|error| Fault::of(&error))?);
    }
    let mut changes: Vec<ChainChange> = Vec::new();
    for request in requests {
        bound_tools(guard, request.tool())?;
        let guard = guard.sandbox().guard_for(request.tool());
        let mut change = None;
        for policy in &added {
            if guard.has(policy) {
                continue;
            }
            change = Some(guard.add(policy.clone(), Position::Last).map_err(|error| Fault::of(&error))?);
        }
        if let Some(change) = change.filter(|change| !changes.iter().any(|one| one.tool == change.tool)) {
            changes.push(change);
        }
    }
    Ok(changes)
}

/// Each tool has its own policies and answers, which belong to the session.
fn bound_tools(guard: &mut PathGuard, tool: &str) -> Result<(), Fault> {
    let sandbox = guard.sandbox();
    if sandbox.guards().any(|guard| guard.tool() == tool) {
        return Ok(());
    }
    let count = sandbox.guards().count() + 1;
    at_most(
        "tools of the session",
        count,
        MAX_GUARDED_TOOLS,
        "name the tools by what they do, not by their calls",
    )
}

fn decided(guard: &mut PathGuard, request: &AccessRequest, asker: &mut Asker<'_>) -> Result<Decided, Fault> {
    let caller = caller_of(request);
    Ok(match operation_of(request)? {
        Operation::Execute => command(guard, request, &caller, asker),
        Operation::Read => path(guard, request, Access::Read, caller, asker),
        Operation::Write => path(guard, request, Access::Write, caller, asker),
    })
}

fn caller_of(request: &AccessRequest) -> Caller<'_> {
    let run = if request.aborted { RunState::Aborted } else { RunState::Active };
    Caller { agent: request.agent.as_deref().unwrap_or_default(), run }
}

fn operation_of(request: &AccessRequest) -> Result<Operation, Fault> {
    Operation::from_name(&request.kind).ok_or_else(|| {
        let known = [Operation::Read, Operation::Write, Operation::Execute].map(Operation::name);
        Fault::unknown("type of request", &request.kind, known.into_iter())
    })
}

fn path(
    guard: &mut PathGuard,
    request: &AccessRequest,
    access: Access,
    caller: Caller<'_>,
    asker: &mut Asker<'_>,
) -> Decided {
    let path_request =
        PathRequest { tool: request.tool(), access, path: Path::new(&request.resource), caller };
    let mut prompts = Vec::new();
    let authorization = match guard.authorize(&path_request) {
        Authorization::Pending(pending) => {
            prompts.push(Prompt::of(pending.ask()));
            match asker.reply() {
                Some(reply) => guard.answer(*pending, reply),
                None => return Decided::pending(pending.ask(), prompts),
            }
        }
        decided => decided,
    };
    match authorization {
        Authorization::Granted(granted) => {
            let path = granted.path().to_string_lossy().into_owned();
            Decided { path: Some(path), ..Decided::allowed(prompts) }
        }
        Authorization::Denied(violation) => Decided::denied(&violation, prompts),
        _ => Decided::undecided(prompts),
    }
}

fn command(
    guard: &mut PathGuard,
    request: &AccessRequest,
    caller: &Caller<'_>,
    asker: &mut Asker<'_>,
) -> Decided {
    let mut prompts = Vec::new();
    let verdict = match guard.command(request.tool(), &request.resource, *caller) {
        Judgement::Pending(asked) => {
            prompts.push(Prompt::of(asked.ask()));
            match asker.reply() {
                Some(reply) => guard.answer_command(request.tool(), &asked, reply),
                None => return Decided::pending(asked.ask(), prompts),
            }
        }
        Judgement::Allowed(permit) => {
            return Decided { rule: Some(permit.rule.to_string()), ..Decided::allowed(prompts) };
        }
        Judgement::Denied(violation) => Verdict::Denied(violation),
        _ => return Decided::undecided(prompts),
    };
    match verdict {
        Verdict::Allowed(permit) => {
            Decided { rule: Some(permit.rule.to_string()), ..Decided::allowed(prompts) }
        }
        Verdict::Denied(violation) => Decided::denied(&violation, prompts),
        _ => Decided::undecided(prompts),
    }
}

impl AccessRequest {
    fn tool(&self) -> &str {
        self.tool.as_deref().unwrap_or(TOOL)
    }
}

impl Asker<'_> {
    /// Returns the next answer; nothing if the question stays open.
    fn reply(&mut self) -> Option<Reply> {
        Some(match self.0.next()? {
            Value::String(text) if matches!(text.as_str(), "abort" | "throw" | "never") => Reply::Aborted,
            Value::String(text) if text == "no-handler" => Reply::NoHandler,
            Value::String(text) => {
                PermissionDecision::from_name(text).map_or(Reply::Unreadable, Reply::Decision)
            }
            _ => Reply::Unreadable,
        })
    }
}

impl Prompt {
    fn of(ask: &Ask) -> Self {
        Self {
            operation: ask.operation().name(),
            resource: ask.object().to_string(),
            agent_name: ask.agent().to_owned(),
            tool_name: ask.tool().to_owned(),
            reason: ask.reason(),
        }
    }
}

impl Decided {
    /// Verdicts of later versions are not permissions.
    fn undecided(prompts: Vec<Prompt>) -> Self {
        Self { decision: "deny", reason: "undecided".to_owned(), ..Self::after(prompts) }
    }

    fn after(prompts: Vec<Prompt>) -> Self {
        Self { asked: prompts.len(), prompts, ..Self::default() }
    }

    fn allowed(prompts: Vec<Prompt>) -> Self {
        let reason = if prompts.is_empty() { "allowed" } else { "approved" };
        Self { decision: "allow", reason: reason.to_owned(), ..Self::after(prompts) }
    }

    fn pending(ask: &Ask, prompts: Vec<Prompt>) -> Self {
        Self {
            decision: "ask",
            path: ask.object().path().map(|path| path.to_string_lossy().into_owned()),
            reason: ask.reason().to_owned(),
            rule: Some(ask.rule().to_string()),
            fix: ask.fix().map(ToString::to_string),
            ..Self::after(prompts)
        }
    }

    fn denied(violation: &Violation, prompts: Vec<Prompt>) -> Self {
        let real = violation.real.as_ref().unwrap_or(&violation.object);
        Self {
            decision: "deny",
            path: real.path().map(|path| path.to_string_lossy().into_owned()),
            reason: violation.reason.name().to_owned(),
            rule: Some(violation.rule.to_string()),
            fix: violation.fix.as_ref().map(ToString::to_string),
            ..Self::after(prompts)
        }
    }
}
