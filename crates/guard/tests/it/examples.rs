//! The examples, run.

#[path = "../../examples/agent_loop.rs"]
#[expect(dead_code, reason = "the script is for its own program")]
mod agent_loop;

use agent_loop::Step;

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
