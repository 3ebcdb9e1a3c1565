//! `tool.before`, `tool.answer` and `tool.after`: the judge of the hooks, for programs that run tools themselves.
//!
//! The decision is made by the same code as for a hook (`stockade-harness`), so that both give one answer.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use stockade_guard::exec::SandboxSpec;
use stockade_harness::answer::{HookVerdict, Objection};
use stockade_harness::call::{Origin, ToolCall};
use stockade_harness::declared::{CALLER, DeclaredKind, DeclaredTool, ResultChange};
use stockade_harness::judge::Agent;
use stockade_harness::{HARNESSES, Harness};
use stockade_text::{Format, parse};

use super::exec::denied_by_server;
use super::trail::unrecorded;
use super::{AskedBy, Json, Lane, Parameters};
use crate::Server;
use crate::bounds::{MAX_TOOLS, at_most};
use crate::fault::Fault;
use crate::guarded::undecided;
use crate::sessions::{Session, is_short};

/// Decide whether a tool may be used with these arguments, as the hook of a harness does: a command, path or host by the rules for
/// it, and any other tool by the tool policy. The configuration of the session's agent decides, the call counts as a step, and
/// every decision is recorded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Before {
    /// The name of the tool.
    name: String,
    /// The arguments of the call.
    #[schemars(with = "Map<String, Value>")]
    arguments: Box<RawValue>,
    /// A session of an agent.
    session: Option<String>,
    /// What the tool does. By default, a table of the names of tools in harnesses decides (`Bash`, `read_file`), and the tool
    /// policy decides about unknown names.
    kind: Option<Kind>,
    /// The names of the arguments with the command, the paths or the URLs of a tool with a `kind`. By default, usual names are
    /// looked for: `command`, `file_path`, `path`, `url`.
    #[serde(default)]
    argument_names: Vec<String>,
    /// The MCP server of the tool, which is then named `mcp__SERVER__NAME` in rules.
    mcp_server: Option<String>,
    /// The harness that the tool belongs to, such as `claude`. Its to-do lists and the like are then known as its own.
    harness: Option<String>,
    /// The working directory of the call, relative to the workspace, which is the default.
    cwd: Option<PathBuf>,
    /// The task of which the call is a step; the session's by default.
    #[serde(default)]
    execution: String,
}

/// Record the user's answer to a question of `tool.before`. Use the tool only after this succeeded for `allow`. Each question is
/// answered once.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Answer {
    /// The `id` of the decision.
    id: String,
    /// What the user said.
    answer: ToolAnswer,
    /// The session in which the tool was asked about.
    session: Option<String>,
}

/// The user's answer about a tool.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ToolAnswer {
    Allow,
    Deny,
}

/// The decision whose answer is on record.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answered {
    /// The `id` of the decision.
    id: String,
}

/// Clean and scan the result of a tool, as the hook of a harness does. Show the model only the returned text. The findings are
/// recorded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct After {
    /// The name of the tool.
    name: String,
    /// The result: a text, or any other JSON value.
    #[schemars(with = "Value")]
    result: Box<RawValue>,
    /// A session of an agent.
    session: Option<String>,
    /// What the tool does, as for `tool.before`.
    kind: Option<Kind>,
    /// The MCP server of the tool.
    mcp_server: Option<String>,
}

/// What a tool does.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[schemars(rename = "ToolKind")]
#[serde(rename_all = "lowercase")]
enum Kind {
    Shell,
    Read,
    Write,
    Edit,
    List,
    Search,
    Fetch,
    Other,
}

/// The decision about a call.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Judged {
    /// `allow`, `ask` or `deny`. After `ask`, the tool may only be used if the user agrees.
    decision: &'static str,
    /// Why it is not allowed, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The same with the rule, the fix and the ID, for the user or the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// The deciding rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    /// The deciding layer.
    #[serde(skip_serializing_if = "Option::is_none")]
    layer: Option<&'static str>,
    /// The ID of the decision in the audit trail, for `stockade why`.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The narrowest change that would allow it: a command line where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
    /// The arguments to use in place of the given ones, because the command has to run in the sandbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Map<String, Value>>,
}

