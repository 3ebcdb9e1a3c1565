//! A home in which agents are configured, with a skill and a workspace.
#![expect(clippy::disallowed_methods, reason = "lays out a home, and reads the records in it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use stockade_guard::audit::{AuditOptions, AuditTrail};
use stockade_guard::config::{Config, ConfigSources};
use stockade_guard::limits::store::MemoryStore;
use stockade_guard::policy::ToolCatalog;
use stockade_guard::{Guard, GuardOptions, Session, SessionOptions};

use super::Verdict;
use crate::support::STOCKADE;

/// Every agent of the table. None has a sandbox, so that no command of theirs runs.
pub(super) const AGENTS: &[&str] = &["default", "shy", "strict", "plain", "loose", "ruled"];

/// Agents that differ in one thing each, as a configuration has them.
pub(in crate::serve) const AGENT_RULES: &str = r#"
[agents.shy.commands]
unmatched = "ask"

[agents.strict.commands]
unmatched = "deny"
unanalysable = "deny"

[agents.plain.commands]
substitutions = "none"

[agents.loose.commands]
substitutions = "rules"

[[agents.ruled.commands.rules]]
id = "no-date"
prefix = ["date"]
decision = "deny"

[[agents.ruled.commands.rules]]
id = "ask-id"
prefix = ["id"]
decision = "ask"
"#;

const MORE_RULES: &str = r#"
[[agents.ruled.commands.rules]]
id = "may-deploy"
prefix = ["deploy"]
decision = "allow"

[[agents.ruled.commands.rules]]
id = "may-push"
prefix = ["git", "push"]
decision = "allow"

[[agents.ruled.commands.rules]]
id = "no-scrub"
glob = "scrub *"
decision = "deny"
"#;

const SKILL: &str = "---\nname: work\ndescription: Works.\n---\nWork.\n";

/// A folder that is gone when this is.
pub(super) struct Home {
    folder: tempfile::TempDir,
    /// How many records were read.
    read: std::cell::Cell<usize>,
}

impl Home {
    pub(super) fn new() -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap(), read: std::cell::Cell::default() };
        let trail = format!("[audit]\npath = {:?}\n", home.trail());
        let bare = |agent: &&str| format!("[agents.{agent}.skills.execSandbox]\nenabled = \"never\"\n");
        let rules = [AGENT_RULES, MORE_RULES].concat();
        lay_out(&home.path(), &[trail, AGENTS.iter().map(bare).collect(), rules].concat());
        fs::create_dir(home.workspace()).unwrap();
        home
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(super) fn workspace(&self) -> PathBuf {
        self.path().join("work")
    }

    fn trail(&self) -> PathBuf {
        self.path().join("trail.jsonl")
    }

    /// The binary under test, in the workspace of this home.
    pub(super) fn stockade(&self, args: &[&str]) -> Command {
        let mut command = Command::new(STOCKADE);
        command.args(args).current_dir(self.workspace()).env_clear();
        command.env("HOME", self.path()).env("PATH", "/usr/bin:/bin");
        command
    }

    /// A session of the crate.
    pub(super) fn session(&self, agent: &str) -> Session {
        session(&self.path(), agent, &self.workspace())
    }

    /// What was put on record of a command since this was asked last: the decision of its rules comes first.
    pub(super) fn recorded(&self) -> Verdict {
        let lines = fs::read_to_string(self.trail()).unwrap_or_default();
        let new = lines.lines().skip(self.read.replace(lines.lines().count()));
        let mut records = new.map(|line| serde_json::from_str::<Value>(line).unwrap());
        let word = |record: &Value, key: &str| record[key].as_str().unwrap_or_default().to_owned();
        let is_command = |record: &Value| {
            let event = word(record, "event");
            event.starts_with("command_") || event.starts_with("approval_")
        };
        let first = records.find(is_command).unwrap_or_default();
        Verdict { effect: word(&first, "decision"), rule: word(&first, "rule") }
    }
}

/// Puts a configuration of the user and a skill into a home.
pub(in crate::serve) fn lay_out(home: &Path, config: &str) {
    for (path, content) in [(".config/stockade/config.toml", config), ("skill/SKILL.md", SKILL)] {
        fs::create_dir_all(home.join(path).parent().unwrap()).unwrap();
        fs::write(home.join(path), content).unwrap();
    }
}

/// A session of the crate, under the configuration of a home.
pub(in crate::serve) fn session(home: &Path, agent: &str, workspace: &Path) -> Session {
    let user = Some(home.join(".config/stockade"));
    let sources = ConfigSources { user, agents: vec![agent.to_owned()], ..ConfigSources::default() };
    let options = GuardOptions {
        agent: agent.to_owned(),
        workspace: workspace.to_path_buf(),
        catalog: ToolCatalog::default(),
        rules: Vec::new(),
    };
    let trail = AuditTrail::open(&home.join("crate.jsonl"), AuditOptions::default()).unwrap();
    let limits = Box::new(MemoryStore::new(|| Duration::from_secs(1)));
    let guard = Guard::open(&Config::load(&sources).unwrap(), options).unwrap();
    guard.session(SessionOptions { limits, trail })
}

/// Writes what a hook of an agent reads.
pub(super) fn hook_input(command: &str, cwd: &Path) -> String {
    serde_json::json!({
        "hook_event_name": "PreToolUse", "session_id": "one", "tool_name": "Bash", "tool_input": {"command": command}, "cwd": cwd,
    })
    .to_string()
}
