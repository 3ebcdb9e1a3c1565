//! The program of E2B, by the lines of its protocol.

#![expect(clippy::disallowed_methods, reason = "starts the program, and looks at its time")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stockade_exec_sandbox::SandboxSpec;
use stockade_exec_sandbox::backends::protocol::SandboxRequest;

use super::e2b::Fake;

/// A program that was started, and its streams.
struct Talk {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Talk {
    fn begin(request: &Value) -> Self {
        let mut talk = Self::with_line(&request.to_string());
        talk.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        talk
    }

    fn with_line(line: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_stockade-backend-e2b"))
            .env_clear()
            .env("E2B_API_KEY", format!("e2b_{}", "0".repeat(40)))
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take();
        stdin.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout }
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or(Value::Null)
    }

    /// All lines to the end.
    fn lines(mut self) -> Vec<Value> {
        self.stdin = None;
        let mut text = String::new();
        self.stdout.read_to_string(&mut text).unwrap();
        self.child.wait().unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn request(kind: &str, fake: &Fake, workspace: &Path, words: &[&str]) -> Value {
    let spec = SandboxSpec::new(workspace, words.iter().copied());
    let address = format!("http://127.0.0.1:{}", fake.port);
    let sandbox = SandboxRequest::of(&spec, &std::collections::BTreeMap::new()).unwrap();
    json!({
        "stockade": 1, "request": kind, "sandbox": sandbox,
        "options": { "api": address, "gateway": address },
    })
}

#[test]
fn the_last_line_reports_the_end_of_the_command() {
    let (fake, folder) = (Fake::start(), tempfile::tempdir().unwrap());
    let folder = folder.path().canonicalize().unwrap();
    let mut talk = Talk::begin(&request("run", &fake, &folder, &["sh", "-c", "echo out; exit 3"]));
    talk.stdin.as_mut().unwrap().write_all(b"{\"event\":\"stdin-end\"}\n").unwrap();
    let mut lines = Vec::new();
    while let line @ Value::Object(_) = talk.line() {
        lines.push(line);
    }
    assert_eq!(lines.first().unwrap(), &json!({ "event": "stdout", "data": "b3V0Cg==" }));
    let last = lines.last().unwrap();
    assert_eq!((&last["event"], &last["cause"], &last["code"]), (&json!("end"), &json!("exited"), &json!(3)));
    assert!(fake.deleted() > 0);
}

#[test]
fn a_closed_input_ends_a_command_that_reads_nothing() {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    let (fake, folder) = (Fake::start(), tempfile::tempdir().unwrap());
    let folder = folder.path().canonicalize().unwrap();
    let mut talk = Talk::begin(&request("run", &fake, &folder, &["sh", "-c", "echo begun; sleep 600"]));
    assert_eq!(talk.line()["event"], "stdout");
    // Every pipe on the way is full.
    let stdin = talk.stdin.as_mut().unwrap();
    fcntl_setfl(&*stdin, fcntl_getfl(&*stdin).unwrap() | OFlags::NONBLOCK).unwrap();
    let line = format!("{{\"event\":\"stdin\",\"data\":\"{}\"}}\n", "AAAA".repeat(8000));
    let full = Instant::now() + Duration::from_secs(1);
    while Instant::now() < full {
        match stdin.write_all(line.as_bytes()) {
            Ok(()) => {}
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
    let begun = Instant::now();
    talk.stdin = None;
    assert_eq!(talk.line()["cause"], "cancelled");
    assert!(begun.elapsed() < Duration::from_secs(20) && fake.deleted() > 0);
}

#[test]
fn truncated_input_ends_the_command() {
    let (fake, folder) = (Fake::start(), tempfile::tempdir().unwrap());
    let folder = folder.path().canonicalize().unwrap();
    let mut talk = Talk::begin(&request("run", &fake, &folder, &["sh", "-c", "echo begun; sleep 600"]));
    assert_eq!(talk.line()["event"], "stdout");
    let lines = talk.lines();
    assert_eq!(lines.last().unwrap()["cause"], "cancelled");
    assert!(fake.deleted() > 0);
}

#[test]
fn a_probe_reports_enforcement_with_and_without_a_trial() {
    let (fake, folder) = (Fake::start(), tempfile::tempdir().unwrap());
    let folder = folder.path().canonicalize().unwrap();
    let mut probe = request("probe", &fake, &folder, &["true"]);
    let offered = Talk::begin(&probe).lines();
    assert_eq!(fake.asked("POST", "/v2/sandboxes"), 0, "an offer makes nothing");
    probe["try"] = true.into();
    let tried = Talk::begin(&probe).lines();
    assert_eq!((offered.len(), &offered), (1, &tried));
    assert!(fake.asked("POST", "/v2/sandboxes") == 1 && fake.deleted() > 0);
    let gaps = offered[0]["gaps"].as_array().unwrap();
    assert!(gaps.iter().any(|gap| gap["property"] == "privileges"), "{gaps:?}");
    assert_eq!(offered[0]["workspace"], "copy");
    let cleaned = Talk::begin(&request("cleanup", &fake, &folder, &["true"])).lines();
    assert_eq!(cleaned, [json!({ "event": "cleaned", "count": 0 })]);
}

#[test]
fn every_invalid_request_gets_an_answer() {
    let (fake, folder) = (Fake::start(), tempfile::tempdir().unwrap());
    let folder = folder.path().canonicalize().unwrap();
    let mut other = request("probe", &fake, &folder, &["true"]);
    other["sandbox"]["release"] = "0.0.1".into();
    let answers = Talk::begin(&other).lines();
    assert_eq!(answers[0]["event"], "unavailable");
    assert!(answers[0]["why"].as_str().unwrap().contains("0.0.1"), "{answers:?}");
    for line in [
        "",
        "hello\n",
        "{}\n",
        "{\"stockade\":999,\"request\":\"probe\"}\n",
        "{\"stockade\":1,\"request\":\"sudo\",\"options\":{}}\n",
        "{\"stockade\":1,\"request\":\"run\",\"options\":{}}\n",
        "{\"stockade\":1,\"request\":\"run\",\"sandbox\":{}}\n",
    ] {
        let lines = Talk::with_line(line).lines();
        assert!(lines.len() == 1 && lines[0]["event"] == "error", "{line}: {lines:?}");
    }
    assert_eq!(fake.asked("POST", "/v2/sandboxes"), 0);
}
