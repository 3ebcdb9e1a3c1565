//! `maxSteps` counts at every entry point, where it is set: by the session of a harness, by execution, by terminal session.

use std::process::Output;

use serde_json::json;

use crate::hook::Home;
use crate::support::STOCKADE;

fn hook(home: &Home, session: &str) -> String {
    let payload = json!({
        "session_id": session, "cwd": home.project(), "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "ls"},
    });
    let said = home.run(STOCKADE, &["hook", "--harness", "claude"], payload.to_string().as_bytes());
    String::from_utf8(said.stdout).unwrap()
}

/// The command, so many times: whether each was let run.
fn runs(home: &Home, words: &[&str], times: usize) -> Vec<bool> {
    let run = |_| {
        let Output { status, stderr, .. } = home.run(STOCKADE, words, b"");
        let refused = String::from_utf8_lossy(&stderr).contains("maxSteps");
        assert!(status.success() != refused, "{}", String::from_utf8_lossy(&stderr));
        status.success()
    };
    (0..times).map(run).collect()
}

#[test]
fn steps_count_in_each_session_of_a_harness() {
    let home = Home::new();
    home.configure("[agents.claude]\nmaxSteps = 2\n");
    let answers: Vec<String> = ["a", "a", "a", "b"].iter().map(|session| hook(&home, session)).collect();
    let denied: Vec<bool> = answers.iter().map(|answer| answer.contains("maxSteps")).collect();
    assert_eq!(denied, [false, false, true, false], "{answers:?}");
    assert!(answers[2].contains("\"deny\""), "{answers:?}");
}

#[test]
fn steps_count_for_commands_of_one_terminal_and_of_each_execution() {
    let home = Home::new();
    home.configure("[agents.bot]\nmaxSteps = 2\n");
    let exec = ["exec", "--quiet", "--agent", "bot", "--", "true"];
    assert_eq!(runs(&home, &exec, 3), [true, true, false]);
    let named = ["exec", "--quiet", "--agent", "bot", "--execution", "e", "--", "true"];
    assert_eq!(runs(&home, &named, 3), [true, true, false]);
}

/// Containers and CI jobs often have a session leader outside of their PID namespace: the session's number is 0 there.
#[test]
fn steps_count_where_the_session_leader_is_in_another_namespace() {
    let home = Home::new();
    home.configure("[agents.bot]\nmaxSteps = 2\n");
    let script =
        format!("for n in 1 2 3; do {STOCKADE} exec --quiet --agent bot -- true || echo refused; done");
    let namespace = ["--pid", "--fork", "--mount-proc", "sh", "-c", &script];
    let output = home.run("unshare", &namespace, b"");
    let why = String::from_utf8_lossy(&output.stderr);
    if why.contains("unshare failed") {
        return println!("skipped: a session leader in another namespace: {why}");
    }
    assert!(!why.contains("bug in stockade"), "{why}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout).lines().filter(|line| *line == "refused").count(),
        1,
        "{why}"
    );
}

#[test]
fn steps_count_for_commands_of_a_server_outside_of_a_session() {
    let home = Home::new();
    home.configure("[agents.bot]\nmaxSteps = 2\n");
    let request = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "exec", "params": {"agent": "bot", "command": "true"}});
    let requests: String = (1..=3).map(|id| format!("{}\n", request(id))).collect();
    let answers = home.run(STOCKADE, &["serve"], requests.as_bytes()).stdout;
    let answers = String::from_utf8_lossy(&answers);
    // They run beside each other, so any of them may be the third.
    let refused = answers.lines().filter(|answer| answer.contains("maxSteps")).count();
    assert_eq!((refused, answers.lines().count()), (1, 3), "{answers}");
}

#[test]
fn a_default_ends_no_session() {
    let home = Home::new();
    home.configure("[agents.claude.budget]\nmaxTokens = 100000\n");
    // More than the default number of steps of an execution takes minutes here, so the store is asked.
    assert!(!hook(&home, "a").contains("maxSteps"));
    let status = home.run(STOCKADE, &["limits", "status", "--format", "json"], b"").stdout;
    assert!(!String::from_utf8_lossy(&status).contains("claude-a"), "{}", String::from_utf8_lossy(&status));
}
