//! Approvals that hold in one project, for a time, or once: where they apply, and how they end.
#![expect(clippy::disallowed_methods, reason = "lays out a home and reads its configuration")]

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use crate::approvals::{config, done, run};
use crate::hook::{Answer, Home};
use crate::support::STOCKADE;

/// The answer to a call in a directory.
fn answer_in(home: &Home, cwd: &Path, tool: &str, input: &serde_json::Value) -> Answer {
    home.answer("claude", &json!({"session_id": "s", "cwd": cwd, "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input}))
}

fn is_asked(home: &Home, cwd: &Path, tool: &str, input: &serde_json::Value) -> bool {
    !matches!(answer_in(home, cwd, tool, input), Answer::Silent | Answer::Rewrite(_))
}

/// A host of web pages is asked about once in a session, after the call ran. What ran without a question is asked about later.
#[test]
fn a_host_is_asked_about_once_in_a_session() {
    let home = Home::new();
    let event = |name: &str, session: &str, host: &str| {
        json!({"session_id": session, "cwd": home.project(), "hook_event_name": name, "tool_name": "WebFetch",
            "tool_input": {"url": format!("https://{host}/a"), "prompt": "p"}, "tool_response": "x"})
    };
    let is_asked = |session: &str, host: &str| {
        matches!(home.answer("claude", &event("PreToolUse", session, host)), Answer::Ask(_))
    };
    let runs = |session: &str, host: &str| {
        let payload = event("PostToolUse", session, host).to_string();
        let output = home.run(STOCKADE, &["hook", "--harness", "claude"], payload.as_bytes());
        assert!(output.status.success(), "{output:?}");
    };
    runs("s", "docs.example");
    assert!(is_asked("s", "docs.example"), "it ran without a question");
    assert!(is_asked("s", "docs.example"), "the user said no");
    runs("s", "docs.example");
    assert!(!is_asked("s", "docs.example"));
    assert!(is_asked("s", "other.example") && is_asked("t", "docs.example"));
    home.configure("agents.claude.allowedNetHosts = [\"!docs.example\"]\n");
    let denied = home.answer("claude", &event("PreToolUse", "s", "docs.example"));
    assert!(matches!(denied, Answer::Deny(_)), "{denied:?}");
}

/// A command, a host and a tool are allowed in one project, and nowhere else.
#[test]
fn an_approval_holds_in_one_project() {
    let home = Home::new();
    let (project, other) = (home.project(), home.path().join("other"));
    fs::create_dir(&other).unwrap();
    home.configure("# mine\n");
    for (what, tool, input) in [
        ("docs.example", "WebFetch", json!({"url": "https://docs.example/", "prompt": "p"})),
        ("mcp__x__y", "mcp__x__y", json!({})),
        ("git push origin main", "Bash", json!({"command": "git push origin main"})),
    ] {
        let asked = |cwd: &Path| is_asked(&home, cwd, tool, &input);
        assert!(asked(&project), "{what}");
        let tried = done(&home, &["allow", "--dry-run", "--project", "claude", what]);
        assert!(tried.starts_with("would add") && asked(&project), "{tried}");
        let added = done(&home, &["allow", "--project", "claude", what]);
        assert!(added.contains(&format!("in {}", project.display())), "{added}");
        assert!(!asked(&project) && !asked(&project.join("sub")), "{what}\n{}", config(&home));
        assert!(asked(&other), "{what}");
        let again = done(&home, &["allow", "--project", "claude", what]);
        assert!(again.contains("is already allowed"), "{again}");
        done(&home, &["undo"]);
        assert!(asked(&project), "{what}");
        assert_eq!(config(&home), "# mine\n", "{what}");
    }
}

/// Beside rules that apply in a directory or for a time, a rule for everywhere is added and taken back.
#[test]
fn a_rule_is_added_beside_rules_with_a_scope() {
    const TIMED: &str = "[[scoped]]\nuntil = \"2999-01-01T00:00:00Z\"\n[[scoped.agents.claude.commands.rules]]\n\
                         id = \"timed\"\nexact = [\"make\", \"timed\"]\ndecision = \"allow\"\n";
    let home = Home::new();
    home.configure(TIMED);
    done(&home, &["allow", "--project", "claude", "make deploy"]);
    let scoped = config(&home);
    let pushes = json!({"command": "git push origin main"});
    done(&home, &["allow", "claude", "git push origin main"]);
    assert!(!is_asked(&home, &home.project(), "Bash", &pushes));
    done(&home, &["undo"]);
    assert!(is_asked(&home, &home.project(), "Bash", &pushes));
    assert_eq!(config(&home).trim_end(), scoped.trim_end());
    done(&home, &["undo"]);
    assert_eq!(config(&home).trim_end(), TIMED.trim_end());
}

/// A denied tool of a server is known to `check tool` as to the hook.
#[test]
fn a_denied_tool_of_a_server_is_no_error_about_others() {
    let home = Home::new();
    done(&home, &["deny", "claude", "mcp__x__y"]);
    let checked = |tool: &str| run(&home, &["check", "tool", tool, "--agent", "claude"]);
    let (other, denied) = (checked("exec"), checked("mcp__x__y"));
    assert_eq!((other.code, denied.code), (Some(0), Some(1)), "{}{}", other.text, denied.text);
}

/// A denial of one project holds there, also against what is allowed everywhere.
#[test]
fn a_denial_holds_in_one_project() {
    let home = Home::new();
    let (project, other) = (home.project(), home.path().join("other"));
    fs::create_dir(&other).unwrap();
    let pushes = json!({"command": "git push origin main"});
    done(&home, &["allow", "claude", "git push origin main"]);
    done(&home, &["deny", "--project", "claude", "git push origin main"]);
    assert!(matches!(answer_in(&home, &project, "Bash", &pushes), Answer::Deny(_)));
    assert!(!is_asked(&home, &other, "Bash", &pushes));
    done(&home, &["allow", "claude", "docs.example"]);
    done(&home, &["deny", "--project", "claude", "docs.example"]);
    let page = json!({"url": "https://docs.example/", "prompt": "p"});
    assert!(matches!(answer_in(&home, &project, "WebFetch", &page), Answer::Deny(_)));
    assert!(!is_asked(&home, &other, "WebFetch", &page));
    // What is denied everywhere is not allowed in a project.
    done(&home, &["deny", "claude", "mcp__x__y"]);
    let refused = run(&home, &["allow", "--project", "claude", "mcp__x__y"]);
    assert_eq!(
        (refused.code, refused.text.contains("takes precedence")),
        (Some(2), true),
        "{}",
        refused.text
    );
}

/// A host and a tool are allowed for a time. The ended table goes with the next one.
#[test]
fn an_approval_of_a_host_ends_by_itself() {
    let home = Home::new();
    let page = json!({"url": "https://docs.example/", "prompt": "p"});
    let asked = || is_asked(&home, &home.project(), "WebFetch", &page);
    let added = done(&home, &["allow", "--for", "2s", "claude", "docs.example"]);
    assert!(added.contains("until 2"), "{added}");
    assert!(!asked(), "{}", config(&home));
    sleep(Duration::from_millis(2100));
    assert!(asked(), "{}", config(&home));
    done(&home, &["allow", "--for", "1h", "claude", "WebSearch"]);
    assert!(!config(&home).contains("docs.example"), "{}", config(&home));
}

/// An approval for once is used up by the command, wherever it runs: by the host, or in the sandbox.
#[test]
fn an_approval_for_once_is_used_once() {
    let home = Home::new();
    let project = home.project();
    let pushes = json!({"command": "git push origin main"});
    let asked = || is_asked(&home, &project, "Bash", &pushes);
    done(&home, &["allow", "--once", "claude", "git push origin main"]);
    // Questions about it use nothing up.
    home.run(STOCKADE, &["check", "command", "--agent", "claude", "git push origin main"], b"");
    home.run(STOCKADE, &["why", "--agent", "claude", "git push origin main"], b"");
    let first = answer_in(&home, &project, "Bash", &pushes);
    match &first {
        Answer::Silent => {}
        Answer::Rewrite(input) => {
            let line = input["command"].as_str().unwrap();
            drop(home.run("/bin/sh", &["-c", line], b""));
        }
        other => panic!("{other:?}"),
    }
    assert!(asked());
    done(&home, &["allow", "--once", "--for", "1s", "claude", "git push origin main"]);
    sleep(Duration::from_millis(1100));
    assert!(asked(), "it was not used in time");
    let refused = run(&home, &["allow", "--once", "claude", "docs.example"]);
    assert_eq!((refused.code, refused.text.contains("only a command")), (Some(2), true), "{}", refused.text);
}

/// The plan of an agent's command has what its configuration gives it. Nothing runs, and nothing is recorded or used up.
#[test]
fn the_plan_of_an_agent_is_shown() {
    let home = Home::new();
    home.configure("agents.claude.allowedNetHosts = [\"docs.example\"]\n");
    let plan = |command: &[&str]| {
        let before = ["exec", "--agent", "claude", "--dry-run", "--"];
        run(&home, &[&before[..], command].concat())
    };
    let made = plan(&["sh", "-c", "echo x > made"]);
    assert_eq!((made.code, made.text.contains("docs.example")), (Some(0), true), "{}", made.text);
    done(&home, &["allow", "--once", "claude", "git push origin main"]);
    for _ in 0..2 {
        let allowed = plan(&["git", "push", "origin", "main"]);
        assert_eq!(allowed.code, Some(0), "{}", allowed.text);
    }
    let asked = plan(&["npm", "ci"]);
    assert_eq!((asked.code, asked.text.contains("registry.npmjs.org")), (Some(126), true), "{}", asked.text);
    let denied = plan(&["rm", "-rf", "/"]);
    assert_eq!((denied.code, denied.text.contains("docs.example")), (Some(126), false), "{}", denied.text);
    assert!(!home.project().join("made").exists());
    assert!(!home.path().join(".local/state/stockade/audit.db").exists());
}

/// A command, a host and a tool are allowed in the session of the harness that called the hook last, and in no other one.
#[test]
fn an_approval_ends_with_its_session() {
    let home = Home::new();
    let project = home.project();
    home.configure("# mine\n");
    let early = ran(&home, &["allow", "--session", "claude", "docs.example"]);
    assert!(String::from_utf8_lossy(&early.stderr).contains("no session of claude"), "{early:?}");
    for (what, tool, input) in [
        ("docs.example", "WebFetch", json!({"url": "https://docs.example/", "prompt": "p"})),
        ("mcp__x__y", "mcp__x__y", json!({})),
        ("git push origin main", "Bash", json!({"command": "git push origin main"})),
    ] {
        let asked = |session: &str| {
            let call = json!({"session_id": session, "cwd": project, "hook_event_name": "PreToolUse", "tool_name": tool,
                "tool_input": input});
            !matches!(home.answer("claude", &call), Answer::Silent | Answer::Rewrite(_))
        };
        assert!(asked("other") && asked("one_1.a"), "{what}");
        let added = done(&home, &["allow", "--session", "claude", what]);
        assert!(added.contains("in the session one_1.a alone"), "{added}");
        assert!(!asked("one_1.a"), "{what}\n{}", config(&home));
        assert!(asked("other") && asked(""), "{what}");
        done(&home, &["undo"]);
        assert!(asked("one_1.a"), "{what}");
        assert_eq!(config(&home), "# mine\n", "{what}");
    }
    let both = ran(&home, &["allow", "--session", "--for", "1h", "claude", "docs.example"]);
    assert_eq!(both.status.code(), Some(2), "{both:?}");
}

/// The operator's text stands behind the reason at every entry point, and changes no decision.
#[test]
fn the_text_of_the_operator_follows_the_reason() {
    let home = Home::new();
    let call = |tool: &str, input: &serde_json::Value| answer_in(&home, &home.project(), tool, input);
    let push = json!({"command": "git push origin main"});
    let page = json!({"url": "https://wiki.corp.example/x", "prompt": "p"});
    let rule = match call("Bash", &push) {
        Answer::Ask(why) if why.contains("git-beyond") => "git-beyond",
        other => panic!("{other:?}"),
    };
    home.configure(&format!(
        "agents.claude.messages = [\"{rule}: ask in #release\", \"*.corp.example: use the mirror\"]\n"
    ));
    for (tool, input, text) in [("Bash", &push, "ask in #release"), ("WebFetch", &page, "use the mirror")] {
        let answer = call(tool, input);
        assert!(matches!(&answer, Answer::Ask(why) if why.contains(text)), "{answer:?}");
    }
    for args in [
        &["check", "command", "--agent", "claude", "git push origin main"][..],
        &["check", "command", "--format", "json", "--agent", "claude", "git push origin main"],
        &["exec", "--agent", "claude", "--", "git", "push", "origin", "main"],
        &["why", "--agent", "claude", "git push origin main"],
    ] {
        let output = ran(&home, args);
        let said = [output.stdout, output.stderr].concat();
        assert!(
            String::from_utf8_lossy(&said).contains("ask in #release"),
            "{args:?}: {}",
            String::from_utf8_lossy(&said)
        );
    }
    // Another agent has its own texts.
    let other =
        home.answer("gemini", &crate::hook::shell("gemini", &home.project(), &json!("git push origin main")));
    assert!(matches!(&other, Answer::Deny(why) if !why.contains("#release")), "{other:?}");
    home.configure("agents.claude.messages = [\"no entry\"]\n");
    let refused = ran(&home, &["check", "command", "--agent", "claude", "ls"]);
    assert!(
        !refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("RULE: TEXT"),
        "{refused:?}"
    );
}

fn ran(home: &Home, args: &[&str]) -> std::process::Output {
    home.run(STOCKADE, args, b"")
}
