//! Whether the harnesses of agents that are used here ask stockade before they run a command. Their settings are only read.
#![expect(clippy::disallowed_methods, reason = "reads the settings of other programs")]

use std::env;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Finding;

/// The most that is read of a file of settings.
const MAX_SETTINGS: u64 = 4 << 20;

/// The hook that works in all of them: it reads the command from its input, and what is denied, asked about or cannot be judged
/// is blocked, since no exit code is a question in all of them and silence would pass for consent where nobody is asked. All of
/// them know that by exit code 2, some only where a reason is given. A command that is no text is none, and a long one would
/// not fit among arguments, so it is handed on by a pipe.
const HOOK: &str = "c=$(jq -er '.tool_input.command|strings') && [ -n \"$c\" ] && printf %s \"$c\" | \
                    stockade check command --fail-on ask - >&2 || { echo 'stockade blocks this command' >&2; exit 2; }";

/// A program that runs agents and calls hooks.
struct Harness {
    name: &'static str,
    /// Its folder, at home and in a project.
    folder: &'static str,
    /// The files there that may name hooks, the one to add it to first.
    files: &'static [&'static str],
    /// What it calls the moment before a tool is used, and its tool for commands.
    event: &'static str,
    tool: &'static str,
    /// The setting that turns all hooks off, where it has one.
    off: Option<&'static str>,
}

const HARNESSES: &[Harness] = &[
    Harness {
        name: "Claude Code",
        folder: ".claude",
        files: &["settings.json", "settings.local.json"],
        event: "PreToolUse",
        tool: "Bash",
        off: Some("disableAllHooks"),
    },
    Harness {
        name: "Codex",
        folder: ".codex",
        files: &["hooks.json"],
        event: "PreToolUse",
        tool: "Bash",
        off: None,
    },
    Harness {
        name: "Gemini CLI",
        folder: ".gemini",
        files: &["settings.json"],
        event: "BeforeTool",
        tool: "run_shell_command",
        off: None,
    },
];

/// What a harness has in its settings.
#[derive(Debug, PartialEq, Eq)]
enum Registered {
    /// This file calls it.
    In(PathBuf),
    /// Hooks are turned off by this setting of this file.
    Off(&'static str, PathBuf),
    /// This file cannot be read.
    Unreadable(PathBuf, String),
    /// No file of settings has the hook.
    Nowhere,
}

/// Looks at home and in this folder.
pub(super) fn look() -> Vec<Finding> {
    let home = env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let openclaw = home.as_deref().and_then(openclaw);
    let places: Vec<PathBuf> = home.into_iter().chain(env::current_dir().ok()).collect();
    let harnesses = HARNESSES.iter().filter_map(|harness| harness.finding(&places));
    let findings: Vec<Finding> = harnesses.chain(openclaw).collect();
    match findings.is_empty() {
        true => vec![Finding::ok(
            "hooks",
            "no settings of Claude Code, Codex, Gemini CLI or OpenClaw; nothing to register with",
        )],
        false => findings,
    }
}

/// OpenClaw calls hooks within its own process alone, so there is no command to register: a plugin has to ask. Its
/// settings are JSON5, so they are only searched for a plugin of this name.
fn openclaw(home: &Path) -> Option<Finding> {
    let settings = home.join(".openclaw/openclaw.json");
    if !settings.parent().is_some_and(Path::is_dir) {
        return None;
    }
    let shown = settings.display();
    Some(match text_of(&settings) {
        Ok(Some(text)) if text.contains("stockade") => {
            Finding::ok("hooks", format!("OpenClaw has a plugin that names stockade: {shown}"))
        }
        Err(why) => Finding::warn(
            "hooks",
            format!("OpenClaw: {shown} cannot be read: {why}"),
            &format!("ls -l {shown}"),
        ),
        Ok(_) => Finding::warn(
            "hooks",
            "OpenClaw runs commands without asking stockade; it calls no command, only plugins within its own process",
            "write a plugin whose `before_tool_call` asks `stockade serve` (https://docs.openclaw.ai/plugins/hooks), and \
             check its skills: stockade skill check ~/.openclaw/skills/*",
        ),
    })
}

impl Harness {
    /// Nothing where the harness is not used.
    fn finding(&self, places: &[PathBuf]) -> Option<Finding> {
        let folders: Vec<PathBuf> =
            places.iter().map(|place| place.join(self.folder)).filter(|folder| folder.is_dir()).collect();
        let first = folders.first()?.join(self.files.first()?);
        let what = "hooks";
        Some(match self.registered(&folders) {
            Registered::In(file) => {
                Finding::ok(what, format!("{} asks stockade about commands: {}", self.name, file.display()))
            }
            Registered::Off(setting, file) => Finding::warn(
                what,
                format!("{} calls no hooks: `{setting}` is true in {}", self.name, file.display()),
                &format!("take `{setting}` out of {}", file.display()),
            ),
            Registered::Unreadable(file, why) => Finding::warn(
                what,
                format!("{}: {} cannot be read: {why}", self.name, file.display()),
                &format!("python3 -m json.tool {}", file.display()),
            ),
            Registered::Nowhere => Finding::warn(
                what,
                format!("{} runs commands without asking stockade", self.name),
                &format!("add to {}: {}", first.display(), self.line()),
            ),
        })
    }

