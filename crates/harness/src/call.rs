//! Strict parser of hook calls: everything unknown is an error, and an error is a refusal.
#![expect(
    clippy::disallowed_methods,
    reason = "asks which folder is that of the project, and where it really is"
)]

use std::env;
use std::path::{Path, PathBuf};

use serde_json::Value;
use stockade_files::real_path;
use stockade_text::{Format, escape_path, parse};

use super::{Harness, Moment, Payload};

/// Maximum size of a hook call in bytes, which may contain a whole file.
pub const MAX_PAYLOAD: usize = 16 << 20;

/// The content of a hook call, by its moment.
#[derive(Debug, PartialEq)]
pub enum HookEvent {
    /// A session starts, which needs no decision.
    Start(Origin),
    /// A tool is about to be used.
    Before(ToolCall),
    /// A tool has returned this result.
    After(ToolCall, Value),
    /// Another event, which needs no answer.
    Other,
}

/// Session and directories of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// The session id of the harness; empty if it has none.
    pub session: String,
    /// Working directory of the tool.
    pub cwd: PathBuf,
    /// Directory of the project.
    pub workspace: PathBuf,
}

/// A tool that is about to be used, with its arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The harness's name of the event.
    pub event: String,
    /// The harness's name of the tool.
    pub tool: String,
    /// MCP server and name of the tool there, if the harness reports that it comes from a server.
    pub server: Option<(String, String)>,
    /// The arguments: an object.
    pub input: Value,
    /// Session and directories.
    pub origin: Origin,
}

impl ToolCall {
    /// Returns a call of a tool that comes from no server. `input` is an object.
    #[must_use]
    pub fn of(tool: &str, input: Value, origin: Origin) -> Self {
        Self { event: String::new(), tool: tool.to_owned(), server: None, input, origin }
    }

    /// Returns the name of a server's tool in rules, which is the same in all harnesses that report the server.
    pub(super) fn name(&self) -> String {
        match &self.server {
            Some((server, tool)) => format!("mcp__{server}__{tool}"),
            None => self.tool.clone(),
        }
    }
}

/// Parses a hook call.
pub fn read(harness: &Harness, bytes: &[u8]) -> Result<HookEvent, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not valid UTF-8".to_owned())?;
    // Parsers disagree about duplicate keys.
    parse(text, Format::Json, MAX_PAYLOAD).map_err(|error| format!("invalid JSON: {error}"))?;
    let payload: Value = serde_json::from_str(text).map_err(|error| format!("invalid JSON: {error}"))?;
    if !payload.is_object() {
        return Err("it is not a JSON object".to_owned());
    }
    let (event, moment) = moment(harness, &payload)?;
    let origin = origin(harness, &payload)?;
    let Some(moment) = moment else { return Ok(HookEvent::Other) };
    if moment == Moment::Start {
        return Ok(HookEvent::Start(origin));
    }
    let (tool, input) = tool(harness, &payload, &event)?;
    let server = server(harness, &payload, &event, &tool)?;
    let call = ToolCall { event, tool, server, input, origin };
    Ok(match moment {
        Moment::After => HookEvent::After(call, result(&payload)),
        _ => HookEvent::Before(call),
    })
}

/// Returns the event and its moment; no moment for an event that needs no answer.
fn moment(harness: &Harness, payload: &Value) -> Result<(String, Option<Moment>), String> {
    let named = match harness.payload {
        Payload::Windsurf => text(payload, &["agent_action_name"])?,
        Payload::Event => text(payload, &["event"])?,
        Payload::Camel | Payload::Cline | Payload::Antigravity => None,
        Payload::Named | Payload::Cursor => text(payload, &["hook_event_name"])?,
    };
    let has = |names: &[&str]| names.iter().any(|name| payload.get(name).is_some());
    let moment = match &named {
        Some(event) => harness.moment(event).or_else(|| has(TOOL_MEMBERS).then_some(Moment::Before)),
        None if has(RESULTS) || has(&["postToolUse", "tool_result"]) => Some(Moment::After),
        None if has(TOOL_MEMBERS) => Some(Moment::Before),
        None if harness.payload == Payload::Camel => Some(Moment::Start),
        None => return Err("the payload has no event name; is `stockade hook` registered for another harness? (`stockade status`)".to_owned()),
    };
    let event = named.or_else(|| Some(harness.events_of(moment?).next()?.to_owned()));
    Ok((event.unwrap_or_default(), moment))
}

/// Members that identify a call about a tool.
const TOOL_MEMBERS: &[&str] =
    &["tool_name", "toolName", "tool_input", "toolArgs", "tool_call", "preToolUse", "tool_info", "toolCall"];
/// Members with the result of a tool.
const RESULTS: &[&str] = &["tool_response", "toolResult", "tool_output", "result_json"];

fn result(payload: &Value) -> Value {
    let found = RESULTS.iter().find_map(|name| payload.get(name));
    found.cloned().unwrap_or(Value::Null)
}

