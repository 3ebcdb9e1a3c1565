//! `stockade serve` as a process that other programs talk to.
#![expect(clippy::disallowed_methods, reason = "starts servers and talks to them")]

mod agent_entry_points;
mod agents;
mod answers;
mod bad_input;
mod bounded;
mod clients;
mod ending;
mod entry_points;
mod every_key;
mod graphs;
mod left;
mod listeners;
mod modes;
mod pooled;
mod refused_hosts;
mod repositories;
mod rules;
mod secrecy;
mod sessions;
mod sockets;
mod streamed;
mod tool_calls;
mod vectors;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::STOCKADE;

/// Nothing here takes as long.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a server says on standard error, in a file of its home.
const ERRORS: &str = "errors.txt";

/// The program as root of a namespace in which no further ones are permitted: no sandbox is selected by itself there.
fn without_namespaces() -> Command {
    let mut command = Command::new("unshare");
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" \"$@\"";
    command.args(["-Ur", "sh", "-c", script, STOCKADE]);
    command
}

/// A server of its own, with a home of its own.
struct Serving {
    child: Child,
    to: Option<ChildStdin>,
    answers: Receiver<Value>,
    home: tempfile::TempDir,
}

impl Serving {
    fn start(args: &[&str]) -> Self {
        Self::started(args, None, tempfile::tempdir().unwrap())
    }

    /// A server in a home that was laid out before.
    fn at_home(folder: &Path) -> Self {
        Self::started(&[], Some(folder), tempfile::tempdir().unwrap())
    }

    /// A server whose own home was filled before.
    fn start_in(home: tempfile::TempDir) -> Self {
        Self::started(&[], None, home)
    }

    /// Ends it, and starts another one in the same home.
    fn again(mut self) -> Self {
        self.to = None;
        self.child.wait().unwrap();
        let home = std::mem::replace(&mut self.home, tempfile::tempdir().unwrap());
        Self::start_in(home)
    }

    fn started(args: &[&str], folder: Option<&Path>, home: tempfile::TempDir) -> Self {
        Self::started_by(Command::new(STOCKADE), args, folder, home)
    }

    /// A server where no sandbox can be created: [`without_namespaces`].
    fn without_sandboxes() -> Self {
        Self::started_by(without_namespaces(), &[], None, tempfile::tempdir().unwrap())
    }