/// What the model may see of a result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shown {
    /// `unchanged`, `cleaned`, or `withheld` if it could not be scanned or cleaned.
    change: &'static str,
    /// The text for the model: the note, then the result.
    text: String,
    /// What was found and changed, with the advice that the result is untrusted data.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// The result in the shape of the original, if it was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    /// Whether it may be an attack: it contains one, or text that is invisible to the user.
    hostile: bool,
}

impl Parameters for Before {
    const METHOD: &'static str = "tool.before";
    const LANE: Lane = Lane::Work;
    type Answer = Judged;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        is_short("execution", &self.execution)?;
        at_most("`argumentNames`", self.argument_names.len(), MAX_TOOLS, "name fewer")?;
        let declared = DeclaredTool {
            kind: self.kind.map(Kind::declared),
            argument_names: self.argument_names,
            is_of_harness: of_harness(self.harness.as_deref())?,
        };
        let opened = session(server, self.session.as_deref())?;
        let of_agent = guarded(&opened)?;
        let session = of_agent.now(server)?;
        let workspace = session.guard().workspace().to_owned();
        let call =
            call(&self.name, self.mcp_server, json("arguments", &self.arguments)?, &workspace, self.cwd)?;
        let commands = declared.commands(&call).map_err(|why| not_judged(&self.name, &why))?;
        let task = of_agent.execution(&self.execution).to_owned();
        let agent = Agent::of_session(&CALLER, of_agent.agent(), session, task);
        let verdict = match denied_by_rules(server, &agent, &self.name, &commands)? {
            Some(denied) => denied,
            None => agent.before_declared(&call, &declared).map_err(|why| not_judged(&self.name, &why))?,
        };
        if let HookVerdict::Ask(Objection { decision: Some(asked), .. }) = &verdict {
            opened.ask((**asked).clone());
        }
        Ok(Json::of(&Judged::of(&agent, verdict)))
    }
}

impl Parameters for Answer {
    const METHOD: &'static str = "tool.answer";
    const LANE: Lane = Lane::Work;
    type Answer = Answered;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let opened = session(server, self.session.as_deref())?;
        let of_agent = guarded(&opened)?.now(server)?;
        let decision = opened.answered(&self.id)?;
        let answer = match self.answer {
            ToolAnswer::Allow => "allow",
            ToolAnswer::Deny => "deny",
        };
        of_agent.record_answer(&decision, answer).map_err(|error| unrecorded(&error))?;
        Ok(Json::of(&Answered { id: decision.id }))
    }
}

impl Parameters for After {
    const METHOD: &'static str = "tool.after";
    const LANE: Lane = Lane::Work;
    type Answer = Shown;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let declared = DeclaredTool { kind: self.kind.map(Kind::declared), ..DeclaredTool::default() };
        let opened = session(server, self.session.as_deref())?;
        let of_agent = guarded(&opened)?;
        let session = of_agent.now(server)?;
        let workspace = session.guard().workspace().to_owned();
        let call = call(&self.name, self.mcp_server, Value::Object(Map::new()), &workspace, None)?;
        let agent = Agent::of_session(&CALLER, of_agent.agent(), session, String::new());
        let result = json("result", &self.result)?;
        let shown = agent.after_declared(&call, &declared, &result);
        let shown = shown.map_err(|why| not_judged(&self.name, &why))?;
        let text = match &shown.result {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        let (change, text) = match shown.change {
            ResultChange::Unchanged => ("unchanged", text),
            ResultChange::Cleaned => ("cleaned", format!("{}\n{text}", shown.note)),
            // Its shape without texts is of no use to a model.
            ResultChange::Withheld => ("withheld", shown.note.clone()),
        };
        Ok(Json::of(&Shown {
            change,
            text,
            note: Some(shown.note).filter(|note| !note.is_empty()),
            result: (shown.change != ResultChange::Unchanged).then_some(shown.result),
            hostile: shown.is_hostile,
        }))
    }
}

impl Kind {
    const fn declared(self) -> DeclaredKind {
        match self {
            Self::Shell => DeclaredKind::Shell,
            Self::Read => DeclaredKind::Read,
            Self::Write => DeclaredKind::Write,
            Self::Edit => DeclaredKind::Edit,
            Self::List => DeclaredKind::List,
            Self::Search => DeclaredKind::Search,
            Self::Fetch => DeclaredKind::Fetch,
            Self::Other => DeclaredKind::Other,
        }
    }
}