/// Returns the tool and its arguments.
fn tool(harness: &Harness, payload: &Value, event: &str) -> Result<(String, Value), String> {
    let named = |name: Option<String>, input: Option<&Value>| {
        let name = name.filter(|name| !name.is_empty()).ok_or("the payload has no tool name")?;
        Ok((name, table(input)?))
    };
    match harness.payload {
        Payload::Named | Payload::Event => named(text(payload, &["tool_name"])?, payload.get("tool_input")),
        Payload::Antigravity => {
            let call = payload.get("toolCall").unwrap_or(&Value::Null);
            named(text(call, &["name"])?, call.get("args"))
        }
        Payload::Camel => named(text(payload, &["toolName"])?, payload.get("toolArgs")),
        Payload::Cline => match payload.get("tool_call") {
            Some(call) => named(text(call, &["name"])?, call.get("input")),
            None => {
                let call = payload.get("preToolUse").unwrap_or(&Value::Null);
                named(text(call, &["toolName", "tool"])?, call.get("parameters"))
            }
        },
        Payload::Cursor if event == "beforeMCPExecution" || event == "preToolUse" => {
            named(text(payload, &["tool_name"])?, payload.get("tool_input"))
        }
        // The event is the name of the tool, and the arguments are its siblings.
        Payload::Cursor => Ok((event.to_owned(), payload.clone())),
        Payload::Windsurf if event == "pre_mcp_tool_use" => {
            let call = payload.get("tool_info").unwrap_or(&Value::Null);
            named(text(call, &["mcp_tool_name"])?, call.get("mcp_tool_arguments"))
        }
        Payload::Windsurf => Ok((event.to_owned(), table(payload.get("tool_info"))?)),
    }
}

/// Returns the arguments of a tool: an object, or a string with a JSON object.
fn table(input: Option<&Value>) -> Result<Value, String> {
    let no = || "the tool's arguments are not a JSON object".to_owned();
    let read = match input {
        Some(Value::String(text)) => {
            parse(text, Format::Json, MAX_PAYLOAD).map_err(|_| no())?;
            serde_json::from_str(text).map_err(|_| no())?
        }
        Some(input) => input.clone(),
        None => return Err("the payload has no arguments of the tool".to_owned()),
    };
    if read.is_object() { Ok(read) } else { Err(no()) }
}

/// Events that are only about MCP tools. Such a tool may have the name of a tool of the harness.
const OF_SERVERS: &[&str] = &["beforeMCPExecution", "pre_mcp_tool_use"];

/// Returns the server of a tool and its name there. If the server is unknown, the harness's name is used as its name.
fn server(
    harness: &Harness,
    payload: &Value,
    event: &str,
    tool: &str,
) -> Result<Option<(String, String)>, String> {
    let said = |table: &str, name: &str| {
        let found = payload.get(table).map_or(Ok(None), |table| text(table, &[name]))?;
        Ok::<_, String>(found.filter(|said| !said.is_empty()))
    };
    if OF_SERVERS.contains(&event) {
        let server = said("tool_info", "mcp_server_name")?;
        return Ok(Some((server.unwrap_or_else(|| harness.name.to_owned()), tool.to_owned())));
    }
    if payload.get("is_mcp_tool").is_some_and(|is| *is != Value::Bool(false)) {
        return Ok(Some((harness.name.to_owned(), tool.to_owned())));
    }
    Ok(said("mcp_context", "server_name")?.zip(said("mcp_context", "tool_name")?))
}

fn origin(harness: &Harness, payload: &Value) -> Result<Origin, String> {
    let session = text(
        payload,
        &["session_id", "sessionId", "taskId", "conversation_id", "trajectory_id", "conversationId"],
    )?;
    let roots =
        ["workspaceRoots", "workspace_roots", "workspacePaths"].iter().find_map(|name| payload.get(name));
    let roots = roots.and_then(Value::as_array).into_iter().flatten();
    let roots = roots.filter_map(Value::as_str).filter(|root| !root.is_empty()).map(PathBuf::from);
    let variables = harness.project_variables.iter().filter_map(env::var_os).map(PathBuf::from);
    let project = variables.chain(roots).find(|project| is_project(project));
    let here = || env::current_dir().map_err(|error| format!("the current directory was deleted: {error}"));
    // Where arguments are siblings of the event or replace it, the model may have written the directory among them.
    let (told, is_argument) = match harness.payload {
        Payload::Windsurf => (payload.get("tool_info"), true),
        Payload::Cursor => (Some(payload), true),
        _ => (Some(payload), false),
    };
    let told = text(told.unwrap_or(&Value::Null), &["cwd", "working_dir"])?
        .filter(|cwd| !cwd.is_empty())
        .map(PathBuf::from);
    let workspace = match (project, &told) {
        (Some(project), _) => project,
        (None, Some(cwd)) if !is_argument => here()?.join(cwd),
        (None, _) => here()?,
    };
    if !is_project(&workspace) {
        return Err(format!("{} is not a project directory", escape_path(&workspace)));
    }
    let cwd = told.map_or_else(|| workspace.clone(), |cwd| workspace.join(cwd));
    Ok(Origin { session: session.unwrap_or_default(), cwd, workspace })
}

/// Whether a directory can be a project. `/` would contain everything, also if a symlink or `..` resolves to it.
fn is_project(folder: &Path) -> bool {
    let real = real_path(folder);
    folder.is_absolute() && real.as_deref().unwrap_or(folder).parent().is_some()
}

/// Returns the first of these members that exists. A value that is not a string is an error.
fn text(payload: &Value, names: &[&str]) -> Result<Option<String>, String> {
    match names.iter().find_map(|name| Some((name, payload.get(name)?))) {
        Some((_, Value::String(text))) => Ok(Some(text.clone())),
        Some((_, Value::Null)) | None => Ok(None),
        Some((name, _)) => Err(format!("`{name}` is not a string")),
    }
}
