//! Surfaces: parts of a skill that run, or let something run, apart from what a model is asked to run.

use serde::Serialize;
use stockade_text::{Format, Node, TableEntry, TextPosition, Value, parse};

use crate::problem::{FilePosition, SkillProblems};
use crate::read::{MAX_HEAD_BYTES, PRODUCTS};

/// Maximum number of surfaces of each kind.
pub const MAX_SURFACES: usize = 500;

/// Maximum number of characters of a surface's text in messages and lists.
pub const MAX_SURFACE_CHARS: usize = 200;

/// Kind of a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum SurfaceKind {
    /// A command in the text that runs when the skill is loaded.
    Command,
    /// A command that runs on events of the harness.
    Hook,
    /// A dependency to be installed first.
    Installer,
    /// The skill's command calls a tool without asking a model.
    Dispatch,
    /// Tools that the skill wants to use without a question. They are not granted: the list only narrows.
    ToolList,
    /// A program among the skill's files.
    Script,
    /// A file that some program of the host obeys because of its name: editor settings, git hooks.
    StartsPrograms,
    /// A file that agents take as instructions because of its name, other than the skill itself.
    InstructsAgents,
    /// A tool server that the harness starts, or connects to.
    Server,
    /// A compiled program or library.
    MachineCode,
    /// Code compiled for an interpreter, unreadable for a person.
    Bytecode,
    /// An archive whose content was not examined.
    Archive,
}

impl SurfaceKind {
    /// Whether the content cannot be read as text.
    #[must_use]
    pub const fn is_opaque(self) -> bool {
        matches!(self, Self::MachineCode | Self::Bytecode | Self::Archive)
    }

    /// Returns a word for display.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Command => "command on load",
            Self::Hook => "hook",
            Self::Installer => "installer",
            Self::Dispatch => "dispatch",
            Self::ToolList => "tool list",
            Self::Script => "script",
            Self::StartsPrograms => "file that starts programs",
            Self::InstructsAgents => "agent instructions",
            Self::Server => "tool server",
            Self::MachineCode => "machine code",
            Self::Bytecode => "bytecode",
            Self::Archive => "archive",
        }
    }
}

/// A surface in front matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeadSurface<'t> {
    /// Its kind.
    pub kind: SurfaceKind,
    /// Its text.
    pub text: &'t str,
    /// The line, from 1.
    pub line: usize,
    /// Whether the text is a command to be judged.
    pub is_command: bool,
}

/// Finds the surfaces in front matter and passes each to `each` in order, together with the problems found so far.
/// `path` is the display name of the file.
pub fn head_surfaces(
    head: &Value,
    path: &str,
    problems: &mut SkillProblems,
    each: &mut dyn FnMut(HeadSurface<'_>, &mut SkillProblems),
) {
    let Value::Table(entries) = head else { return };
    let mut search = Search { path, problems, each };
    for entry in entries {
        match entry.key.as_str() {
            "hooks" => search.hooks(entry),
            "allowed-tools" | "allowedTools" | "allowed_tools" => search.tool_list(entry),
            "command-dispatch" => search.dispatch(entry),
            "metadata" => search.metadata(entry),
            "comis" => {
                if let Some(inner) = entry.node.value.get("command-dispatch") {
                    search.dispatch(inner);
                }
            }
            _ => {}
        }
    }
}

/// Returns the first characters of a surface's text.
#[must_use]
pub fn first_chars(text: &str) -> String {
    text.trim().chars().take(MAX_SURFACE_CHARS).collect()
}

struct Search<'s> {
    path: &'s str,
    problems: &'s mut SkillProblems,
    each: &'s mut dyn FnMut(HeadSurface<'_>, &mut SkillProblems),
}