impl Judged {
    fn of(agent: &Agent<'_>, verdict: HookVerdict) -> Self {
        match verdict {
            HookVerdict::Silent => Self { decision: "allow", ..Self::default() },
            HookVerdict::Ask(why) => Self::stopped("ask", agent, why),
            HookVerdict::Deny(why) => Self::stopped("deny", agent, why),
            HookVerdict::Rewrite(Value::Object(arguments)) => {
                Self { decision: "allow", arguments: Some(arguments), ..Self::default() }
            }
            HookVerdict::Rewrite(_) => Self::denied("the rewritten arguments are not an object".to_owned()),
        }
    }

    fn stopped(decision: &'static str, agent: &Agent<'_>, why: Objection) -> Self {
        let Objection { text, decision: by, .. } = why;
        let Some(by) = by else {
            let reason = text.strip_prefix("stockade: ").unwrap_or(&text).to_owned();
            return Self { decision, reason: Some(reason), message: Some(text), ..Self::default() };
        };
        Self {
            decision,
            reason: Some(by.reason.clone()),
            message: Some(text),
            rule: Some(by.rule.name().to_owned()),
            layer: Some(by.layer.name()),
            fix: agent.fix(&by),
            id: Some(by.id),
            arguments: None,
        }
    }

    fn denied(reason: String) -> Self {
        let message = Some(format!("stockade: {reason}"));
        Self { decision: "deny", reason: Some(reason), message, ..Self::default() }
    }
}

/// Returns a value of the request. Parsers disagree about duplicate keys, so these are an error.
fn json(what: &str, text: &RawValue) -> Result<Value, Fault> {
    let wrong = |why: &dyn std::fmt::Display| Fault::parameters(format!("`{what}`: {why}"));
    parse(text.get(), Format::Json, text.get().len()).map_err(|error| wrong(&error))?;
    serde_json::from_str(text.get()).map_err(|error| wrong(&error))
}

fn of_harness(name: Option<&str>) -> Result<bool, Fault> {
    let Some(name) = name else { return Ok(false) };
    let unknown = || Fault::unknown("harness", name, HARNESSES.iter().map(|harness| harness.name));
    Harness::named(name).map(|_| true).ok_or_else(unknown)
}

fn call(
    name: &str,
    server: Option<String>,
    input: Value,
    workspace: &Path,
    cwd: Option<PathBuf>,
) -> Result<ToolCall, Fault> {
    if name.is_empty() {
        return Err(Fault::parameters("`name` is empty"));
    }
    is_short("name", name)?;
    is_short("mcpServer", server.as_deref().unwrap_or_default())?;
    if !input.is_object() {
        return Err(Fault::parameters("`arguments` is not a JSON object"));
    }
    let cwd = cwd.map_or_else(|| workspace.to_owned(), |cwd| workspace.join(cwd));
    let origin = Origin { session: String::new(), cwd, workspace: workspace.to_owned() };
    let server = server.map(|server| (server, name.to_owned()));
    Ok(ToolCall { server, ..ToolCall::of(name, input, origin) })
}

/// Denies and records a call with a command that the rules of the server deny.
fn denied_by_rules(
    server: &Server,
    agent: &Agent<'_>,
    name: &str,
    commands: &[String],
) -> Result<Option<HookVerdict>, Fault> {
    for command in commands {
        let spec = SandboxSpec::new(agent.session.guard().workspace(), [command.as_str()]);
        if let Some((rule, reason)) = denied_by_server(server, command, &spec)? {
            let denied = agent.session.turn_away(name, &rule, reason, None);
            return Ok(Some(agent.stopped(&denied.map_err(|error| undecided(&error))?)));
        }
    }
    Ok(None)
}

fn session(server: &Server, name: Option<&str>) -> Result<std::sync::Arc<Session>, Fault> {
    server.session_of(name)?.ok_or_else(no_agent)
}

fn guarded(session: &Session) -> Result<&crate::guarded::Guarded, Fault> {
    session.of_agent().ok_or_else(no_agent)
}

fn no_agent() -> Fault {
    Fault::parameters("the configuration of an agent decides about tools: open a session with `agent`")
}

/// The fault where no decision is possible, which is a refusal.
fn not_judged(name: &str, why: &str) -> Fault {
    Fault::parameters(format!("the call of `{}` cannot be judged: {why}", stockade_text::escape(name)))
}
