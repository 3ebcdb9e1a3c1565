//! Claude Code: `settings.json`.

use serde_json::json;
use stockade_command::rules::{ClaudeSettingsError, ImportedRules};

use super::{FileSource, Here, ImportError, Json, Reader, Row, absolute, entries, nothing, value};

const HOSTS: &str = "agents.<id>.allowedNetHosts";
const DENY_READ: &str = "agents.<id>.files.denyRead";
const DENY_WRITE: &str = "agents.<id>.files.denyWrite";

pub(super) const ROWS: &[Row] = &[
    Row { theirs: "permissions.allow", here: Here::Rule },
    Row { theirs: "permissions.ask", here: Here::Rule },
    Row { theirs: "permissions.deny", here: Here::Rule },
    nothing("permissions.defaultMode", "`commands.unmatched` and `files.writes` decide what no rule matches"),
    nothing(
        "permissions.disableBypassPermissionsMode",
        "no mode of Claude Code switches the hook off, so there is nothing to disable",
    ),
    nothing(
        "permissions.additionalDirectories",
        "a command writes to its workspace only: `readOnlyAllowPaths` makes other directories readable",
    ),
    value("sandbox.enabled", "agents.<id>.skills.execSandbox.enabled", enabled),
    value("sandbox.failIfUnavailable", "agents.<id>.skills.execSandbox.onUnavailable", unavailable),
    entries("sandbox.excludedCommands", "agents.<id>.skills.execSandbox.excludedCommands", words),
    nothing("sandbox.autoAllowBashIfSandboxed", "it is so: commands in the sandbox are not asked about"),
    nothing(
        "sandbox.allowUnsandboxedCommands",
        "only `excludedCommands` run outside, whatever an agent asks for",
    ),
    nothing(
        "sandbox.enableWeakerNestedSandbox",
        "`backend` chooses a sandbox, and `stockade doctor` tells which ones work here",
    ),
    entries("sandbox.network.allowedDomains", HOSTS, host),
    entries("sandbox.network.deniedDomains", HOSTS, denied_host),
    nothing(
        "sandbox.network.allowUnixSockets",
        "sockets of other programs stay outside, since most of them run commands for who asks",
    ),
    nothing(
        "sandbox.network.allowLocalBinding",
        "it is so: each command has a loopback interface of its own",
    ),
    nothing("sandbox.network.httpProxyPort", "`security.permission.upstreamProxy` names a proxy"),
    nothing("sandbox.network.socksProxyPort", "`security.permission.upstreamProxy` names a proxy"),
    entries("sandbox.filesystem.denyRead", DENY_READ, absolute),
    entries("sandbox.filesystem.denyWrite", DENY_WRITE, absolute),
    entries("sandbox.filesystem.allowRead", "agents.<id>.skills.execSandbox.readOnlyAllowPaths", absolute),
    nothing(
        "sandbox.filesystem.allowWrite",
        "a command writes to its workspace only: `readOnlyAllowPaths` makes other directories readable",
    ),
    nothing("hooks", "`stockade install claude` adds its hook and keeps yours"),
    nothing("env", "set variables where you start Claude Code: commands get what tools need"),
];

fn enabled(value: &Json) -> Result<Json, &'static str> {
    match value.as_bool() {
        Some(true) => Ok(json!("always")),
        _ => Err("commands run in a sandbox unless you set `execSandbox.enabled` to `never` yourself"),
    }
}

fn unavailable(value: &Json) -> Result<Json, &'static str> {
    match value.as_bool() {
        Some(true) => Ok(json!("refuse")),
        _ => Err("a command without a sandbox is refused unless you set `onUnavailable` yourself"),
    }
}

fn words(text: &str, _: &FileSource<'_>) -> Result<String, &'static str> {
    let words = text.strip_suffix(":*").or_else(|| text.strip_suffix(" *")).unwrap_or(text).trim();
    if words.is_empty() || words.contains('*') {
        return Err("a `*` within the words would exclude more than it names");
    }
    Ok(words.to_owned())
}

fn host(text: &str, _: &FileSource<'_>) -> Result<String, &'static str> {
    let name = text.strip_prefix("*.").unwrap_or(text);
    let is_name =
        name.contains('.') && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:".contains(&byte));
    if is_name { Ok(text.to_owned()) } else { Err("it is no name of a host, nor `*.` and a name") }
}

fn denied_host(text: &str, source: &FileSource<'_>) -> Result<String, &'static str> {
    host(text, source).map(|host| format!("!{host}"))
}

/// A pattern of a path: `//` begins at the root, `~/` at home, and everything else in the workspace.
fn pattern(text: &str, source: &FileSource<'_>) -> Result<String, &'static str> {
    if text.split('/').any(|name| name == "..") {
        return Err("the pattern leads out of the workspace");
    }
    if let Some(rest) = text.strip_prefix("~/") {
        return source.home.join(rest).to_str().map(str::to_owned).ok_or("the home directory is no text");
    }
    if let Some(rest) = text.strip_prefix("//") {
        return Ok(format!("/{rest}"));
    }
    // At the beginning, both mean the directory of the project.
    let within = text.strip_prefix("./").or_else(|| text.strip_prefix('/')).unwrap_or(text);
    if within.is_empty() { Err("it names no path") } else { Ok(within.to_owned()) }
}

impl Reader<'_> {
    /// Reads the lists of permissions: rules for commands, and entries about paths and hosts.
    pub(super) fn permissions(&mut self, document: &Json, text: &str) -> Result<(), ImportError> {
        let read = match ImportedRules::from_claude_settings(text) {
            Err(ClaudeSettingsError::NoPermissions) if document.get("permissions").is_none() => return Ok(()),
            read => read.map_err(|error| ImportError::Rules(error.to_string()))?,
        };
        self.found.rules.extend(read.rules);
        for note in read.notes {
            // Keys beside the lists have rows of their own.
            let Some((list, entry)) = note.entry.split_once(' ') else { continue };
            match self.of_other_tool(list, entry) {
                Some(Ok((key, value))) => self.set(key, &note.entry, json!([value])),
                Some(Err(why)) => self.leave_out(&note.entry, why),
                None => self.found.notes.push(note),
            }
        }
        Ok(())
    }

    /// What an entry about a path or a host is here, or why there is nothing.
    fn of_other_tool(&self, list: &str, entry: &str) -> Option<Result<(&'static str, String), &'static str>> {
        let (tool, rest) = entry.split_once('(')?;
        let inner = rest.strip_suffix(')')?;
        let found = match (list, tool) {
            ("deny", "Read") => pattern(inner, &self.source).map(|path| (DENY_READ, path)),
            ("deny", "Edit" | "Write" | "MultiEdit") => {
                pattern(inner, &self.source).map(|path| (DENY_WRITE, path))
            }
            ("allow", "Read" | "Edit" | "Write" | "MultiEdit") => Err(
                "paths in the workspace are allowed; `files.allowRead` and `files.allowWrite` name others",
            ),
            ("ask", "Read" | "Edit" | "Write" | "MultiEdit") => {
                Err("`files.reads` and `files.writes` ask about what no glob matches")
            }
            ("allow" | "deny", "WebFetch") => {
                let host = inner.strip_prefix("domain:").ok_or("it names no domain");
                let read = if list == "allow" { host_of } else { denied_host };
                host.and_then(|host| read(host, &self.source)).map(|host| (HOSTS, host))
            }
            _ => return None,
        };
        Some(found)
    }
}

use host as host_of;
