//! What of a skill runs, and is judged as a command: not only what a model is asked to run.

use std::sync::LazyLock;

use serde::Serialize;
use stockade_policy::shell::ReadOptions;
use stockade_policy::{CommandContext, CommandPolicy, Effect};
use stockade_scanner::{ScanOptions, Scanner, Syntax};
use stockade_text::{Format, Node, TableEntry, TextPosition, Value, parse};

use super::command::find_commands;
use super::finding::{Findings, Reading};
use super::problem::{Place, Problems};
use super::read::{MAX_HEAD_BYTES, PRODUCTS};

/// The most surfaces that are listed, and commands that are judged.
const MOST: usize = 500;

/// The most characters of a surface's text that are kept.
const LONGEST: usize = 200;

/// Something of a skill that runs, or that lets something run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Surface {
    /// What kind of thing it is.
    pub kind: SurfaceKind,
    /// The file.
    pub path: String,
    /// The line, from 1.
    #[serde(rename = "lineNumber")]
    pub line: usize,
    /// What it says, the first characters of it.
    pub text: String,
    /// What the built-in rules for commands say, where it is a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
}

/// A kind of [`Surface`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum SurfaceKind {
    /// A command in the text that runs when the skill is loaded.
    Command,
    /// A command that runs on events of the program that loads the skill.
    Hook,
    /// Something to be installed first.
    Installer,
    /// The skill's command calls a tool without asking a model.
    Dispatch,
    /// Tools that the skill asks to be allowed without a question. They are not: the list only narrows.
    ToolList,
    /// A program among the files of the skill.
    Script,
}

impl SurfaceKind {
    /// Returns a word for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Command => "command on load",
            Self::Hook => "hook",
            Self::Installer => "installer",
            Self::Dispatch => "dispatch",
            Self::ToolList => "tool list",
            Self::Script => "script",
        }
    }
}

/// Looks for surfaces and judges them.
pub(crate) struct Surfaces<'s> {
    pub(crate) scanner: &'s Scanner,
    pub(crate) findings: &'s mut Findings,
    pub(crate) problems: &'s mut Problems,
    pub(crate) list: Vec<Surface>,
    pub(crate) commands: usize,
}

