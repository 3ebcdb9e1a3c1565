//! Answers to commands over the server: bound to what was shown, remembered as long as they are to hold, and on record.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::Serving;
use crate::support::STOCKADE;

const ASKS: &str = r#"
[agents.shy.commands]
unmatched = "ask"

[agents.curt.commands]
unmatched = "ask"
sessionAnswerMinutes = 0
keptAnswerDays = 0
"#;

fn configured(config: &str) -> (Serving, String) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".config/stockade");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), config).unwrap();
    let serving = Serving::start_in(home);
    let workspace = serving.workspace();
    (serving, workspace)
}

fn session(serving: &mut Serving, agent: &str) -> String {
    let opened = serving.call("session.open", &json!({"agent": agent}));
    opened["result"]["session"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned()
}

fn script(workspace: &str, text: &str) {
    let path = format!("{workspace}/build.sh");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A request, changed.
fn with(request: &Value, changes: &Value) -> Value {
    let mut request = request.clone();
    for (name, value) in changes.as_object().unwrap() {
        request[name] = value.clone();
    }
    request
}

fn evaluate(serving: &mut Serving, request: &Value) -> Value {
    let answer = serving.call("command.evaluate", request);
    assert!(answer["error"].is_null(), "{request}: {answer}");
    answer["result"].clone()
}

/// What `check command` decides, and by which answer.
fn checked(home: &Path, workspace: &str, args: &[&str]) -> (Value, Value) {
    let mut command = Command::new(STOCKADE);
    command.args(["check", "command", "--format", "json", "--cwd", workspace]).args(args);
    command.env_clear().env("HOME", home).env("PATH", "/usr/bin:/bin");
    let output = command.current_dir(home).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    (answer["decision"].clone(), answer["answered"].clone())
}

#[test]
fn an_answer_is_bound_to_the_shown_question() {
    let (mut serving, workspace) = configured("");
    let session = session(&mut serving, "");
    script(&workspace, "one");
    let rules = json!([{"prefix": ["./build.sh"], "action": "ask"}]);
    let request = json!({"command": "./build.sh", "cwd": workspace, "rules": rules, "session": session});
    let asked = evaluate(&mut serving, &request);
    let question = asked["question"].clone();
    assert_eq!((&asked["action"], &question["shown"]), (&json!("ask"), &json!("./build.sh")), "{asked}");
    assert_eq!(question["answers"].as_array().unwrap().len(), 5, "{asked}");
    assert!(question["files"][0]["path"].as_str().unwrap().ends_with("work/./build.sh"), "{asked}");

    // The file changes while the person thinks.
    script(&workspace, "two");
    let late = with(&request, &json!({"question": question["id"], "answer": "allow-session"}));
    let still = evaluate(&mut serving, &late);
    assert_eq!(still["action"], "ask", "{still}");
    assert!(still["reason"].as_str().unwrap().contains("changed after"), "{still}");
    let said = with(&late, &json!({"question": still["question"]["id"]}));
    let allowed = evaluate(&mut serving, &said);
    assert_eq!(
        (&allowed["action"], &allowed["matchedRule"]),
        (&json!("allow"), &json!("answer")),
        "{allowed}"
    );
    assert_eq!(allowed["answered"]["answer"], "allow-session", "{allowed}");

    assert_eq!(evaluate(&mut serving, &request)["action"], "allow");
    for (name, changed) in [
        ("another folder", with(&request, &json!({"cwd": format!("{workspace}/..")}))),
        ("another text", with(&request, &json!({"command": "./build.sh ."}))),
        ("a variable", with(&request, &json!({"variables": {"LD_PRELOAD": "/tmp/x.so"}}))),
        ("another shell", with(&request, &json!({"shell": "zsh"}))),
        ("no session", json!({"command": "./build.sh", "cwd": workspace, "rules": rules})),
    ] {
        assert_eq!(evaluate(&mut serving, &changed)["action"], "ask", "{name}");
    }
    let denied = with(&request, &json!({"rules": [{"prefix": ["./build.sh"], "action": "deny"}]}));
    assert_eq!(evaluate(&mut serving, &denied)["action"], "deny");
    script(&workspace, "three");
    assert_eq!(evaluate(&mut serving, &request)["action"], "ask");
    script(&workspace, "two");
    assert_eq!(evaluate(&mut serving, &request)["action"], "allow");

    let listed = serving.call("answers.list", &json!({"session": session}));
    let id = listed["result"]["answers"][0]["id"].clone();
    assert_eq!(listed["result"]["answers"].as_array().unwrap().len(), 1, "{listed}");
    let revoked = serving.call("answers.revoke", &json!({"session": session, "id": id}));
    assert_eq!(revoked["result"]["revoked"], 1, "{revoked}");
    assert_eq!(evaluate(&mut serving, &request)["action"], "ask");
    assert_eq!(serving.end(), Some(0));
}

#[test]
fn a_saved_answer_is_valid_for_later_servers_until_revoked() {
    let (mut serving, workspace) = configured("");
    let request = json!({"command": "git push", "cwd": workspace, "session": session(&mut serving, "")});
    let id = evaluate(&mut serving, &request)["question"]["id"].clone();
    let said = with(&request, &json!({"question": id, "answer": "allow-always"}));
    assert_eq!(evaluate(&mut serving, &said)["action"], "allow");
    let mut later = serving.again();
    let request = json!({"command": "git push", "cwd": workspace, "session": session(&mut later, "")});
    assert_eq!(evaluate(&mut later, &request)["action"], "allow");
    // It is the same question without a session, and at the other entry point.
    let bare = json!({"command": "git push", "cwd": workspace});
    assert_eq!(evaluate(&mut later, &bare)["answered"]["answer"], "allow-always");
    assert_eq!(
        checked(later.home.path(), &workspace, &["git push"]),
        (json!("allow"), json!("allow-always"))
    );
    assert_eq!(checked(later.home.path(), &workspace, &["git push --force"]), (json!("ask"), Value::Null));
    assert_eq!(
        checked(later.home.path(), &workspace, &["git push", "--agent", "another"]),
        (json!("ask"), Value::Null)
    );
    let force = with(&request, &json!({"command": "git push --force"}));
    assert_eq!(evaluate(&mut later, &force)["action"], "ask");
    let other = session(&mut later, "another");
    assert_eq!(evaluate(&mut later, &with(&request, &json!({"session": other})))["action"], "ask");
    let listed = later.call("answers.list", &json!({}));
    assert_eq!(listed["result"]["answers"][0]["shown"], "git push", "{listed}");
    assert_eq!(later.call("answers.revoke", &json!({"all": true}))["result"]["revoked"], 1);
    assert_eq!(evaluate(&mut later, &request)["action"], "ask");
    assert_eq!(evaluate(&mut later, &bare)["action"], "ask");
    assert_eq!(checked(later.home.path(), &workspace, &["git push"]), (json!("ask"), Value::Null));
}

#[test]
fn a_saved_answer_needs_its_question() {
    let (mut serving, workspace) = configured("");
    let session = session(&mut serving, "");
    let request = json!({"command": "git push", "cwd": workspace, "session": session});
    for wrong in [
        json!({"answer": "allow-session"}),
        json!({"answer": "allow-always"}),
        json!({"answer": "yes"}),
        json!({"question": "00"}),
    ] {
        let answer = serving.call("command.evaluate", &with(&request, &wrong));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    let guessed = with(&request, &json!({"question": "0".repeat(64), "answer": "allow-session"}));
    assert_eq!(evaluate(&mut serving, &guessed)["action"], "ask");
    // For once, the one who sends the request answers for what they have shown.
    assert_eq!(evaluate(&mut serving, &with(&request, &json!({"answer": "allow"})))["action"], "allow");
    assert_eq!(evaluate(&mut serving, &with(&request, &json!({"answer": "deny"})))["action"], "deny");
    assert_eq!(evaluate(&mut serving, &request)["action"], "ask");
    let uncertain = with(&request, &json!({"command": "git push $(cat branch)"}));
    let asked = evaluate(&mut serving, &uncertain);
    assert!(asked["question"]["once"].is_string(), "{asked}");
    let said = with(&uncertain, &json!({"question": asked["question"]["id"], "answer": "allow-session"}));
    assert!(evaluate(&mut serving, &said)["answered"]["once"].is_string());
    assert_eq!(evaluate(&mut serving, &uncertain)["action"], "ask");
}

#[test]
fn an_answer_is_bound_to_the_bytes_of_the_command() {
    let (mut serving, workspace) = configured(ASKS);
    let shy = session(&mut serving, "shy");
    script(&workspace, "#!/bin/sh\necho ran >> made\n");
    let made = || fs::read_to_string(format!("{workspace}/made")).unwrap_or_default().lines().count();
    let request =
        json!({"agent": "shy", "command": "./build.sh", "spec": {"workspace": workspace}, "session": shy});
    let asked = serving.call("exec", &request);
    let question = asked["error"]["data"]["question"].clone();
    assert_eq!((&asked["error"]["code"], made()), (&json!(-32001), 0), "{asked}");

    script(&workspace, "#!/bin/sh\necho evil >> made\n");
    let said = with(&request, &json!({"question": question["id"], "answer": "allow-session"}));
    let refused = serving.call("exec", &said);
    assert!(refused["error"]["message"].as_str().unwrap().contains("changed after"), "{refused}");
    assert_eq!(made(), 0);
    script(&workspace, "#!/bin/sh\necho ran >> made\n");
    let ran = serving.call("exec", &said);
    assert_eq!((&ran["result"]["exitCode"], made()), (&json!(0), 1), "{ran}");
    let again = serving.call("exec", &request);
    assert_eq!((&again["result"]["decision"]["layer"], made()), (&json!("person"), 2), "{again}");
    script(&workspace, "#!/bin/sh\necho evil >> made\n");
    assert_eq!((&serving.call("exec", &request)["error"]["code"], made()), (&json!(-32001), 2));
    // The answers to one agent do not count for another.
    let foreign = with(&request, &json!({"agent": "bot"}));
    assert_eq!(serving.call("exec", &foreign)["error"]["code"], -32602);
    // A configuration that lets no answer last.
    let curt = session(&mut serving, "curt");
    let request = with(&request, &json!({"agent": "curt", "session": curt}));
    let id = serving.call("exec", &request)["error"]["data"]["question"]["id"].clone();
    let said = with(&request, &json!({"question": id, "answer": "allow-session"}));
    assert_eq!(serving.call("exec", &said)["result"]["exitCode"], 0);
    assert_eq!(serving.call("exec", &request)["error"]["code"], -32001);
}

/// What a person has said for always to a server, `stockade run` knows too.
#[test]
fn a_saved_answer_is_valid_at_every_entry_point() {
    let (mut serving, workspace) = configured(ASKS);
    script(&workspace, "#!/bin/sh\necho ran >> made\n");
    let home = serving.home.path().to_owned();
    fs::create_dir(home.join("skill")).unwrap();
    fs::write(home.join("skill/SKILL.md"), "---\nname: skill\ndescription: Builds.\n---\nBuild it.\n")
        .unwrap();
    let run = || {
        let mut command = Command::new(STOCKADE);
        command.args(["run", "--agent", "shy", "--workspace", &workspace]).arg(home.join("skill"));
        let run =
            command.args(["--", "./build.sh"]).env_clear().env("HOME", &home).env("PATH", "/usr/bin:/bin");
        run.current_dir(&home).output().unwrap()
    };
    assert_eq!(run().status.code(), Some(126));
    let request = json!({"agent": "shy", "command": "./build.sh", "spec": {"workspace": workspace}});
    let id = serving.call("exec", &request)["error"]["data"]["question"]["id"].clone();
    let said = with(&request, &json!({"question": id, "answer": "allow-always"}));
    assert_eq!(serving.call("exec", &said)["result"]["exitCode"], 0);
    let ran = run();
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    assert_eq!(serving.call("exec", &request)["result"]["exitCode"], 0);
    let check = || checked(&home, &workspace, &["./build.sh", "--agent", "shy"]).0;
    assert_eq!(check(), "allow");
    script(&workspace, "#!/bin/sh\necho evil >> made\n");
    assert_eq!(run().status.code(), Some(126));
    assert_eq!(check(), "ask");
    assert_eq!(serving.call("exec", &request)["error"]["code"], -32001);
    assert_eq!(fs::read_to_string(format!("{workspace}/made")).unwrap(), "ran\nran\nran\n");
}

#[test]
fn a_question_shows_the_whole_command() {
    let (mut serving, _) = configured("");
    let hidden = format!("ls{}; rm -rf / \u{202e}\n", " ".repeat(400));
    let denied = evaluate(&mut serving, &json!({"command": hidden}));
    assert_eq!(denied["shown"], "ls⟨400 spaces⟩; rm -rf / ⟨U+202E⟩⟨newline⟩", "{denied}");
    assert!(evaluate(&mut serving, &json!({"command": "ls"}))["shown"].is_null());
}

#[test]
fn evaluations_are_on_record_where_the_configuration_says_so() {
    // That of a session of an agent is on record in any case.
    for (config, wanted) in [("", 1), ("[audit]\nevaluations = true\n", 4)] {
        let (mut serving, workspace) = configured(config);
        let session = session(&mut serving, "bot");
        let secret = "git push https://me:ghp_abcdefghijklmnopqrstuvwxyz0123456789@git.example/x";
        evaluate(&mut serving, &json!({"command": secret, "session": session, "cwd": workspace}));
        evaluate(&mut serving, &json!({"command": "ls"}));
        evaluate(&mut serving, &json!({"command": "rm -rf /"}));
        let wish = json!({"type": "fs.read", "resource": ".env", "agent": "reader", "tool": "read"});
        serving.call(
            "path.authorize",
            &json!({"config": {"preset": "default", "cwd": workspace}, "request": wish}),
        );
        let events = serving.call("audit.query", &json!({"limit": 100}))["result"]["events"].clone();
        let events = events.as_array().unwrap();
        assert_eq!(events.len(), wanted, "{events:?}");
        if wanted == 1 {
            continue;
        }
        let kinds: Vec<&str> = events.iter().rev().map(|event| event["event"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["approval_asked", "command_allowed", "command_denied", "path_denied"]);
        let text = json!(events).to_string();
        for part in
            ["\"door\":\"command.evaluate\"", "\"door\":\"path.authorize\"", "git-", "\"agent\":\"bot\""]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("ghp_abc") && !text.contains(&session), "{text}");
        let found = serving.call("audit.query", &json!({"agent": "reader"}));
        assert_eq!(found["result"]["events"].as_array().unwrap().len(), 1, "{found}");
    }
}

#[test]
fn what_cannot_be_put_on_record_is_not_answered_unless_the_configuration_says_so() {
    for (unrecorded, is_answered) in [("refuse", false), ("warn", true)] {
        let config = format!(
            "[audit]\nevaluations = true\npath = \"/proc/nowhere/audit.jsonl\"\nonUnrecorded = \"{unrecorded}\"\n"
        );
        let (mut serving, _) = configured(&config);
        let answer = serving.call("command.evaluate", &json!({"command": "ls"}));
        assert_eq!(answer["result"]["action"] == "allow", is_answered, "{unrecorded}: {answer}");
    }
}
