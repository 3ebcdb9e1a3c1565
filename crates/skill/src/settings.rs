//! Commands that a file beside a skill starts: hooks, tool servers, installer scripts.
//!
//! A file is examined for its name if some program obeys that name, and in any known format for its content: a plugin
//! may name its settings freely, and a skill may tell a model to copy them.

mod comments;

use stockade_shell::quote_argv;
use stockade_text::{Format, Node, TableEntry, TextPosition, Value, parse};

use comments::without_comments;

use crate::surface::{MAX_SURFACES, SurfaceKind, commands_below};

/// Maximum size of a file that is examined.
const MAX_BYTES: usize = 1 << 20;

/// Something that settings start.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingsSurface {
    /// Its kind.
    pub kind: SurfaceKind,
    /// Its text.
    pub text: String,
    /// The line, from 1.
    pub line: usize,
    /// Whether the text is a command to be judged.
    pub is_command: bool,
}

/// Settings that some program obeys and that could not be parsed, so that their effect is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnreadableSettings {
    /// The line where parsing failed, from 1.
    pub line: usize,
    /// The reason.
    pub reason: String,
}

/// How a key's value names what is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A tree with commands in it.
    Hooks,
    /// A table of servers, each with a command and its arguments, or an address.
    Servers,
    /// The same, but not as a list: other documents contain lists of other servers.
    ServerTable,
    /// A string that is run, or a table that contains one.
    Command,
    /// A list of tools that are allowed without a question.
    Tools,
}

/// Top-level keys of settings, of any program.
const KEYS: &[(&str, Shape)] = &[
    ("hooks", Shape::Hooks),
    ("mcpServers", Shape::Servers),
    ("mcp_servers", Shape::Servers),
    ("context_servers", Shape::Servers),
    ("servers", Shape::ServerTable),
    ("mcp", Shape::ServerTable),
    ("lspServers", Shape::Servers),
    ("statusLine", Shape::Command),
    ("apiKeyHelper", Shape::Command),
    ("awsAuthRefresh", Shape::Command),
    ("awsCredentialExport", Shape::Command),
    ("otelHeadersHelper", Shape::Command),
    ("initializeCommand", Shape::Command),
    ("onCreateCommand", Shape::Command),
    ("updateContentCommand", Shape::Command),
    ("postCreateCommand", Shape::Command),
    ("postStartCommand", Shape::Command),
    ("postAttachCommand", Shape::Command),
    ("permissions", Shape::Tools),
];

/// Package manifests whose scripts run on installation: path suffixes, the key, and the scripts.
const INSTALLERS: &[(&str, &[&str])] = &[
    (
        "package.json",
        &[
            "preinstall",
            "install",
            "postinstall",
            "preprepare",
            "prepare",
            "postprepare",
            "prepublish",
            "dependencies",
            "pnpm:devPreinstall",
        ],
    ),
    (
        "composer.json",
        &[
            "pre-install-cmd",
            "post-install-cmd",
            "pre-update-cmd",
            "post-update-cmd",
            "pre-autoload-dump",
            "post-autoload-dump",
            "post-root-package-install",
            "post-create-project-cmd",
        ],
    ),
];

/// Files that run when the package in their directory is installed, with the reason.
const INSTALLS: &[(&str, &str)] = &[
    ("setup.py", "pip runs it to install the package"),
    ("binding.gyp", "npm compiles what it names to install the package"),
    ("extconf.rb", "gem runs it to install the package"),
    ("build.rs", "cargo runs it to compile the package"),
];

/// Keys that contain a command in a tree of hooks. In a file that no program obeys by name, only these count.
const COMMAND_KEYS: &[&str] =
    &["command", "commands", "cmd", "bash", "powershell", "shell", "run", "exec", "script"];

