//! What a hook is given, read strictly: whatever is not understood is an error, and an error is refused.
#![expect(
    clippy::disallowed_methods,
    reason = "asks which folder is that of the project, and where it really is"
)]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use stockade_text::{Format, escape_path, parse};

use super::{Harness, Moment, Payload};

/// The most bytes of what a hook is given: a whole file may be among it.
pub const MAX_PAYLOAD: usize = 16 << 20;

/// What a harness tells.
#[derive(Debug, PartialEq)]
pub enum Told {
    /// The beginning of a session, which nothing is decided about.
    Start(Origin),
    /// A tool is about to be used.
    Before(ToolCall),
    /// A tool has brought this back.
    After(ToolCall, Value),
    /// Something else that nothing is to be said about.
    Else,
}

/// Which session it is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// The session, as the harness names it; empty where it names none.
    pub session: String,
    /// The folder in which the tool works.
    pub cwd: PathBuf,
    /// The folder of the project.
    pub workspace: PathBuf,
}

/// A use of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// What the harness calls this moment.
    pub event: String,
    /// What the harness calls the tool.
    pub tool: String,
    /// The server that the tool comes from and its name there, where the harness says that it comes from one.
    pub server: Option<(String, String)>,
    /// Its arguments: a table.
    pub input: Value,
    /// Where the call comes from.
    pub origin: Origin,
}

impl ToolCall {
    /// The name by which rules know a tool of a server is the same in all harnesses that say whose it is.
    pub(super) fn name(&self) -> String {
        match &self.server {
            Some((server, tool)) => format!("mcp__{server}__{tool}"),
            None => self.tool.clone(),
        }
    }
}

/// Reads what a hook was given.
pub fn read(harness: &Harness, bytes: &[u8]) -> Result<Told, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is no text".to_owned())?;
    // A key that is given twice may mean one thing here and another one there.
    parse(text, Format::Json, MAX_PAYLOAD).map_err(|error| format!("it is no JSON: {error}"))?;
    let payload: Value = serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
    if !payload.is_object() {
        return Err("it is no table".to_owned());
    }
    let (event, moment) = moment(harness, &payload)?;
    let origin = origin(harness, &payload)?;
    let Some(moment) = moment else { return Ok(Told::Else) };
    if moment == Moment::Start {
        return Ok(Told::Start(origin));
    }
    let (tool, input) = tool(harness, &payload, &event)?;
    let server = server(harness, &payload, &event, &tool)?;
    let call = ToolCall { event, tool, server, input, origin };
    Ok(match moment {
        Moment::After => Told::After(call, result(&payload)),
        _ => Told::Before(call),
    })
}

/// The event and its moment; no moment where a harness has events that nothing is to be said about.
fn moment(harness: &Harness, payload: &Value) -> Result<(String, Option<Moment>), String> {
    let named = match harness.payload {
        Payload::Windsurf => text(payload, &["agent_action_name"])?,
        Payload::Camel | Payload::Cline => None,
        Payload::Named | Payload::Cursor => text(payload, &["hook_event_name"])?,
    };
    let has = |names: &[&str]| names.iter().any(|name| payload.get(name).is_some());
    let moment = match &named {
        Some(event) => harness.moment(event).or_else(|| has(TOOL_MEMBERS).then_some(Moment::Before)),
        None if has(RESULTS) || has(&["postToolUse", "tool_result"]) => Some(Moment::After),
        None if has(TOOL_MEMBERS) => Some(Moment::Before),
        None if harness.payload == Payload::Camel => Some(Moment::Start),
        None => return Err("it does not say what is about to happen".to_owned()),
    };
    let event = named.or_else(|| Some(harness.events_of(moment?).next()?.to_owned()));
    Ok((event.unwrap_or_default(), moment))
}

/// What says that it is about a tool.
const TOOL_MEMBERS: &[&str] =
    &["tool_name", "toolName", "tool_input", "toolArgs", "tool_call", "preToolUse", "tool_info"];
/// Where the result of a tool is.
const RESULTS: &[&str] = &["tool_response", "toolResult", "tool_output", "result_json"];

fn result(payload: &Value) -> Value {
    let found = RESULTS.iter().find_map(|name| payload.get(name));
    found.cloned().unwrap_or(Value::Null)
}

