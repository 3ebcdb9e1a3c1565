//! Settings of other programs as settings of this one.
//!
//! Each program has a table: what its settings are here, or why they are left out. Nothing is left out without a note.

mod claude;
mod codex;
mod comis;

use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use stockade_command::CommandRule;
use stockade_command::rules::{ImportNote, ImportedRules};
use stockade_text::{DocumentError, Format, parse};
use thiserror::Error;

/// Maximum size of a file of settings in bytes.
const MAX_BYTES: usize = 1 << 20;

/// Maximum number of settings and notes together.
const MAX_ENTRIES: usize = 2000;

/// A program whose settings can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OtherProgram {
    /// The agent framework, which keeps its settings in `config.yaml`.
    Comis,
    /// The coding agent, of which `execpolicy.json` with its rules for commands is read.
    CodeBuddy,
    /// Claude Code, whose `settings.json` has permissions and a sandbox.
    Claude,
    /// The agent of OpenAI, which keeps its settings in `config.toml`.
    Codex,
}

/// A setting, under its key here.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ImportedSetting {
    /// The path of the key, with the agent's id.
    pub path: String,
    /// Its value. The entries of a list are added to those that are set.
    pub value: Json,
    /// The setting of the other program.
    pub entry: String,
}

/// What the settings of another program are here.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ImportedSettings {
    /// The settings, each table in the order of its names.
    pub settings: Vec<ImportedSetting>,
    /// The rules for commands.
    pub rules: Vec<CommandRule>,
    /// What differs, or is left out.
    pub notes: Vec<ImportNote>,
}

/// A file that is not one of the program's settings.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The syntax is wrong.
    #[error("line {}, column {}: {}", .0.at.line, .0.at.column, .0.reason)]
    Syntax(DocumentError),
    /// The rules for commands in it cannot be read.
    #[error("{0}")]
    Rules(String),
    /// It has too many settings.
    #[error("the file has more than {MAX_ENTRIES} settings")]
    TooMany,
}

impl OtherProgram {
    /// All of them, in the order of the help.
    pub const ALL: [Self; 4] = [Self::Comis, Self::CodeBuddy, Self::Claude, Self::Codex];

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Comis => "comis",
            Self::CodeBuddy => "codebuddy",
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }

    /// Where it keeps the file, below the home directory.
    #[must_use]
    pub const fn file(self) -> &'static str {
        match self {
            Self::Comis => ".comis/config.yaml",
            Self::CodeBuddy => ".codebuddy/execpolicy.json",
            Self::Claude => ".claude/settings.json",
            Self::Codex => ".codex/config.toml",
        }
    }

    /// The agent that the settings are for, unless another one is named.
    #[must_use]
    pub const fn agent(self) -> &'static str {
        match self {
            Self::Comis | Self::CodeBuddy => "*",
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }

    const fn table(self) -> &'static [Row] {
        match self {
            Self::Comis => comis::ROWS,
            Self::CodeBuddy => &[],
            Self::Claude => claude::ROWS,
            Self::Codex => codex::ROWS,
        }
    }
}

/// What a setting of another program is here.
#[derive(Debug, Clone, Copy)]
struct Row {
    /// Its path, where `<id>` is any one name.
    theirs: &'static str,
    here: Here,
}

#[derive(Debug, Clone, Copy)]
enum Here {
    /// A value of this key, whose `<id>` is the agent.
    Value(&'static str, fn(&Json) -> Result<Json, &'static str>),
    /// Entries of the list of this key.
    Entries(&'static str, fn(&str, &FileSource<'_>) -> Result<String, &'static str>),
    /// The same path and value.
    Same,
    /// It is read elsewhere, as a rule for commands.
    Rule,
    /// Nothing does the same, for this reason.
    Nothing(&'static str),
}

/// Where the file is from.
struct FileSource<'p> {
    home: &'p Path,
}

const fn value(
    theirs: &'static str,
    ours: &'static str,
    read: fn(&Json) -> Result<Json, &'static str>,
) -> Row {
    Row { theirs, here: Here::Value(ours, read) }
}