/// Returns what a file starts. `path` is relative to the skill; `is_obeyed` is true if some program obeys the file
/// for its name.
///
/// # Errors
/// When the file is obeyed for its name and cannot be parsed.
pub fn settings_surfaces(
    path: &str,
    text: &str,
    is_obeyed: bool,
) -> Result<Vec<SettingsSurface>, UnreadableSettings> {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path).to_ascii_lowercase();
    let mut found = Vec::new();
    if let Some((_, why)) = INSTALLS.iter().find(|(name, _)| *name == file) {
        found.push(SettingsSurface {
            kind: SurfaceKind::Installer,
            text: (*why).to_owned(),
            line: 1,
            is_command: false,
        });
    }
    if file.ends_with(".pth") {
        found.extend(startup_lines(text));
    }
    let is_installer = INSTALLERS.iter().any(|(name, _)| *name == file);
    let is_read = is_obeyed || is_named(&file);
    let Some(format) = format_of(&file).filter(|_| is_read || is_installer || may_start(text)) else {
        return Ok(found);
    };
    let document = match read(text, format) {
        Ok(document) => document,
        Err(_) if !is_obeyed && !is_installer => return Ok(found),
        Err(unreadable) => return Err(unreadable),
    };
    let mut search = Search { is_obeyed: is_read, found };
    if let Value::Table(entries) = &document.value {
        entries.iter().for_each(|entry| search.key(entry));
        let backend =
            document.value.get("build-system").and_then(|entry| entry.node.value.get("backend-path"));
        if let Some(backend) = backend.filter(|_| file == "pyproject.toml") {
            let why = "pip runs the backend in this folder to install the package".to_owned();
            search.push(SurfaceKind::Installer, why, backend.at, false);
        }
        if let Some((_, scripts)) = INSTALLERS.iter().find(|(name, _)| *name == file) {
            search.installer(&document.value, scripts);
        }
    }
    Ok(search.found)
}

/// Usual names of plugin settings; their own directory is not in the table of names.
fn is_named(file: &str) -> bool {
    [
        "hooks.json",
        "plugin.json",
        "mcp.json",
        "settings.json",
        "settings.local.json",
        "mcp_config.json",
        "pyproject.toml",
    ]
    .contains(&file)
}

/// Whether a file that no program obeys by name may contain a key that counts all the same. Hardly any does, and
/// searching is much quicker than parsing. An escape may spell any key.
fn may_start(text: &str) -> bool {
    const SAID: [&str; 5] = ["hooks", "ervers", "mcp", "\\u", "\\x"];
    SAID.iter().any(|said| memchr::memmem::find(text.as_bytes(), said.as_bytes()).is_some())
}

fn format_of(file: &str) -> Option<Format> {
    let ending = file.rsplit_once('.').map(|(_, ending)| ending)?;
    match ending {
        "json" | "jsonc" | "json5" | "hook" | "code-workspace" => Some(Format::Json),
        "yaml" | "yml" => Some(Format::Yaml),
        "toml" => Some(Format::Toml),
        _ => None,
    }
}

fn read(text: &str, format: Format) -> Result<Node, UnreadableSettings> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = parse(text, format, MAX_BYTES);
    let second = match (&first, format) {
        (Err(_), Format::Json) if text.len() <= MAX_BYTES => {
            parse(&without_comments(text), format, MAX_BYTES)
        }
        _ => first,
    };
    second.map_err(|error| UnreadableSettings { line: error.at.line, reason: error.reason })
}

/// The lines of a `.pth` file that Python runs at every start with the directory on its path.
fn startup_lines(text: &str) -> Vec<SettingsSurface> {
    let lines = (1..).zip(text.lines());
    let runs = lines.filter(|(_, line)| line.starts_with("import ") || line.starts_with("import\t"));
    let surface = |(line, text): (usize, &str)| SettingsSurface {
        kind: SurfaceKind::StartsPrograms,
        text: text.to_owned(),
        line,
        is_command: false,
    };
    runs.take(MAX_SURFACES).map(surface).collect()
}

struct Search {
    is_obeyed: bool,
    found: Vec<SettingsSurface>,
}

