//! What a hook is given, read strictly: whatever is not understood is an error, and an error is refused.
#![expect(clippy::disallowed_methods, reason = "asks the environment which folder is that of the project")]

use std::env;
use std::path::{Path, PathBuf};

use serde_json::Value;
use stockade_text::{Format, parse};

use super::{Harness, Moment, Payload};

/// The most bytes of what a hook is given: a whole file may be among it.
pub(crate) const MAX_PAYLOAD: usize = 16 << 20;

/// What a harness tells.
#[derive(Debug, PartialEq)]
pub(crate) enum Told {
    /// The beginning of a session, which nothing is decided about.
    Start(Origin),
    /// A tool is about to be used.
    Before(Call),
    /// A tool has brought this back.
    After(Call, Value),
    /// Something else that nothing is to be said about.
    Else,
}

/// Which session it is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) session: String,
    pub(crate) cwd: PathBuf,
    /// The folder of the project.
    pub(crate) workspace: PathBuf,
}

/// A use of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    /// What the harness calls this moment.
    pub(crate) event: String,
    /// What the harness calls the tool.
    pub(crate) tool: String,
    /// The server that the tool comes from and its name there, where the harness says so.
    pub(crate) server: Option<(String, String)>,
    /// Its arguments: a table.
    pub(crate) input: Value,
    pub(crate) origin: Origin,
}

/// Reads what a hook was given.
pub(crate) fn read(harness: &Harness, bytes: &[u8]) -> Result<Told, String> {
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
    let server = server(&payload);
    let call = Call { event, tool, server, input, origin };
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
const TOOL_MEMBERS: &[&str] = &["tool_name", "toolName", "tool_input", "toolArgs", "tool_call", "preToolUse"];
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

/// The server of a tool and the name that it has there.
fn server(payload: &Value) -> Option<(String, String)> {
    let context = payload.get("mcp_context")?;
    let (server, tool) = (context.get("server_name")?.as_str()?, context.get("tool_name")?.as_str()?);
    Some((server.to_owned(), tool.to_owned()))
}

fn origin(harness: &Harness, payload: &Value) -> Result<Origin, String> {
    let session = text(payload, &["session_id", "sessionId", "taskId", "conversation_id", "trajectory_id"])?;
    let roots = payload.get("workspaceRoots").or_else(|| payload.get("workspace_roots"));
    let root = match roots {
        Some(Value::Array(roots)) => roots.first().and_then(Value::as_str).filter(|root| !root.is_empty()),
        _ => None,
    };
    let beside = if harness.payload == Payload::Windsurf { payload.get("tool_info") } else { None };
    let told = text(beside.unwrap_or(payload), &["cwd"])?.filter(|cwd| !cwd.is_empty()).map(PathBuf::from);
    let here = || env::current_dir().map_err(|error| format!("the folder it runs in is gone: {error}"));
    let cwd = match (told, root) {
        (Some(cwd), _) => cwd,
        (None, Some(root)) => root.into(),
        (None, None) => here()?,
    };
    let cwd = if cwd.is_absolute() { cwd } else { here()?.join(cwd) };
    let variables = harness.project_variables.iter().filter_map(env::var_os).map(PathBuf::from);
    let project = variables.chain(root.map(PathBuf::from)).find(|project| contains(project, &cwd));
    let workspace = project.unwrap_or_else(|| cwd.clone());
    Ok(Origin { session: session.unwrap_or_default(), cwd, workspace })
}

/// Whether a folder is the project that another one lies in. A project of `/` would be everything.
fn contains(project: &Path, cwd: &Path) -> bool {
    project.is_absolute() && project.parent().is_some() && cwd.starts_with(project)
}

/// The text of the first of these members that there is. Something else in its place is an error.
fn text(payload: &Value, names: &[&str]) -> Result<Option<String>, String> {
    match names.iter().find_map(|name| Some((name, payload.get(name)?))) {
        Some((_, Value::String(text))) => Ok(Some(text.clone())),
        Some((_, Value::Null)) | None => Ok(None),
        Some((name, _)) => Err(format!("`{name}` is no text")),
    }
}