const fn entries(
    theirs: &'static str,
    ours: &'static str,
    read: fn(&str, &FileSource<'_>) -> Result<String, &'static str>,
) -> Row {
    Row { theirs, here: Here::Entries(ours, read) }
}

const fn nothing(theirs: &'static str, why: &'static str) -> Row {
    Row { theirs, here: Here::Nothing(why) }
}

impl ImportedSettings {
    /// Reads the settings of another program for an agent. `home` is the directory that `~` means.
    ///
    /// # Errors
    /// When the text is not of this format, or has no settings of the program.
    pub fn read(
        program: OtherProgram,
        text: &str,
        format: Format,
        agent: &str,
        home: &Path,
    ) -> Result<Self, ImportError> {
        let parsed = parse(text, format, MAX_BYTES).map_err(ImportError::Syntax)?.value;
        let document = parsed.to_json();
        let mut reader = Reader { program, agent, source: FileSource { home }, found: Self::default() };
        match program {
            OtherProgram::CodeBuddy => reader.rules(ImportedRules::from_code_buddy(&parsed))?,
            OtherProgram::Claude => {
                reader.table("", &document);
                reader.permissions(&document, text)?;
            }
            OtherProgram::Comis | OtherProgram::Codex => reader.table("", &document),
        }
        let found = reader.found;
        if found.settings.len() + found.notes.len() + found.rules.len() > MAX_ENTRIES {
            return Err(ImportError::TooMany);
        }
        Ok(found)
    }
}

struct Reader<'r> {
    program: OtherProgram,
    agent: &'r str,
    source: FileSource<'r>,
    found: ImportedSettings,
}

impl Reader<'_> {
    /// Reads what is below a path.
    fn table(&mut self, path: &str, value: &Json) {
        let rows = self.program.table();
        if let Some(row) = rows.iter().find(|row| is_at(row.theirs, path)) {
            return self.row(row, path, value);
        }
        match value {
            Json::Object(table) if rows.iter().any(|row| is_above(path, row.theirs)) => {
                for (name, value) in table {
                    let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    self.table(&path, value);
                }
            }
            _ => self.leave_out(path, "it is no setting of what a command, a path or a tool may do"),
        }
    }

    fn row(&mut self, row: &Row, path: &str, value: &Json) {
        match row.here {
            Here::Rule => {}
            Here::Nothing(why) => self.leave_out(path, why),
            Here::Same => self.same(path, value),
            Here::Value(key, read) => match read(value) {
                Ok(value) => self.set(key, path, value),
                Err(why) => self.leave_out(&shown(path, value), why),
            },
            Here::Entries(key, read) => {
                let Json::Array(list) = value else {
                    return self.leave_out(path, "it is no list");
                };
                for one in list {
                    match one.as_str().ok_or("it is no text").and_then(|text| read(text, &self.source)) {
                        Ok(entry) => self.set(key, &shown(path, one), Json::Array(vec![entry.into()])),
                        Err(why) => self.leave_out(&shown(path, one), why),
                    }
                }
            }
        }
    }

    fn set(&mut self, key: &str, entry: &str, value: Json) {
        let path = key.replace("<id>", self.agent);
        self.found.settings.push(ImportedSetting { path, value, entry: entry.to_owned() });
    }

    fn leave_out(&mut self, entry: &str, why: &str) {
        self.found.notes.push(note(entry.to_owned(), true, why));
    }

    fn rules(&mut self, read: Result<ImportedRules, String>) -> Result<(), ImportError> {
        let read = read.map_err(ImportError::Rules)?;
        self.found.rules.extend(read.rules);
        self.found.notes.extend(read.notes);
        Ok(())
    }
}

fn note(entry: String, is_left_out: bool, reason: &str) -> ImportNote {
    ImportNote::new(entry, is_left_out, reason)
}

