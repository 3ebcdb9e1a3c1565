//! The examples, run.

#[path = "../../examples/agent_loop.rs"]
#[expect(dead_code, reason = "the script is for its own program")]
mod agent_loop;

#[path = "../../examples/ask_user.rs"]
mod ask_user;

use agent_loop::Step;
use stockade_guard::policy::{PermissionDecision, Reply};

#[test]
fn a_person_is_asked_about_what_the_rules_leave_open() {
    let folder = tempfile::tempdir().unwrap();
    let answer = |answer| move |_: &_| Reply::Decision(answer);
    let (yes, no) = (PermissionDecision::Allow, PermissionDecision::Deny);
    // No rule asks about it, so no question is asked.
    assert_eq!(ask_user::run(folder.path(), "echo hello", answer(no)).unwrap(), "hello\n");
    // What the shell runs is only known when it runs.
    let open = "x=echo; $x hello";
    assert_eq!(ask_user::run(folder.path(), open, answer(yes)).unwrap(), "hello\n");
    assert!(ask_user::run(folder.path(), open, answer(no)).unwrap().starts_with("deny"));
    // No answer can allow this.
    assert!(ask_user::run(folder.path(), "rm -rf /", answer(yes)).unwrap().starts_with("deny"));
}

#[test]
fn the_agent_gets_results_and_reasons() {
    let folder = tempfile::tempdir().unwrap();
    let script = [
        Step::Call("read", "notes.md"),
        Step::Call("read", "../../etc/passwd"),
        Step::Call("browser", "https://x.example"),
        Step::Call("exec", "rm -rf /"),
        Step::Answer("done"),
        Step::Call("read", "notes.md"),
    ];
    let seen = agent_loop::run(folder.path(), &script).unwrap();
    let wanted = [
        "<skill_content name=\"tidy\">",
        "read notes.md: Count the files.",
        "read ../../etc/passwd: deny `../../etc/passwd`",
        "browser https://x.example: deny `browser`",
        "exec rm -rf /: deny `rm -rf /`",
        "answer: done",
    ];
    assert_eq!(seen.len(), wanted.len(), "{seen:?}");
    for (line, wanted) in seen.iter().zip(wanted) {
        assert!(line.starts_with(wanted), "{line}");
    }
}
