//! `stockade learn`: what is proposed from the trail and from transcripts, what never is, and that no floor becomes milder.
#![expect(
    clippy::disallowed_methods,
    reason = "lays out a home with transcripts, and reads its configuration"
)]

use std::fs;

use serde_json::{Value, json};

use crate::hook::{Answer, Home, claude};
use crate::support::STOCKADE;

fn run(home: &Home, args: &[&str]) -> (String, Option<i32>) {
    let output = home.run(STOCKADE, args, b"");
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&text).into_owned(), output.status.code())
}

fn learn(home: &Home, args: &[&str]) -> Value {
    let (text, code) = run(home, &[&["learn"], args, &["--format", "json"]].concat());
    assert_eq!(code, Some(0), "{text}");
    let report: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
    assert_eq!(report["problems"], json!([]), "{text}");
    report["agents"][0].clone()
}

fn bash(home: &Home, command: &str) -> Answer {
    claude(home, "Bash", &json!({"command": command}))
}

/// Returns the names and counts of a list.
fn rows(list: &Value) -> Vec<(String, u64)> {
    let rows = list.as_array().into_iter().flatten();
    rows.map(|row| (row["what"].as_str().unwrap().to_owned(), row["count"].as_u64().unwrap())).collect()
}

fn owned(rows: &[(&str, u64)]) -> Vec<(String, u64)> {
    rows.iter().map(|(what, count)| ((*what).to_owned(), *count)).collect()
}

/// Writes a transcript of Claude Code with calls of tools.
fn transcript(home: &Home, name: &str, calls: &[(&str, Value)]) {
    let file = home.path().join(".claude/projects/-p").join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let lines = calls.iter().map(|(tool, input)| {
        let part = json!({"type": "tool_use", "id": "t", "name": tool, "input": input});
        let line = json!({"type": "assistant", "cwd": home.project(), "message": {"content": [part]}});
        format!("{line}\n")
    });
    fs::write(file, lines.collect::<String>()).unwrap();
}

/// Adds every proposal by the command that the report names for it.
fn apply(home: &Home, lesson: &Value) -> usize {
    let proposed = lesson["proposed"].as_array().unwrap();
    for row in proposed {
        let line = row["command"].as_str().unwrap();
        let output = home.run("/bin/sh", &["-c", &line.replacen("stockade", STOCKADE, 1)], b"");
        assert!(output.status.success(), "{line}: {output:?}");
    }
    proposed.len()
}

#[test]
fn the_trail_is_answered_by_the_narrowest_approvals() {
    let home = Home::new();
    for _ in 0..3 {
        assert!(matches!(bash(&home, "git push origin main"), Answer::Ask(_)));
    }
    assert!(matches!(bash(&home, "cat ~/.ssh/id_rsa"), Answer::Deny(_)));
    assert!(matches!(bash(&home, "git push origin x; cat .env"), Answer::Ask(_)));
    let fetch = json!({"url": "https://docs.example/a", "prompt": "p"});
    assert!(matches!(claude(&home, "WebFetch", &fetch), Answer::Ask(_)));
    assert!(matches!(claude(&home, "mcp__a__b", &json!({})), Answer::Ask(_)));
    assert_ne!(bash(&home, "cargo test"), Answer::Silent);
    // A test call is refused on purpose.
    run(&home, &["install", "claude"]);
    run(&home, &["status", "claude"]);
    let lesson = learn(&home, &["claude"]);
    let wanted = [("command git push origin main", 3), ("host docs.example:443", 1), ("tool mcp__a__b", 1)];
    assert_eq!(rows(&lesson["proposed"]), owned(&wanted), "{lesson:#}");
    let never = [("command cat ~/.ssh/id_rsa", 1), ("command git push origin x; cat .env", 1)];
    assert_eq!(rows(&lesson["never"]), owned(&never), "{lesson:#}");
    assert!(lesson["never"][0]["reason"].as_str().unwrap().contains("private key"), "{lesson:#}");

    let (text, code) = run(&home, &["learn", "claude"]);
    assert_eq!(code, Some(0));
    let config = home.path().join(".config/stockade/config.toml").display().to_string();
    assert!(text.contains(&format!("+++ {config}\n+ ")) && text.contains("3 times"), "{text}");
    assert!(text.contains("never proposed:") && text.contains("stockade learn claude --apply"), "{text}");

    assert_eq!(apply(&home, &lesson), 3);
    assert!(!matches!(bash(&home, "git push origin main"), Answer::Ask(_)));
    assert!(matches!(bash(&home, "git push origin other"), Answer::Ask(_)), "exactly these words");
    assert_eq!(claude(&home, "WebFetch", &fetch), Answer::Silent);
    let after = learn(&home, &["claude"]);
    // What was asked about since is the only thing left.
    assert_eq!(rows(&after["proposed"]), owned(&[("command git push origin other", 1)]), "{after:#}");
    // A denial by the user is not argued with.
    run(&home, &["deny", "claude", "git push origin other"]);
    let denied = learn(&home, &["claude"]);
    assert_eq!(rows(&denied["proposed"]), Vec::new(), "{denied:#}");
    assert_eq!(learn(&home, &["claude", "--since", "2020-01-01"])["calls"], denied["calls"]);
    assert_eq!(run(&home, &["learn", "claude", "--since", "2100-01-01"]).0.lines().count(), 1);
}