/// A setting as a note names it: its path with its value, if that is short.
fn shown(path: &str, value: &Json) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if text.chars().count() > 80 { path.to_owned() } else { format!("{path} {text}") }
}

/// Whether this path is that of a row.
fn is_at(row: &str, path: &str) -> bool {
    let (mut left, mut right) = (row.split('.'), path.split('.'));
    loop {
        match (left.next(), right.next()) {
            (None, None) => return true,
            (Some(name), Some(part)) if name == part || name == "<id>" => {}
            _ => return false,
        }
    }
}

/// Whether the path of a row leads through this path.
fn is_above(path: &str, row: &str) -> bool {
    path.is_empty()
        || path.split('.').count() < row.split('.').count()
            && path.split('.').zip(row.split('.')).all(|(part, name)| name == part || name == "<id>")
}

/// An absolute path, in which `~` is the home directory.
fn absolute(text: &str, source: &FileSource<'_>) -> Result<String, &'static str> {
    let path = match text.strip_prefix("~/") {
        Some(rest) => source.home.join(rest),
        None if text == "~" => source.home.to_owned(),
        None => PathBuf::from(text),
    };
    let is_plain = path.is_absolute() && !text.split('/').any(|name| name == "..") && !text.contains('*');
    match path.to_str() {
        Some(path) if is_plain => Ok(path.to_owned()),
        _ => Err("the path is not absolute: write it with the directory that it is in"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Config;

    fn read(program: OtherProgram, text: &str) -> ImportedSettings {
        let format = Format::of_path(program.file()).unwrap();
        ImportedSettings::read(program, text, format, program.agent(), Path::new("/home/u")).unwrap()
    }

    /// `PATH = VALUE` for each setting, `decision pattern` for each rule, and `- entry: reason` for what is left out.
    fn lines(program: OtherProgram, text: &str) -> Vec<String> {
        let found = read(program, text);
        let settings = found.settings.iter().map(|one| format!("{} = {}", one.path, one.value));
        let rules = found.rules.iter().map(|rule| format!("{} {}", rule.effect, rule.pattern));
        let notes = found.notes.iter().map(|note| {
            format!("{} {}: {}", if note.is_left_out { "-" } else { "~" }, note.entry, note.reason)
        });
        settings.chain(rules).chain(notes).collect()
    }

    /// A row that names a key that is not there would be found only by its users.
    #[test]
    fn rows_name_keys_that_are_there_and_paths_once() {
        for program in OtherProgram::ALL {
            let mut seen = BTreeSet::new();
            for row in program.table() {
                assert!(seen.insert(row.theirs), "{}: {} twice", program.name(), row.theirs);
                let key = match row.here {
                    Here::Value(key, _) | Here::Entries(key, _) => key,
                    Here::Same => row.theirs,
                    Here::Rule => continue,
                    Here::Nothing(why) => {
                        assert!(why.len() > 20 && !why.ends_with('.'), "{}: {why}", row.theirs);
                        continue;
                    }
                };
                let is_list = Config::key(key).unwrap_or_else(|| panic!("{key}")).default.starts_with('[');
                let is_of_list = matches!(row.here, Here::Entries(..));
                assert!(matches!(row.here, Here::Same) || is_list == is_of_list, "{key}");
            }
        }
    }

    #[test]
    fn what_is_named_nowhere_is_left_out_with_a_note() {
        for program in [OtherProgram::Comis, OtherProgram::Claude] {
            let text = "{\"unheard\": {\"of\": 1}, \"sandbox\": {\"unheard\": [2]}}";
            let found = read(program, text);
            assert_eq!((found.settings.len(), found.notes.len()), (0, 2), "{}: {found:?}", program.name());
            assert!(found.notes.iter().all(|note| note.is_left_out));
        }
    }

    #[test]
    fn settings_of_claude_code() {
        let text = r#"{
            "permissions": {
                "allow": ["Bash(npm test:*)", "WebFetch(domain:docs.example)", "Read(src/**)", "mcp__github__search"],
                "ask": ["Read(./notes/**)"],
                "deny": ["Bash(curl:*)", "Read(./.env)", "Read(~/.ssh/**)", "Edit(//etc/**)", "WebFetch"],
                "defaultMode": "plan"
            },
            "sandbox": {
                "enabled": true,
                "excludedCommands": ["docker *", "git push:*"],
                "network": {"allowedDomains": ["*.npmjs.org", "*"], "deniedDomains": ["ads.example"], "allowUnixSockets": ["/x"]},
                "filesystem": {"denyRead": ["~/.aws/credentials"], "allowWrite": ["/tmp/build"]}
            },
            "model": "opus"
        }"#;
        let wanted = [
            "agents.claude.skills.execSandbox.enabled = \"always\"",
            "agents.claude.skills.execSandbox.excludedCommands = [\"docker\"]",
            "agents.claude.skills.execSandbox.excludedCommands = [\"git push\"]",
            "agents.claude.files.denyRead = [\"/home/u/.aws/credentials\"]",
            "agents.claude.allowedNetHosts = [\"*.npmjs.org\"]",
            "agents.claude.allowedNetHosts = [\"!ads.example\"]",
            "agents.claude.allowedNetHosts = [\"docs.example\"]",
            "agents.claude.files.denyRead = [\".env\"]",
            "agents.claude.files.denyRead = [\"/home/u/.ssh/**\"]",
            "agents.claude.files.denyWrite = [\"/etc/**\"]",
            "allow npm test **",
            "deny curl **",
        ];
        let found = lines(OtherProgram::Claude, text);
        assert_eq!(
            found.iter().filter(|line| !line.starts_with('-')).collect::<Vec<_>>(),
            wanted.iter().collect::<Vec<_>>(),
            "{found:#?}"
        );
        for left in [
            "model",
            "permissions.defaultMode",
            "allow Read(src/**)",
            "deny WebFetch",
            "sandbox.network.allowedDomains *",
        ] {
            assert!(found.iter().any(|line| line.starts_with(&format!("- {left}"))), "{left}: {found:#?}");
        }
    }

    #[test]
    fn settings_of_codex() {
        let text = "sandbox_mode = \"read-only\"\napproval_policy = \"untrusted\"\nmodel = \"x\"\n\
                    [sandbox_workspace_write]\nnetwork_access = true\nwritable_roots = [\"/srv/cache\"]\n\
                    [shell_environment_policy]\ninherit = \"core\"\n";
        let found = lines(OtherProgram::Codex, text);
        let wanted = [
            "agents.codex.commands.unmatched = \"ask\"",
            "agents.codex.skills.execSandbox.mode = \"read-only\"",
            "agents.codex.skills.execSandbox.network = \"open\"",
        ];
        let mut settings: Vec<_> = found.iter().filter(|line| !line.starts_with('-')).collect();
        settings.sort();
        assert_eq!(settings, wanted.iter().collect::<Vec<_>>(), "{found:#?}");
        assert_eq!(found.len(), 6, "{found:#?}");
    }

    #[test]
    fn settings_of_comis() {
        let text = "agents:\n  bot:\n    toolPolicy: {profile: coding, deny: [browser]}\n    budget: {maxTokens: 0}\n    model: x\n\
                    security:\n  permission:\n    enableNodePermissions: true\nchannels:\n  telegram: {}\n";
        let found = lines(OtherProgram::Comis, text);
        let wanted = [
            "agents.bot.toolPolicy.deny = [\"browser\"]",
            "agents.bot.toolPolicy.profile = \"coding\"",
            "security.permission.enableNodePermissions = true",
        ];
        let settings: Vec<_> = found.iter().filter(|line| !line.starts_with('-')).cloned().collect();
        assert_eq!(settings, wanted, "{found:#?}");
        let left: Vec<_> = found.iter().filter(|line| line.starts_with('-')).collect();
        assert_eq!(left.len(), 3, "a value out of bounds, a model and channels: {left:#?}");
    }
}
