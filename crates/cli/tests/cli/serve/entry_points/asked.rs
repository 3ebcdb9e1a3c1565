//! The entry points, each asked about every row of the table.

use std::io::Write as _;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use stockade_guard::command::{CommandContext, CommandPolicy};

use super::super::Serving;
use super::home::{Home, hook_input};
use super::{Row, Verdict, differing};

/// Asks about every row, and returns what differs.
pub(super) type EntryPoint = fn(&[Row]) -> Vec<String>;

pub(super) fn entry_points() -> Vec<EntryPoint> {
    vec![policy, check, check_agent, hook, exec, exec_agent, run, serve]
}

/// The crate `policy`, without a guard.
fn policy(rows: &[Row]) -> Vec<String> {
    let (policy, home) = (CommandPolicy::builtin(), Home::new());
    let workspace = Some(home.workspace());
    let context = CommandContext::new(workspace.clone(), workspace);
    let ask = |row: &Row| policy.decide(&row.text, &Default::default(), &context).effect.name().to_owned();
    differing("policy", nobodys(rows), |row| row.wanted.effect.clone(), ask)
}

/// `check command`.
fn check(rows: &[Row]) -> Vec<String> {
    let home = Home::new();
    let ask = |row: &Row| checked(&home, &["check", "command", "--format", "json", "--cwd", "."], row);
    differing("check command", nobodys(rows), |row| row.wanted.effect.clone(), ask)
}

/// `check command --agent`.
fn check_agent(rows: &[Row]) -> Vec<String> {
    let home = Home::new();
    let workspace = home.workspace().display().to_string();
    let ask = |row: &Row| {
        let args = ["check", "command", "--format", "json", "--cwd", &workspace, "--agent", row.agent()];
        checked(&home, &args, row)
    };
    differing("check command --agent", rows, |row| row.wanted.effect.clone(), ask)
}

fn checked(home: &Home, args: &[&str], row: &Row) -> String {
    let output = home.stockade(args).args(["--", &row.text]).stdin(Stdio::null()).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    answer["decision"].as_str().unwrap().to_owned()
}

/// The hook of a harness: what goes on is said nothing about, or runs in a sandbox.
fn hook(rows: &[Row]) -> Vec<String> {
    let home = Home::new();
    let ask = |row: &Row| {
        let mut hook = home.stockade(&["hook", "--harness", "claude"]);
        let mut child = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = hook_input(&row.text, &home.workspace());
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        if output.stdout.is_empty() {
            return "goes on";
        }
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        match answer["hookSpecificOutput"]["permissionDecision"].as_str() {
            Some("ask" | "deny") => "blocked",
            Some("allow") if answer["hookSpecificOutput"]["updatedInput"].is_object() => "goes on",
            _ => "something else",
        }
    };
    let wanted = |row: &Row| match row.wanted.effect.as_str() {
        "ask" | "deny" => "blocked",
        _ => "goes on",
    };
    differing("hook", nobodys(rows), wanted, ask)
}

/// `exec`, which refuses what is denied; a person typed what is asked about.
fn exec(rows: &[Row]) -> Vec<String> {
    let home = Home::new();
    let ask = |row: &Row| {
        let output = home.stockade(&["exec", "--dry-run", "--"]).args(row.argv()).output().unwrap();
        refused_by_rules(&output)
    };
    differing("exec", nobodys(rows), |row| row.within.effect == "deny", ask)
}

fn refused_by_rules(output: &Output) -> bool {
    let said = String::from_utf8_lossy(&output.stderr);
    let is_refused = said.starts_with("stockade: the rules for commands deny this: ");
    assert_eq!(output.status.code(), Some(if is_refused { 126 } else { 0 }), "{output:?}");
    is_refused
}

/// `exec --agent`.
fn exec_agent(rows: &[Row]) -> Vec<String> {
    let home = Home::new();
    let ask = |row: &Row| of_agent(&home, &["exec", "--agent", row.agent(), "--"], row);
    differing("exec --agent", rows, |row| row.within.clone(), ask)
}

/// `run`, for a skill.
fn run(rows: &[Row]) -> Vec<String> {
    let home = Home::new();
    let ask = |row: &Row| of_agent(&home, &["run", "--agent", row.agent(), "../skill", "--"], row);
    differing("run", rows, |row| row.within.clone(), ask)
}

fn of_agent(home: &Home, args: &[&str], row: &Row) -> Verdict {
    let output = home.stockade(args).args(row.argv()).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(126), "{output:?}");
    home.recorded()
}

/// The methods of the server that decide about commands.
fn serve(rows: &[Row]) -> Vec<String> {
    let home = Home::new();
    let mut serving = Serving::at_home(&home.path());
    let workspace = home.workspace();
    let mut wrong = Vec::new();
    for method in ["command.evaluate", "command.route"] {
        let ask = |row: &Row| {
            let answer = serving.call(method, &json!({"command": row.text, "cwd": workspace}));
            answer["result"]["action"].as_str().unwrap_or_default().to_owned()
        };
        wrong.extend(differing(method, nobodys(rows), |row| row.wanted.effect.clone(), ask));
    }
    // The workspace does not exist, so that nothing runs that is not denied.
    let nowhere = json!({"workspace": workspace.join("nowhere")});
    let ask = |row: &Row| {
        let answer = serving.call("exec", &json!({"command": row.text, "spec": nowhere}));
        assert!(answer["error"].is_object(), "{answer}");
        answer["error"]["data"]["action"] == "deny"
    };
    wrong.extend(differing("serve: exec", nobodys(rows), |row| row.wanted.effect == "deny", ask));
    let ask = |row: &Row| {
        let spec = json!({"workspace": workspace});
        let answer = serving.call("exec", &json!({"agent": row.agent(), "command": row.text, "spec": spec}));
        assert!(answer["error"].is_object(), "{answer}");
        home.recorded()
    };
    wrong.extend(differing("serve: exec of an agent", rows, |row| row.wanted.clone(), ask));
    wrong
}

/// The commands that `path.authorize` denies or asks about less than the rules do.
pub(super) fn milder_as_a_request(home: &Home, rows: &[Row]) -> Vec<String> {
    let mut serving = Serving::at_home(&home.path());
    let config = json!({"preset": "default", "cwd": home.workspace()});
    let mut is_milder = |row: &&Row| {
        let request = json!({"type": "command.execute", "resource": row.text});
        let answer = serving.call("path.authorize", &json!({"config": config, "request": request}));
        match row.wanted.effect.as_str() {
            "deny" => answer["result"]["decision"] != "deny",
            "ask" => answer["result"]["decision"] == "allow",
            _ => false,
        }
    };
    let milder = nobodys(rows).iter().filter(|row| is_milder(row));
    milder.map(|row| format!("{:?}: {:?}", row.text, row.wanted)).collect()
}

/// The rows without an agent: they come first.
fn nobodys(rows: &[Row]) -> &[Row] {
    let end = rows.iter().position(|row| row.agent.is_some()).unwrap_or(rows.len());
    &rows[..end]
}