impl Search {
    fn key(&mut self, entry: &TableEntry) {
        let Some((_, shape)) = KEYS.iter().find(|(key, _)| *key == entry.key) else { return };
        match shape {
            Shape::Hooks => self.hooks(entry),
            Shape::Servers => self.servers(entry),
            Shape::ServerTable if matches!(entry.node.value, Value::Table(_)) => self.servers(entry),
            Shape::Command if self.is_obeyed => self.commands(&entry.node, SurfaceKind::Hook),
            Shape::Tools if self.is_obeyed => self.tools(entry),
            Shape::ServerTable | Shape::Command | Shape::Tools => {}
        }
    }

    fn push(&mut self, kind: SurfaceKind, text: String, at: TextPosition, is_command: bool) {
        if self.found.len() < MAX_SURFACES && !text.trim().is_empty() {
            self.found.push(SettingsSurface { kind, text, line: at.line, is_command });
        }
    }

    fn commands(&mut self, node: &Node, kind: SurfaceKind) {
        let mut texts = Vec::new();
        commands_below(node, true, &mut texts);
        texts.into_iter().for_each(|(at, text)| self.push(kind, text, at, true));
    }

    fn hooks(&mut self, entry: &TableEntry) {
        if self.is_obeyed {
            return self.commands(&entry.node, SurfaceKind::Hook);
        }
        let mut nodes = Vec::new();
        below(&entry.node, COMMAND_KEYS, &mut nodes);
        nodes.into_iter().for_each(|node| self.commands(node, SurfaceKind::Hook));
    }

    /// A table of servers by name, or a list of them.
    fn servers(&mut self, entry: &TableEntry) {
        let servers: Vec<&Node> = match &entry.node.value {
            Value::Table(entries) => entries.iter().map(|entry| &entry.node).collect(),
            Value::List(nodes) => nodes.iter().collect(),
            _ => return,
        };
        for server in servers.into_iter().take(MAX_SURFACES) {
            let words = |key: &str| server.value.get(key).map(|entry| words(&entry.node)).unwrap_or_default();
            let mut command = words("command");
            command.extend(words("args"));
            let address = ["url", "serverUrl", "httpUrl"].iter().find_map(|key| words(key).pop());
            match (command.first(), address) {
                (Some(_), _) => self.push(SurfaceKind::Server, quoted(&command), server.at, true),
                (None, Some(address)) => self.push(SurfaceKind::Server, address, server.at, false),
                (None, None) => {}
            }
        }
    }

    /// Tools that settings allow without a question.
    fn tools(&mut self, entry: &TableEntry) {
        let Some(allowed) = entry.node.value.get("allow") else { return };
        self.push(SurfaceKind::ToolList, words(&allowed.node).join(" "), allowed.at, false);
    }

    fn installer(&mut self, document: &Value, scripts: &[&str]) {
        let Some(entry) = document.get("scripts") else { return };
        let Value::Table(entries) = &entry.node.value else { return };
        for script in entries.iter().filter(|script| scripts.contains(&script.key.as_str())) {
            self.commands(&script.node, SurfaceKind::Installer);
        }
    }
}

/// Collects the values of any of the keys, at any depth.
fn below<'n>(node: &'n Node, keys: &[&str], found: &mut Vec<&'n Node>) {
    match &node.value {
        Value::List(nodes) => nodes.iter().for_each(|node| below(node, keys, found)),
        Value::Table(entries) => {
            for entry in entries {
                match keys.contains(&entry.key.as_str()) {
                    true => found.push(&entry.node),
                    false => below(&entry.node, keys, found),
                }
            }
        }
        _ => {}
    }
}

/// A string, or a list of strings.
fn words(node: &Node) -> Vec<String> {
    match &node.value {
        Value::List(nodes) => nodes.iter().filter_map(|node| node.value.words()).map(str::to_owned).collect(),
        value => value.words().map(str::to_owned).into_iter().collect(),
    }
}

/// Quotes words into a command line that a shell splits into the same words. A program with its arguments in one
/// string is left as is.
fn quoted(words: &[String]) -> String {
    match words {
        [only] => only.clone(),
        words => quote_argv(words.iter().map(String::as_str)),
    }
}

#[cfg(test)]
mod tests;
