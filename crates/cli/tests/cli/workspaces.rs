//! The default workspaces of agents, at every entry point: what works in a project works there.
#![expect(clippy::disallowed_methods, reason = "lays out a home")]

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use serde_json::json;

use crate::hook::Home;
use crate::support::STOCKADE;

/// A harness, and where it works by default.
const PLACES: &[(&str, &str)] = &[
    ("openclaw", ".openclaw/workspace"),
    ("openclaw", ".openclaw/workspace-work"),
    ("openclaw", ".openclaw/sandboxes/a"),
    ("openclaw", ".comis/workspace-bot"),
    ("openclaw", ".comis/graph-runs/r1"),
    ("openclaw", ".codebuddy/workspace"),
    ("claude", ".claude/worktrees/app"),
    ("codex", ".codex/worktrees/1a/app"),
    ("cursor", ".cursor/worktrees/app"),
    ("opencode", ".local/share/opencode/worktree/app"),
    ("gemini", ".gemini/antigravity/scratch/app"),
];

/// Makes the workspace in a home.
fn workspace_in(home: &Home, below: &str) -> PathBuf {
    let workspace = fs::canonicalize(home.path()).unwrap().join(below);
    fs::create_dir_all(workspace.join("memory")).unwrap();
    workspace
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn commands_run_and_files_are_written_in_the_default_workspace_of_each_agent() {
    for (agent, below) in PLACES {
        let home = Home::new();
        let workspace = workspace_in(&home, below);
        let at = workspace.to_str().unwrap();
        let exec = ["exec", "--quiet", "--workspace", at, "--", "sh", "-c", "echo made > a.txt; cat a.txt"];
        let ran = home.run(STOCKADE, &exec, b"");
        assert_eq!(said(&ran), "made\n", "{below}");
        let exec = ["exec", "--quiet", "--agent", agent, "--workspace", at, "--", "cat", "a.txt"];
        assert_eq!(said(&home.run(STOCKADE, &exec, b"")), "made\n", "{below}");
    }
}

#[test]
fn file_tools_of_a_harness_work_in_its_default_workspace() {
    for (_, below) in PLACES {
        let home = Home::new();
        let workspace = workspace_in(&home, below);
        fs::write(workspace.join("memory/a.md"), "x").unwrap();
        for (tool, input) in [
            ("write", json!({"path": workspace.join("memory/b.md"), "content": "x"})),
            ("edit", json!({"path": workspace.join("memory/a.md"), "oldText": "x", "newText": "y"})),
            ("read", json!({"path": workspace.join("memory/a.md")})),
        ] {
            let payload = json!({
                "hook_event_name": "PreToolUse", "session_id": "s", "cwd": workspace, "tool_name": tool, "tool_input": input,
            });
            let hook = ["hook", "--harness", "openclaw", "--before"];
            let answer = said(&home.run(STOCKADE, &hook, payload.to_string().as_bytes()));
            assert_eq!(answer.trim(), "{\"decision\":\"allow\"}", "{tool} in {below}");
        }
    }
}