#[test]
fn transcripts_are_decided_by_the_rules_of_today() {
    let home = Home::new();
    let file = home.path().join("notes.txt");
    fs::write(&file, "x").unwrap();
    let bash = |command: &str| ("Bash", json!({"command": command}));
    transcript(
        &home,
        "a.jsonl",
        &[
            bash("git push origin main"),
            bash("git push origin main"),
            bash("ls"),
            bash("python3 -c 'print(1)'"),
            bash("$TOOL x"),
            ("Read", json!({"file_path": file})),
            ("Read", json!({"file_path": home.path().join(".ssh/id_rsa")})),
            ("WebFetch", json!({"url": "https://docs.example/a", "prompt": "p"})),
            ("WebSearch", json!({"query": "q"})),
            ("Task", json!({"prompt": "p"})),
        ],
    );
    let lesson = learn(&home, &["claude"]);
    assert_eq!(lesson["proposed"][0]["what"], "command git push origin main");
    assert_eq!(lesson["proposed"][0]["count"], 2);
    let proposed = rows(&lesson["proposed"]);
    let names: Vec<&str> = proposed.iter().map(|(what, _)| what.as_str()).collect();
    assert!(names.contains(&"host docs.example:443") && names.contains(&"tool web_search"), "{names:?}");
    assert!(!names.iter().any(|name| name.contains("python3") || name.contains("id_rsa")), "{names:?}");
    assert!(rows(&lesson["never"]).contains(&("command $TOOL x".to_owned(), 1)), "{lesson:#}");
    apply(&home, &lesson);
    assert_eq!(rows(&learn(&home, &["claude"])["proposed"]), Vec::new());

    let sessions = home.path().join(".codex/sessions/2026/11/21");
    fs::create_dir_all(&sessions).unwrap();
    let arguments = json!({"command": ["bash", "-lc", "git push origin main"], "workdir": home.project()});
    let lines = [
        json!({"type": "session_meta", "payload": {"cwd": home.project()}}),
        json!({"type": "response_item", "payload":
            {"type": "function_call", "name": "shell", "arguments": arguments.to_string()}}),
    ];
    fs::write(sessions.join("rollout-x.jsonl"), format!("{}\n{}\n", lines[0], lines[1])).unwrap();
    let codex = learn(&home, &["codex", "--from", "codex"]);
    assert_eq!(rows(&codex["proposed"]), owned(&[("command git push origin main", 1)]), "{codex:#}");
    let of_file = sessions.join("rollout-x.jsonl").display().to_string();
    assert_eq!(learn(&home, &["codex", "--from", &of_file])["proposed"], codex["proposed"]);
}