impl Surfaces<'_> {
    /// Judges the commands in a text that run when it is loaded.
    pub(crate) fn of_text(&mut self, text: &str, path: &str, lines_before: usize) {
        for command in find_commands(text) {
            let line = command.line + lines_before;
            let seen =
                self.list.iter().any(|one| one.kind == SurfaceKind::Command && one.text == cut(command.text));
            // The same text after cleaning.
            if !seen || command.text.chars().count() > LONGEST {
                self.command(SurfaceKind::Command, command.text, path, line);
            }
            if self.commands > MOST {
                return;
            }
        }
    }

    /// Looks for what runs in a head.
    pub(crate) fn of_head(&mut self, head: &Value, path: &str) {
        let Value::Table(entries) = head else { return };
        for entry in entries {
            match entry.key.as_str() {
                "hooks" => self.hooks(entry, path),
                "allowed-tools" | "allowedTools" | "allowed_tools" => self.tool_list(entry, path),
                "command-dispatch" => self.dispatch(entry, path),
                "metadata" => self.metadata(entry, path),
                "comis" => {
                    if let Some(inner) = entry.node.value.get("command-dispatch") {
                        self.dispatch(inner, path);
                    }
                }
                _ => {}
            }
        }
    }

    /// Notes a program among the files.
    pub(crate) fn script(&mut self, path: &str, first_line: &str) {
        self.push(SurfaceKind::Script, first_line, path, 1, None);
    }

    fn hooks(&mut self, entry: &TableEntry, path: &str) {
        let message = "the skill hooks commands into the program that loads it";
        let fix = "let the operator register hooks, after reading what they run";
        self.problems.add("hook", Place { path, at: entry.at }, message, fix);
        let mut texts = Vec::new();
        commands_below(&entry.node, true, &mut texts);
        for (at, text) in texts {
            self.command(SurfaceKind::Hook, &text, path, at.line);
        }
    }

    fn tool_list(&mut self, entry: &TableEntry, path: &str) {
        let mut texts = Vec::new();
        commands_below(&entry.node, true, &mut texts);
        let text = texts.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" ");
        self.push(SurfaceKind::ToolList, &text, path, entry.at.line, None);
    }

    fn dispatch(&mut self, entry: &TableEntry, path: &str) {
        let text = entry.node.value.words().unwrap_or_default();
        if text == "tool" {
            let message = "the skill's command calls a tool, and no model looks at it first";
            let fix = "leave `command-dispatch` out";
            self.problems.add("model-bypassed", Place { path, at: entry.at }, message, fix);
        }
        self.push(SurfaceKind::Dispatch, text, path, entry.at.line, None);
    }

    fn metadata(&mut self, entry: &TableEntry, path: &str) {
        let parsed = match &entry.node.value {
            Value::Text(text) => parse(text, Format::Yaml, MAX_HEAD_BYTES).ok().map(|node| node.value),
            value => Some(value.clone()),
        };
        let Some(metadata) = parsed else { return };
        for product in PRODUCTS.iter().filter_map(|name| metadata.get(name)) {
            let value = &product.node.value;
            if matches!(value.get("always").map(|entry| &entry.node.value), Some(Value::Flag(true))) {
                let message = "the skill asks to be loaded always, called for or not";
                self.problems.add(
                    "always-loaded",
                    Place { path, at: entry.at },
                    message,
                    "leave `always` out",
                );
            }
            if let Some(Value::List(installers)) = value.get("install").map(|entry| &entry.node.value) {
                installers.iter().take(MOST).for_each(|node| self.installer(&node.value, entry.at, path));
            }
        }
    }

    fn installer(&mut self, installer: &Value, at: TextPosition, path: &str) {
        let text = |key: &str| installer.get(key).and_then(|entry| entry.node.value.words());
        let url = text("url").unwrap_or_default();
        let checked = text("sha256").is_some_and(|digest| digest.len() == 64) && url.starts_with("https://");
        if text("kind") == Some("download") && !checked {
            let message = format_args!("`{}` is downloaded, and nothing says what must arrive", cut(url));
            let fix = "give an address of https, and the `sha256` of the file";
            self.problems.add("unverified-download", Place { path, at }, message, fix);
        }
        let what =
            ["formula", "package", "module", "url"].iter().find_map(|key| text(key)).unwrap_or_default();
        let shown = format!("{} {what}", text("kind").unwrap_or("?"));
        self.push(SurfaceKind::Installer, &shown, path, at.line, None);
        for key in ["command", "script", "run", "postInstall"] {
            if let Some(command) = text(key) {
                let command = command.to_owned();
                self.command(SurfaceKind::Installer, &command, path, at.line);
            }
        }
    }

    /// Scans a command as code and asks the built-in rules about it.
    fn command(&mut self, kind: SurfaceKind, text: &str, path: &str, line: usize) {
        static POLICY: LazyLock<CommandPolicy> = LazyLock::new(CommandPolicy::builtin);
        let at = TextPosition { line, column: 1 };
        self.commands += 1;
        if self.commands > MOST {
            let message = format_args!("more than {MOST} commands run when the skill is loaded");
            self.problems.add("too-many-commands", Place { path, at }, message, "put them into a script");
            return;
        }
        let options = ScanOptions { syntax: Syntax::Shell, ..ScanOptions::default() };
        let report = self.scanner.scan_with(text, &options);
        self.findings.add(&report, path, line.saturating_sub(1), Reading::Command);
        let decision = POLICY.decide(text, &ReadOptions::default(), &CommandContext::default());
        let because = decision.decisive().next().map(|part| part.cause.to_string()).unwrap_or_default();
        let place = Place { path, at };
        match decision.effect {
            Effect::Deny => {
                let message = format_args!("a {} that must not run: {because}", kind.name());
                self.problems.add("command-refused", place, message, "take the command out");
            }
            Effect::Ask => {
                let message = format_args!("a {} that runs without a question: {because}", kind.name());
                let fix = "let the model run it, so that somebody can be asked";
                self.problems.add("command-unanswered", place, message, fix);
            }
            Effect::Allow | Effect::Sandbox => {}
        }
        self.push(kind, text, path, line, Some(decision.effect));
    }

    fn push(&mut self, kind: SurfaceKind, text: &str, path: &str, line: usize, effect: Option<Effect>) {
        if self.list.len() < MOST {
            self.list.push(Surface { kind, path: path.to_owned(), line, text: cut(text), effect });
        }
    }
}

/// Returns the texts that run in a tree of hooks: those of `command`, and every text where nothing says what it is.
fn commands_below(node: &Node, runs: bool, texts: &mut Vec<(TextPosition, String)>) {
    match &node.value {
        Value::Text(text) if runs && texts.len() <= MOST => texts.push((node.at, text.clone())),
        Value::List(nodes) => nodes.iter().for_each(|node| commands_below(node, runs, texts)),
        Value::Table(entries) => {
            for entry in entries {
                let describes = ["type", "matcher", "timeout", "if", "statusMessage", "name", "once"];
                commands_below(&entry.node, !describes.contains(&entry.key.as_str()), texts);
            }
        }
        Value::Text(_) | Value::Nothing | Value::Flag(_) | Value::Number(_) | Value::Date(_) => {}
    }
}

fn cut(text: &str) -> String {
    text.trim().chars().take(LONGEST).collect()
}