/// The tool and its arguments.
fn tool(harness: &Harness, payload: &Value, event: &str) -> Result<(String, Value), String> {
    let named = |name: Option<String>, input: Option<&Value>| {
        let name = name.filter(|name| !name.is_empty()).ok_or("it names no tool")?;
        Ok((name, table(input)?))
    };
    match harness.payload {
        Payload::Named => named(text(payload, &["tool_name"])?, payload.get("tool_input")),
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
        // The arguments stand beside the event, which is the name of the tool.
        Payload::Cursor => Ok((event.to_owned(), payload.clone())),
        Payload::Windsurf if event == "pre_mcp_tool_use" => {
            let call = payload.get("tool_info").unwrap_or(&Value::Null);
            named(text(call, &["mcp_tool_name"])?, call.get("mcp_tool_arguments"))
        }
        Payload::Windsurf => Ok((event.to_owned(), table(payload.get("tool_info"))?)),
    }
}

/// The arguments of a tool: a table, or JSON of one.
fn table(input: Option<&Value>) -> Result<Value, String> {
    let no = || "the arguments of the tool are no table".to_owned();
    let read = match input {
        Some(Value::String(text)) => {
            parse(text, Format::Json, MAX_PAYLOAD).map_err(|_| no())?;
            serde_json::from_str(text).map_err(|_| no())?
        }
        Some(input) => input.clone(),
        None => return Err("it has no arguments of the tool".to_owned()),
    };
    if read.is_object() { Ok(read) } else { Err(no()) }
}

/// The events that are about tools of servers alone. Such a tool may be called as one of the harness itself is.
const OF_SERVERS: &[&str] = &["beforeMCPExecution", "pre_mcp_tool_use"];

/// The server of a tool and the name that it has there. Where it is not said which server, it stands as one that is called as the
/// harness is.
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
    Ok(said("mcp_context", "server_name")?.zip(said("mcp_context", "tool_name")?))
}

fn origin(harness: &Harness, payload: &Value) -> Result<Origin, String> {
    let session = text(payload, &["session_id", "sessionId", "taskId", "conversation_id", "trajectory_id"])?;
    let roots = payload.get("workspaceRoots").or_else(|| payload.get("workspace_roots"));
    let roots = roots.and_then(Value::as_array).into_iter().flatten();
    let roots = roots.filter_map(Value::as_str).filter(|root| !root.is_empty()).map(PathBuf::from);
    let variables = harness.project_variables.iter().filter_map(env::var_os).map(PathBuf::from);
    let project = variables.chain(roots).find(|project| is_project(project));
    let here = || env::current_dir().map_err(|error| format!("the folder it runs in is gone: {error}"));
    // Where the arguments of the tool stand beside the event or in its place, the folder among them is one that the model wrote.
    let (told, is_argument) = match harness.payload {
        Payload::Windsurf => (payload.get("tool_info"), true),
        Payload::Cursor => (Some(payload), true),
        _ => (Some(payload), false),
    };
    let told = text(told.unwrap_or(&Value::Null), &["cwd"])?.filter(|cwd| !cwd.is_empty()).map(PathBuf::from);
    let workspace = match (project, &told) {
        (Some(project), _) => project,
        (None, Some(cwd)) if !is_argument => here()?.join(cwd),
        (None, _) => here()?,
    };
    if !is_project(&workspace) {
        return Err(format!("{} is no folder of a project", escape_path(&workspace)));
    }
    let cwd = told.map_or_else(|| workspace.clone(), |cwd| workspace.join(cwd));
    Ok(Origin { session: session.unwrap_or_default(), cwd, workspace })
}

/// Whether a folder may be that of a project. One of `/` would be everything, whatever link or `..` leads there.
fn is_project(folder: &Path) -> bool {
    let real = fs::canonicalize(folder);
    folder.is_absolute() && real.as_deref().unwrap_or(folder).parent().is_some()
}

/// The text of the first of these members that there is. Something else in its place is an error.
fn text(payload: &Value, names: &[&str]) -> Result<Option<String>, String> {
    match names.iter().find_map(|name| Some((name, payload.get(name)?))) {
        Some((_, Value::String(text))) => Ok(Some(text.clone())),
        Some((_, Value::Null)) | None => Ok(None),
        Some((name, _)) => Err(format!("`{name}` is no text")),
    }
}