    fn started_by(
        mut program: Command,
        args: &[&str],
        folder: Option<&Path>,
        home: tempfile::TempDir,
    ) -> Self {
        let folder = folder.unwrap_or(home.path());
        let mut child = program
            .arg("serve")
            .args(args)
            .env_clear()
            .env("HOME", folder)
            .env("PATH", "/usr/bin:/bin")
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(home.path().join(ERRORS)).unwrap())
            .spawn()
            .unwrap();
        let from = BufReader::new(child.stdout.take().unwrap());
        let (say, answers) = mpsc::channel();
        thread::spawn(move || {
            for line in from.lines().map_while(Result::ok) {
                say.send(serde_json::from_str(&line).expect("every answer is a line of JSON")).ok();
            }
        });
        Self { to: child.stdin.take(), child, answers, home }
    }

    fn send(&mut self, method: &str, id: impl Into<Value>, params: &Value) {
        let line = json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params});
        writeln!(self.to.as_mut().unwrap(), "{line}").unwrap();
    }

    fn next(&self) -> Value {
        self.answers.recv_timeout(PATIENCE).expect("an answer in time")
    }

    /// Sends a request and returns its answer.
    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.send(method, 1, params);
        self.next()
    }

    /// The same, of a server that may refuse to start.
    fn call_or_end(&mut self, method: &str, params: &Value) -> Option<Value> {
        let line = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        // What ends does not read.
        writeln!(self.to.as_mut().unwrap(), "{line}").ok()?;
        self.answers.recv_timeout(PATIENCE).ok()
    }

    /// The same, with parameters that are JSON already.
    fn call_raw(&mut self, method: &str, params: &str) -> Value {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        writeln!(self.to.as_mut().unwrap(), "{line}").unwrap();
        self.next()
    }

    /// Makes a workspace below the home.
    fn workspace(&self) -> String {
        let path = self.home.path().canonicalize().unwrap().join("work");
        std::fs::create_dir_all(&path).unwrap();
        path.display().to_string()
    }

    fn end(mut self) -> Option<i32> {
        self.to = None;
        self.child.wait().unwrap().code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The temporary folder itself may not be shared with a sandbox that is as private as this; a folder of the home may.
fn sleep(seconds: f64, workspace: &str) -> Value {
    json!({"argv": ["sleep", seconds.to_string()], "spec": {"workspace": workspace}})
}

#[test]
fn small_requests_do_not_wait_for_slow_ones() {
    let mut serving = Serving::start(&["--max-commands", "1"]);
    let workspace = serving.workspace();
    for id in 0..3 {
        serving.send("exec", format!("slow {id}"), &sleep(0.5, &workspace));
    }
    let start = Instant::now();
    serving.send("sanitize", "small", &json!({"text": "a"}));
    serving.send("scan.bundle", "disk", &json!({"path": workspace}));
    let first: Vec<Value> = (0..2).map(|_| serving.next()["id"].clone()).collect();
    assert!(first.contains(&json!("small")) && first.contains(&json!("disk")), "{first:?}");
    assert!(start.elapsed() < Duration::from_secs(5));
    let slow: Vec<Value> = (0..3).map(|_| serving.next()).collect();
    assert!(slow.iter().all(|answer| answer["result"]["exitCode"] == 0), "{slow:?}");
    assert_eq!(serving.end(), Some(0));
}

#[test]
fn pending_requests_are_answered_after_the_end_of_input() {
    let mut serving = Serving::start(&[]);
    let workspace = serving.workspace();
    serving.send("exec", 7, &sleep(0.3, &workspace));
    serving.to = None;
    assert_eq!(serving.next()["result"]["exitCode"], 0);
    assert_eq!(serving.end(), Some(0));
}

#[test]
fn a_client_that_does_not_read_is_not_read_from() {
    let mut child = Command::new(STOCKADE)
        .arg("serve")
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    let (say, written) = mpsc::channel();
    let text = "x".repeat(10_000);
    let line =
        json!({"jsonrpc": "2.0", "id": 1, "method": "sanitize", "params": {"text": text}}).to_string() + "\n";
    // The answers are not read: at some point this writer must have to wait.
    thread::spawn(move || {
        while to.write_all(line.as_bytes()).is_ok() {
            if say.send(line.len()).is_err() {
                break;
            }
        }
    });
    let mut taken = 0;
    while let Ok(bytes) = written.recv_timeout(Duration::from_secs(2)) {
        taken += bytes;
        assert!(taken < 64 << 20, "it reads on although the client does not take the answers");
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kilobytes < 100 << 10, "{line}");
    drop(written);
    // Once no client can ever read, there is nothing left to do.
    drop(child.stdout.take());
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < PATIENCE, "it goes on although no client is there");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn commands_do_not_outlive_their_client() {
    let mut serving = Serving::start(&[]);
    let workspace = serving.workspace();
    let marker = format!("{}.{}", 86_400, std::process::id());
    serving.send(
        "exec",
        1,
        &json!({"argv": ["sleep", marker], "spec": {"workspace": workspace}, "timeoutMs": 600_000}),
    );
    let runs = || {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        lines.into_iter().any(|line| line.split(|byte| *byte == 0).any(|word| word == marker.as_bytes()))
    };
    let wait_until = |wanted: bool| {
        let start = Instant::now();
        while runs() != wanted {
            assert!(start.elapsed() < PATIENCE, "running: {}", !wanted);
            thread::sleep(Duration::from_millis(20));
        }
    };
    wait_until(true);
    serving.child.kill().unwrap();
    wait_until(false);
}

#[test]
fn a_served_command_is_isolated_and_recorded() {
    let mut serving = Serving::start(&[]);
    let workspace = serving.workspace();
    std::fs::write(serving.home.path().join("secret"), "secret").unwrap();
    let secret = format!("{workspace}/../secret");
    // Only what is to be ended has a short time; a busy machine may take longer for the others.
    let exec = |params: Value| json!({"command": params["command"], "spec": {"workspace": workspace}, "timeoutMs": params["timeoutMs"]});
    let rows = [
        ("echo out; echo err >&2; exit 7".to_owned(), 7, "out\n", "err\n", false),
        (format!("test -e {secret} && echo seen"), 1, "", "", false),
        ("cat".to_owned(), 0, "", "", false),
        ("sleep 20".to_owned(), 124, "", "", true),
        ("kill -TERM $$".to_owned(), 143, "", "", false),
    ];
    for (command, code, stdout, stderr, timed_out) in rows {
        let millis = if timed_out { 300 } else { 60_000 };
        let answer = serving.call("exec", &exec(json!({"command": command, "timeoutMs": millis})));
        let result = &answer["result"];
        assert_eq!(
            (&result["exitCode"], &result["timedOut"]),
            (&json!(code), &json!(timed_out)),
            "{command}: {answer}"
        );
        assert_eq!(
            (text(&result["stdoutBase64"]), text(&result["stderrBase64"])),
            (stdout.to_owned(), stderr.to_owned())
        );
    }
    for (argv, code, stdout) in [(json!(["cat"]), 0, "piped"), (json!(["no-such-program"]), 127, "")] {
        let params = json!({"argv": argv, "spec": {"workspace": workspace}, "stdinBase64": "cGlwZWQ="});
        let result = serving.call("exec", &params)["result"].clone();
        assert_eq!(
            (&result["exitCode"], text(&result["stdoutBase64"])),
            (&json!(code), stdout.to_owned()),
            "{result}"
        );
    }
    let missing =
        serving.call("exec", &json!({"argv": ["no-such-program"], "spec": {"workspace": workspace}}));
    assert_eq!(missing["result"]["exitCode"], 127);
    let much =
        json!({"command": "yes", "spec": {"workspace": workspace}, "timeoutMs": 500, "maxOutputBytes": 1000});
    let much = serving.call("exec", &much);
    assert_eq!(
        (&much["result"]["truncated"], text(&much["result"]["stdoutBase64"]).len()),
        (&json!(true), 1000)
    );
    let events = serving.call("audit.query", &json!({"event": "sandbox_%", "limit": 100}));
    assert_eq!(
        events["result"]["events"].as_array().unwrap().len(),
        18,
        "a start and an end for each of nine"
    );
}

fn text(base64: &Value) -> String {
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD.decode(base64.as_str().unwrap()).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn output_is_text_if_the_request_asks_for_text() {
    let mut serving = Serving::start(&[]);
    let workspace = serving.workspace();
    let command = "pwd; printf 'a\\377b' >&2";
    for agent in [Value::Null, json!("bot")] {
        let mut params = json!({"command": command, "workspace": workspace, "output": "text"});
        params["agent"] = agent;
        let answer = serving.call("exec", &params);
        let result = &answer["result"];
        assert_eq!(result["stdout"], format!("{workspace}\n"), "{answer}");
        assert_eq!(
            (&result["stderr"], &result["stdoutBase64"]),
            (&json!("a\u{fffd}b"), &json!("")),
            "{answer}"
        );
        params["output"] = json!("bytes");
        let result = serving.call("exec", &params)["result"].clone();
        assert_eq!((&result["stderrBase64"], &result["stdout"]), (&json!("Yf9i"), &Value::Null), "{result}");
    }
    for (params, why) in [
        (json!({"command": "ls", "workspace": workspace, "spec": {"workspace": "/srv"}}), "differ"),
        (json!({"command": "ls", "workspace": workspace, "output": "txt"}), "did you mean `text`?"),
        (json!({"command": "ls", "workspace": workspace, "output": "text", "stream": true}), "are bytes"),
        (json!({"command": "ls", "workspace": "relative"}), "relative"),
    ] {
        let answer = serving.call("exec", &params);
        let message = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{params}: {answer}"));
        assert!(message.contains(why), "{params}: {message}");
    }
}

/// The debug build has methods with a bug; a release build unwinds in the same way.
#[test]
fn a_bug_in_one_request_ends_no_other() {
    let mut serving = Serving::start(&["--max-commands", "1"]);
    for round in 0..3 {
        for (method, params) in [
            ("broken.here", json!({"text": "says \u{1b}[2J of an attacker"})),
            ("broken.worker", json!({})),
            ("broken.command", json!({})),
        ] {
            let answer = serving.call(method, &params);
            let message = answer["error"]["message"].as_str().unwrap();
            assert_eq!(answer["error"]["code"], -32603, "{answer}");
            assert!(message.contains(method) && message.contains("bug"), "{answer}");
            let workspace = serving.workspace();
            let next = serving.call("exec", &sleep(0.0, &workspace));
            assert_eq!(next["result"]["exitCode"], 0, "after {method} in round {round}: {next}");
        }
    }
    let batch = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "broken.here", "params": {"text": ""}},
        {"jsonrpc": "2.0", "id": 2, "method": "sanitize", "params": {"text": "a"}},
    ]);
    writeln!(serving.to.as_mut().unwrap(), "{batch}").unwrap();
    let answers = serving.next();
    assert_eq!((&answers[0]["error"]["code"], &answers[1]["result"]["body"]), (&json!(-32603), &json!("a")));
    let said = std::fs::read_to_string(serving.home.path().join(ERRORS)).unwrap();
    assert!(said.contains("says \\u{1b}[2J of an attacker") && !said.contains('\u{1b}'), "{said}");
    assert_eq!(said.lines().count(), 10, "a line for each: {said}");
    assert_eq!(serving.end(), Some(0));
}