    fn registered(&self, folders: &[PathBuf]) -> Registered {
        let mut found = Registered::Nowhere;
        for file in folders.iter().flat_map(|folder| self.files.iter().map(|name| folder.join(name))) {
            let settings = match read(&file) {
                Ok(Some(settings)) => settings,
                Ok(None) => continue,
                Err(why) => return Registered::Unreadable(file, why),
            };
            if let Some(off) = self.off.filter(|off| settings.get(off) == Some(&Value::Bool(true))) {
                return Registered::Off(off, file);
            }
            let hooks = settings.get("hooks").and_then(|hooks| hooks.get(self.event));
            if found == Registered::Nowhere && hooks.is_some_and(calls_stockade) {
                found = Registered::In(file);
            }
        }
        found
    }

    /// What registers it.
    fn line(&self) -> Value {
        let hook = json!({"type": "command", "command": HOOK});
        let group = json!({"matcher": self.tool, "hooks": [hook]});
        json!({"hooks": {self.event: [group]}})
    }
}

/// Reads settings, where there are any.
fn read(file: &Path) -> Result<Option<Value>, String> {
    let parsed = text_of(file)?.map(|text| serde_json::from_str(&text));
    parsed.transpose().map_err(|error| error.to_string())
}

/// Reads a file, where there is one.
fn text_of(file: &Path) -> Result<Option<String>, String> {
    let mut text = String::new();
    let read = File::open(file).and_then(|open| open.take(MAX_SETTINGS).read_to_string(&mut text));
    match read {
        Ok(_) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Whether a command or an argument in it is this program, at any depth.
fn calls_stockade(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.iter().any(|(name, value)| match value {
            Value::String(text) => name == "command" && names_stockade(text),
            value => calls_stockade(value),
        }),
        Value::Array(items) => items.iter().any(calls_stockade),
        _ => false,
    }
}

/// Whether a word of a command is the program, wherever it lies.
fn names_stockade(command: &str) -> bool {
    let is_end = |c: char| c.is_whitespace() || "\"'`;|&()".contains(c);
    command.split(is_end).any(|word| Path::new(word).file_name() == Some(OsStr::new("stockade")))
}

#[cfg(test)]
mod tests {
    use super::super::Health;
    use super::*;
    use std::fs;

    #[test]
    fn what_is_registered_is_found() {
        let claude = HARNESSES.first().unwrap();
        let whole = claude.line().to_string();
        let elsewhere =
            r#"{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "stockade check"}]}]}}"#;
        let other =
            r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "stockade-old x"}]}]}}"#;
        let off = r#"{"disableAllHooks": true, "hooks": {}}"#;
        let path = |folder: &Path| folder.join(".claude/settings.json");
        for (text, expected) in [
            (Some(whole.as_str()), "In"),
            (Some(elsewhere), "Nowhere"),
            (Some(other), "Nowhere"),
            (Some(off), "Off"),
            (Some("{"), "Unreadable"),
            (Some("[]"), "Nowhere"),
            (None, "Nowhere"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join(".claude")).unwrap();
            if let Some(text) = text {
                fs::write(path(folder.path()), text).unwrap();
            }
            let found = format!("{:?}", claude.registered(&[folder.path().join(".claude")]));
            assert!(found.starts_with(expected), "{text:?}: {found}");
            let finding = claude.finding(&[folder.path().to_owned()]).unwrap();
            assert_eq!(finding.fix.is_none(), expected == "In", "{finding:?}");
        }
    }

    #[test]
    fn a_harness_that_is_not_used_is_no_matter() {
        let folder = tempfile::tempdir().unwrap();
        assert!(HARNESSES.iter().all(|harness| harness.finding(&[folder.path().to_owned()]).is_none()));
        assert!(openclaw(folder.path()).is_none());
    }

    #[test]
    fn openclaw_is_asked_for_a_plugin() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join(".openclaw")).unwrap();
        for (settings, health) in [
            (None, Health::Warn),
            (Some("{plugins: {entries: {other: {enabled: true}}}}"), Health::Warn),
            (Some("{plugins: {entries: {stockade: {enabled: true}}}}"), Health::Ok),
        ] {
            if let Some(settings) = settings {
                fs::write(home.path().join(".openclaw/openclaw.json"), settings).unwrap();
            }
            let finding = openclaw(home.path()).unwrap();
            assert_eq!(
                (finding.status, finding.fix.is_none()),
                (health, health == Health::Ok),
                "{settings:?}"
            );
        }
    }

    #[test]
    fn a_command_names_the_program_as_a_word_of_its_own() {
        for (command, is) in [
            ("stockade check command x", true),
            ("/opt/bin/stockade check", true),
            ("x=$(stockade scan)", true),
            (HOOK, true),
            ("stockades", false),
            ("echo my-stockade", false),
            ("/stockade/other", false),
        ] {
            assert_eq!(names_stockade(command), is, "{command}");
        }
    }
}