impl<'s> Search<'s> {
    const fn position(&self, at: TextPosition) -> FilePosition<'s> {
        FilePosition { path: self.path, at }
    }

    fn found(&mut self, kind: SurfaceKind, text: &str, at: TextPosition, is_command: bool) {
        (self.each)(HeadSurface { kind, text, line: at.line, is_command }, self.problems);
    }

    fn hooks(&mut self, entry: &TableEntry) {
        let message = "the skill hooks commands into the program that loads it";
        let fix = "let the operator register hooks, after reading what they run";
        let position = self.position(entry.at);
        self.problems.add("hook", position, message, fix);
        let mut texts = Vec::new();
        commands_below(&entry.node, true, &mut texts);
        for (at, text) in texts {
            self.found(SurfaceKind::Hook, &text, at, true);
        }
    }

    fn tool_list(&mut self, entry: &TableEntry) {
        let mut texts = Vec::new();
        commands_below(&entry.node, true, &mut texts);
        let text = texts.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" ");
        self.found(SurfaceKind::ToolList, &text, entry.at, false);
    }

    fn dispatch(&mut self, entry: &TableEntry) {
        let text = entry.node.value.words().unwrap_or_default();
        if text == "tool" {
            let message = "the skill's command calls a tool, and no model looks at it first";
            let fix = "leave `command-dispatch` out";
            let position = self.position(entry.at);
            self.problems.add("model-bypassed", position, message, fix);
        }
        self.found(SurfaceKind::Dispatch, text, entry.at, false);
    }

    fn metadata(&mut self, entry: &TableEntry) {
        let parsed = match &entry.node.value {
            Value::Text(text) => parse(text, Format::Yaml, MAX_HEAD_BYTES).ok().map(|node| node.value),
            value => Some(value.clone()),
        };
        let Some(metadata) = parsed else { return };
        for product in PRODUCTS.iter().filter_map(|name| metadata.get(name)) {
            let value = &product.node.value;
            if matches!(value.get("always").map(|entry| &entry.node.value), Some(Value::Flag(true))) {
                let message = "the skill asks to be loaded always, called for or not";
                let position = self.position(entry.at);
                self.problems.add("always-loaded", position, message, "leave `always` out");
            }
            if let Some(Value::List(installers)) = value.get("install").map(|entry| &entry.node.value) {
                installers.iter().take(MAX_SURFACES).for_each(|node| self.installer(&node.value, entry.at));
            }
        }
    }

    fn installer(&mut self, installer: &Value, at: TextPosition) {
        let text = |key: &str| installer.get(key).and_then(|entry| entry.node.value.words());
        let url = text("url").unwrap_or_default();
        let checked = text("sha256").is_some_and(|digest| digest.len() == 64) && url.starts_with("https://");
        if text("kind") == Some("download") && !checked {
            let message = format_args!("`{}` is downloaded without a checksum", first_chars(url));
            let fix = "give an address of https, and the `sha256` of the file";
            let position = self.position(at);
            self.problems.add("unverified-download", position, message, fix);
        }
        let what =
            ["formula", "package", "module", "url"].iter().find_map(|key| text(key)).unwrap_or_default();
        let shown = format!("{} {what}", text("kind").unwrap_or("?"));
        self.found(SurfaceKind::Installer, &shown, at, false);
        for key in ["command", "script", "run", "postInstall"] {
            if let Some(command) = text(key) {
                self.found(SurfaceKind::Installer, command, at, true);
            }
        }
    }
}

/// Keys of a hook that only describe when and how it runs.
const DESCRIBES: &[&str] =
    &["type", "matcher", "timeout", "if", "statusMessage", "name", "once", "description", "version"];

/// Collects the texts that run in a tree of hooks: those of `command`, and every text that no key describes
/// otherwise.
pub(crate) fn commands_below(node: &Node, runs: bool, texts: &mut Vec<(TextPosition, String)>) {
    match &node.value {
        Value::Text(text) if runs && texts.len() <= MAX_SURFACES => texts.push((node.at, text.clone())),
        Value::List(nodes) => nodes.iter().for_each(|node| commands_below(node, runs, texts)),
        Value::Table(entries) => {
            for entry in entries {
                commands_below(&entry.node, !DESCRIBES.contains(&entry.key.as_str()), texts);
            }
        }
        Value::Text(_) | Value::Nothing | Value::Flag(_) | Value::Number(_) | Value::Date(_) => {}
    }
}
