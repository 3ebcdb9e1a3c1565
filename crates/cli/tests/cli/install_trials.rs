//! What `stockade install` tries in the sandbox: the toolchain of the user, and MCP servers before their settings are changed.
#![expect(clippy::disallowed_methods, reason = "writes settings and programs into folders of its own")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::hook::Home;
use crate::support::STOCKADE;

/// A server that answers to `initialize`, and another one that does not.
const SERVER: &str = r#"import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"protocolVersion": "2025-06-18",
            "capabilities": {}, "serverInfo": {"name": "t", "version": "1"}}}), flush=True)
"#;

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn args(home: &Home, name: &str) -> Value {
    let text = fs::read_to_string(home.path().join(".claude.json")).unwrap();
    let known: Value = serde_json::from_str(&text).unwrap();
    known["mcpServers"][name]["args"].clone()
}

/// A server is wrapped if it answers in the sandbox, with the hosts that its settings name, and is not changed otherwise.
#[test]
fn a_server_that_does_not_answer_in_the_sandbox_is_not_changed() {
    let home = Home::new();
    write(&home.project().join("server.py"), SERVER);
    let servers = json!({"mcpServers": {
        "good": {"command": "python3", "args": ["server.py", "--api", "https://api.example.com/v1"]},
        "gone": {"command": "no-such-server", "args": ["x"]},
        "ends": {"command": "python3", "args": ["-c", "import sys; sys.exit('no key')"]},
        "docker": {"command": "docker", "args": ["run", "-i", "mcp/git"]}
    }});
    write(&home.path().join(".claude.json"), &servers.to_string());
    let output = home.run(STOCKADE, &["install", "claude", "--mcp"], b"");
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    let good = args(&home, "good");
    let words: Vec<&str> = good.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(words.windows(2).any(|two| two == ["--allow-host", "api.example.com:443"]), "{words:?} {text}");
    assert!(
        words.ends_with(&["--", "python3", "server.py", "--api", "https://api.example.com/v1"]),
        "{words:?}"
    );
    for (name, why) in [("gone", "no-such-server"), ("ends", "ends"), ("docker", "daemon")] {
        assert_eq!(args(&home, name), servers["mcpServers"][name]["args"], "{name}");
        let line = text
            .lines()
            .find(|line| line.starts_with(&format!("`{name}` was not changed")))
            .unwrap_or_default();
        assert!(line.contains(why), "{name}: {text}");
    }
    // Without a trial, each is wrapped.
    let output = home.run(STOCKADE, &["install", "claude", "--mcp", "--no-try"], b"");
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(args(&home, "gone")[0], "mcp");
}

/// A client shows what a server prints at most, so the wrapper names a program that is missing.
#[test]
fn a_missing_server_is_named() {
    let home = Home::new();
    let output = home.run(STOCKADE, &["mcp", "wrap", "--name", "x", "--", "no-such-server"], b"");
    assert_eq!(output.status.code(), Some(127), "{output:?}");
    assert!(said(&output).contains("the server did not start: no-such-server was not found"), "{output:?}");
}

#[test]
fn an_installation_reports_the_toolchain_in_the_sandbox() {
    let home = Home::new();
    let text = said(&home.run(STOCKADE, &["install", "claude"], b""));
    assert!(text.contains("ok    in the sandbox: ") && text.contains("python3"), "{text}");
    let quiet = said(&home.run(STOCKADE, &["install", "claude", "--no-try"], b""));
    assert!(!quiet.contains("in the sandbox: "), "{quiet}");
}