/// A host that the egress proxy refused to a command is proposed, and answers the last refusal.
#[test]
fn hosts_that_commands_were_refused_are_proposed() {
    let home = Home::new();
    home.configure("[agents.claude]\nallowedNetHosts = [\"docs.example:443\"]\n");
    let script =
        "import urllib.request as r\ntry: r.urlopen('https://refused.example/')\nexcept Exception: pass\n";
    fs::write(home.project().join("t.py"), script).unwrap();
    let ran =
        home.run(STOCKADE, &["exec", "--agent", "claude", "--workspace", ".", "--", "python3", "t.py"], b"");
    assert!(ran.status.success(), "{ran:?}");
    let wanted = [("host refused.example:443", 1)];
    assert_eq!(rows(&learn(&home, &["claude"])["proposed"]), owned(&wanted), "{ran:?}");
    let (text, code) = run(&home, &["allow", "--last", "--yes"]);
    assert_eq!((code, text.contains("refused.example:443")), (Some(0), true), "{text}");
    assert_eq!(learn(&home, &["claude"])["proposed"], json!([]));
}

/// A transcript that is damaged, hostile or too long is not taken for a whole one.
#[test]
fn what_cannot_be_read_is_reported() {
    let home = Home::new();
    transcript(&home, "a.jsonl", &[("Bash", json!({"command": "git push origin main"}))]);
    let hostile = home.path().join(".claude/projects/-p/b.jsonl");
    fs::write(&hostile, [b"{\n\xff\xfe\n".as_slice(), &vec![b'['; 3 << 20], b"\n\n{}\n"].concat()).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", home.path().join(".claude/projects/-p/c.jsonl")).unwrap();
    let (text, code) = run(&home, &["learn", "claude"]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("b.jsonl: 3 lines could not be parsed") && text.contains("git-push"), "{text}");
    assert!(!text.contains("c.jsonl"), "{text}");
    for (args, code) in [
        (&["learn", "cluade"][..], 2),
        (&["learn", "claude", "--from", "nowhere"], 2),
        (&["learn", "claude", "--since", "x"], 2),
        (&["learn", "claude", "--apply"], 2),
    ] {
        transcript(&home, "b.jsonl", &[]);
        if args == ["learn", "cluade"] {
            transcript(&home, "d.jsonl", &[("Bash", json!({"command": "ls"}))]);
            let file = home.path().join(".claude/projects/-p/d.jsonl").display().to_string();
            let (text, got) = run(&home, &["learn", "cluade", "--from", &file]);
            assert_eq!(got, Some(code), "{text}");
            continue;
        }
        let (text, got) = run(&home, args);
        assert_eq!(got, Some(code), "{args:?}: {text}");
    }
    assert!(!home.path().join(".config/stockade/config.toml").exists(), "nothing is written without a user");
    assert!(matches!(bash(&home, "stockade learn claude --apply"), Answer::Deny(_)));
}

/// Everything that is proposed for the commands of the tables is applied, and no denied one becomes milder.
#[test]
fn no_floor_becomes_milder_by_what_is_proposed() {
    let home = Home::new();
    let lines = include_str!("serve/entry_points/commands.tsv").lines();
    let texts = lines.filter_map(|line| line.strip_prefix("-\t")).map(|text| text.replace('⏎', "\n"));
    let answers: Vec<(String, Answer)> = texts.map(|text| (text.clone(), bash(&home, &text))).collect();
    let calls: Vec<(&str, Value)> =
        answers.iter().map(|(text, _)| ("Bash", json!({"command": text}))).collect();
    transcript(&home, "a.jsonl", &calls);
    let lesson = learn(&home, &["claude"]);
    let never = rows(&lesson["never"]);
    assert!(apply(&home, &lesson) >= 6, "{lesson:#}");
    let mut denied = 0;
    for (text, before) in &answers {
        let is_never = never.iter().any(|(what, _)| *what == format!("command {text}"));
        if !is_never && !matches!(before, Answer::Deny(_)) {
            continue;
        }
        let after = bash(&home, text);
        assert_eq!(std::mem::discriminant(&after), std::mem::discriminant(before), "{text}: {after:?}");
        denied += 1;
    }
    assert!(denied >= 40, "{denied}");
}
