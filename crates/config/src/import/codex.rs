//! Codex: `config.toml`.

use serde_json::json;

use super::{Json, Row, nothing, value};

pub(super) const ROWS: &[Row] = &[
    value("sandbox_mode", "agents.<id>.skills.execSandbox.mode", mode),
    value("approval_policy", "agents.<id>.commands.unmatched", unmatched),
    value("sandbox_workspace_write.network_access", "agents.<id>.skills.execSandbox.network", network),
    nothing(
        "sandbox_workspace_write.writable_roots",
        "a command writes to its workspace only: run it in that directory, or in one above both",
    ),
    nothing(
        "sandbox_workspace_write.exclude_tmpdir_env_var",
        "each command has a private temporary directory, which no setting changes",
    ),
    nothing(
        "sandbox_workspace_write.exclude_slash_tmp",
        "each command has a private /tmp, which no setting changes",
    ),
    nothing(
        "shell_environment_policy",
        "commands get the variables that tools need and no credentials: `stockade exec --env NAME` adds one",
    ),
    nothing("mcp_servers", "`stockade mcp` puts a server into a sandbox: see the page about MCP servers"),
    nothing("projects", "no directory is trusted for its name: a project can only narrow what you allow"),
    nothing("profiles", "import a profile as a file of its own, for the agent that it is for"),
];

fn mode(value: &Json) -> Result<Json, &'static str> {
    match value.as_str() {
        Some("read-only" | "workspace-write" | "danger-full-access") => Ok(value.clone()),
        _ => Err("it is not one of the three modes"),
    }
}

fn unmatched(value: &Json) -> Result<Json, &'static str> {
    match value.as_str() {
        Some("untrusted") => Ok(json!("ask")),
        Some("on-request" | "on-failure") => Ok(json!("sandbox")),
        Some("never") => Err("without a user to ask, a command that needs an answer is refused"),
        _ => Err("it is not one of the known policies"),
    }
}

fn network(value: &Json) -> Result<Json, &'static str> {
    match value.as_bool() {
        Some(true) => Ok(json!("open")),
        Some(false) => Ok(json!("none")),
        None => Err("it is neither true nor false"),
    }
}
