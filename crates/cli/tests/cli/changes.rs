//! Commands that work on a view of their workspace, and what becomes of what they change there, at the entry points of a person and of a
//! program.
#![expect(clippy::disallowed_methods, reason = "runs the binary, kills it, and lays out workspaces")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::STOCKADE;

/// How often a merge is killed where everybody waits for the tests; a hundred times were tried by hand.
const KILLS: u32 = 8;

struct Ground {
    folder: TempDir,
    work: PathBuf,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().canonicalize().unwrap().join("work");
        fs::create_dir(&work).unwrap();
        Self { folder, work }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(STOCKADE);
        command.args(args).current_dir(&self.work).env_clear().env("PATH", "/usr/bin:/bin");
        command.env("HOME", self.folder.path()).stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs a script in a view. Nothing, if this machine makes no such sandbox.
    fn view(&self, backend: &str, how: &str, script: &str) -> Option<Value> {
        let output = self.run(&[
            "exec",
            "--backend",
            backend,
            how,
            "--format",
            "json",
            "--",
            "/bin/bash",
            "-c",
            script,
        ]);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        if matches!(answer["end"].as_str(), Some("refused" | "failed")) {
            eprintln!("skipped: {answer}");
            return None;
        }
        assert!(answer["review"]["failed"].is_null(), "{answer}");
        Some(answer)
    }

    fn changes(&self, args: &[&str]) -> (Value, Option<i32>) {
        let output = self.run(&[&["changes"], args, &["--json"]].concat());
        let answer = serde_json::from_slice(&output.stdout);
        let answer = answer.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        (answer, output.status.code())
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.work.join(path)).unwrap_or_default()
    }
}

/// Every path with its mode, and of files the content and the time.
fn seen(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>, i64)> {
    let mut all = BTreeMap::new();
    let mut left = vec![root.to_path_buf()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let data = path.symlink_metadata().unwrap();
            let is_file = data.is_file();
            let content = if is_file { fs::read(&path).unwrap() } else { Vec::new() };
            let time = if is_file { data.mtime_nsec() } else { 0 };
            if data.is_dir() {
                left.push(path.clone());
            }
            all.insert(path, (data.mode(), content, time));
        }
    }
    all
}

#[test]
fn changes_are_held_applied_and_undone() {
    for backend in ["native", "bwrap"] {
        let ground = Ground::new();
        fs::write(ground.work.join("kept"), "1\n").unwrap();
        fs::write(ground.work.join("gone"), "2\n").unwrap();
        let script = "git init -q . && git config user.name x && git config user.email x@y && echo more >> kept \
                      && rm gone && mkdir new && echo n > new/n && git add -A && git commit -qm 1 && git status --short \
                      && mkdir .vscode && echo {} > .vscode/tasks.json; true";
        let before = seen(&ground.work);
        let Some(answer) = ground.view(backend, "--review", script) else { continue };
        assert_eq!(seen(&ground.work), before, "the view changes nothing in the workspace");
        let id = answer["review"]["id"].as_str().unwrap().to_owned();
        let (shown, _) = ground.changes(&["show", &id]);
        assert_eq!(shown["state"], "waiting", "{shown}");
        let (diff, _) = ground.changes(&["diff", &id, "kept"]);
        assert_eq!(diff["changes"][0]["diff"], "--- a/kept\n+++ b/kept\n@@ -1,1 +1,2 @@\n 1\n+more\n");
        let (applied, code) = ground.changes(&["apply", &id]);
        assert_eq!(
            (ground.text("kept").as_str(), ground.text("new/n").as_str()),
            ("1\nmore\n", "n\n"),
            "{applied}"
        );
        assert!(!ground.work.join("gone").exists() && !ground.work.join(".vscode/tasks.json").exists());
        let is_protected = |row: &Value| row["path"].as_str().is_some_and(|path| path.starts_with(".vscode"));
        let refused = applied["refused"].as_array().unwrap();
        // Where names are decided at the call, it was never made.
        assert_eq!(code, Some(i32::from(!refused.is_empty())), "{applied}");
        assert!(refused.iter().all(is_protected), "{applied}");
        let status =
            Command::new("git").args(["status", "--short"]).current_dir(&ground.work).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&status.stdout), "", "{backend}");
        let (undone, code) = ground.changes(&["undo", &id]);
        assert_eq!((seen(&ground.work), code), (before, Some(0)), "{undone}");
        let (_, code) = ground.changes(&["discard", &id]);
        assert_eq!((code, ground.changes(&["list"]).0), (Some(0), json!([])));
    }
}

#[test]
fn paths_are_applied_without_an_id() {
    let ground = Ground::new();
    let Some(answer) = ground.view("native", "--review", "mkdir d; for n in a d/b d/c; do echo 1 > $n; done")
    else {
        return;
    };
    let id = answer["review"]["id"].as_str().unwrap().to_owned();
    let (shown, _) = ground.changes(&["show", "d"]);
    assert_eq!(shown["changes"].as_array().unwrap().len(), 3, "{shown}");
    assert_eq!(ground.changes(&["apply", "d/b"]).1, Some(0));
    assert_eq!(["a", "d/b", "d/c"].map(|path| ground.text(path)), ["", "1\n", ""]);
    assert_eq!(ground.changes(&["undo", "d/b"]).1, Some(0));
    assert_eq!(ground.changes(&["discard", "a", "d/c"]).1, Some(0));
    let neither = ground.run(&["changes", "apply", "no/such"]);
    let said = String::from_utf8_lossy(&neither.stderr);
    assert!(neither.status.code() == Some(2) && said.contains("no change at no/such"), "{said}");
    // A command can choose the name of a file, so that it is the start of an ID.
    let start: String = id.chars().take(2).collect();
    let script = format!("echo 1 > {start}; echo 1 > other");
    assert!(ground.view("native", "--review", &script).is_some());
    assert_eq!(ground.changes(&["apply", &start]).1, Some(0));
    assert_eq!([start.as_str(), "other"].map(|path| ground.text(path)), ["1\n", ""]);
    // Or the whole ID of earlier changes.
    assert!(ground.view("native", "--review", &format!("echo 1 > {id}; echo 1 > more")).is_some());
    let both = ground.run(&["changes", "apply", &id]);
    let said = String::from_utf8_lossy(&both.stderr);
    assert!(both.status.code() == Some(2) && ground.text("more").is_empty(), "{said}");
    assert_eq!(ground.changes(&["apply", &format!("./{id}")]).1, Some(0));
    assert_eq!([id.as_str(), "more"].map(|path| ground.text(path)), ["1\n", ""]);
}

#[test]
fn processes_of_a_command_cannot_change_reviewed_files() {
    for backend in ["native", "bwrap"] {
        let ground = Ground::new();
        fs::write(ground.work.join("f"), "1\n").unwrap();
        let script = "exec 3>>f; echo 2 >&3; (setsid bash -c 'sleep 1; echo evil >&3' &) ; sleep 0.2";
        let Some(answer) = ground.view(backend, "--review=undoable", script) else { continue };
        assert_eq!(answer["review"]["applied"], 1, "{answer}");
        std::thread::sleep(Duration::from_millis(1500));
        assert_eq!(ground.text("f"), "1\n2\n");
        assert_eq!(ground.changes(&["undo"]).1, Some(0));
        assert_eq!(ground.text("f"), "1\n");
    }
}

#[test]
fn conflicting_changes_of_the_user_are_reported_and_kept() {
    let ground = Ground::new();
    for file in ["a", "b"] {
        fs::write(ground.work.join(file), "1\n").unwrap();
    }
    let Some(_) = ground.view("native", "--review", "echo 2 > a; echo 2 > b") else { return };
    fs::write(ground.work.join("a"), "mine\n").unwrap();
    let (answer, code) = ground.changes(&["apply"]);
    assert_eq!((answer["conflicts"][0]["path"].as_str(), code), (Some("a"), Some(1)));
    assert!(answer["conflicts"][0]["why"].as_str().unwrap().contains("you changed it"), "{answer}");
    assert_eq!((ground.text("a").as_str(), ground.text("b").as_str()), ("mine\n", "1\n"));
    let id = answer["id"].as_str().unwrap().to_owned();
    assert_eq!(ground.changes(&["apply", &id, "b"]).1, Some(0));
    assert_eq!(ground.text("b"), "2\n");
    let nothing = ground.run(&["changes", "apply", &id, "no/such"]);
    assert_eq!(nothing.status.code(), Some(2));
}

#[test]
fn without_an_overlay_a_reviewed_command_is_refused() {
    let ground = Ground::new();
    let output = ground.run(&["exec", "--backend", "landlock", "--review", "--", "touch", "f"]);
    assert_eq!(output.status.code(), Some(126), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!ground.work.join("f").exists());
}

/// Kills `apply` and `undo` at any moment, and lets the next one go on.
#[test]
fn a_killed_merge_leaves_no_intermediate_state() {
    let ground = Ground::new();
    for number in 0..400 {
        let folder = ground.work.join(format!("d{}", number % 10));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(number.to_string()), "old\n").unwrap();
    }
    let script = "for d in d*; do for f in $d/*[0-5]; do echo new >> $f; done; rm $d/*7; mkdir $d/n; echo x > $d/n/x; done; rm -r d9";
    let before = seen(&ground.work);
    let Some(_) = ground.view("native", "--review", script) else { return };
    let started = Instant::now();
    assert_eq!(ground.changes(&["apply"]).1, Some(0));
    let takes = started.elapsed();
    let after = seen(&ground.work);
    assert_ne!(after, before);
    for round in 0..KILLS {
        let (verb, wanted) = if round % 2 == 0 { ("undo", &before) } else { ("apply", &after) };
        let mut child = ground.command(&["changes", verb]);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(takes * (round + 1) / (KILLS + 1));
        child.kill().unwrap();
        child.wait().unwrap();
        ground.run(&["changes", verb]);
        assert_eq!(seen(&ground.work), *wanted, "{verb} was killed in round {round}");
    }
}

/// A server, which ends with this.
struct Serving {
    server: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Serving {
    fn new(ground: &Ground, args: &[&str]) -> Self {
        let mut command = ground.command(&[&["serve"], args].concat());
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(server.stdout.take().unwrap()).lines();
        Self { server, lines }
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        writeln!(self.server.stdin.as_mut().unwrap(), "{request}").unwrap();
        serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.server.stdin.take());
        self.server.wait().unwrap();
    }
}

/// What is on record of decisions.
fn decided(ground: &Ground) -> Vec<Value> {
    let query = ground.run(&["audit", "query", "--event", "changes_decided", "--format", "json"]);
    let records: Value = serde_json::from_slice(&query.stdout).unwrap();
    records["events"].as_array().unwrap().clone()
}

/// A change that was left half done is completed by the next program that opens pending changes, also by a server.
#[test]
fn a_server_completes_an_interrupted_merge() {
    let ground = Ground::new();
    let script = "for n in $(seq 2000); do echo x > $n; done";
    let Some(answer) = ground.view("native", "--review", script) else { return };
    let layer = ground.folder.path().join(".local/state/stockade/reviews");
    let journal = layer.join(answer["review"]["id"].as_str().unwrap()).join("journal");
    let begun = Instant::now();
    let is_half_done = (0..40).any(|_| {
        let mut child = ground.command(&["changes", "apply"]);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while !journal.exists() && child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_micros(200));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let is_half_done = journal.exists();
        if !is_half_done {
            ground.run(&["changes", "undo"]);
        }
        is_half_done
    });
    assert!(is_half_done, "no `apply` was killed in the middle");
    let listed = Serving::new(&ground, &[]).ask("changes.list", &json!({}));
    assert_eq!(listed["result"]["changes"][0]["state"], "applied", "{listed}");
    assert!(!journal.exists());
    assert_eq!(fs::read_dir(&ground.work).unwrap().count(), 2000);
}

/// What cannot be put on record is not done, at either entry point; and what is not there is not put on record.
#[test]
fn unrecorded_decisions_are_not_carried_out() {
    let ground = Ground::new();
    let Some(answer) = ground.view("native", "--review", "echo 1 > f") else { return };
    let id = &answer["review"]["id"];
    let mut serving = Serving::new(&ground, &[]);
    for method in ["changes.apply", "changes.undo"] {
        let answer = serving.ask(method, &json!({"id": id, "paths": ["./f"]}));
        assert_eq!(answer["result"]["count"], 1, "{method}: {answer}");
    }
    for method in ["changes.apply", "changes.undo", "changes.discard"] {
        for path in ["no/such", "../x"] {
            let answer = serving.ask(method, &json!({"id": id, "paths": ["f", path]}));
            assert_eq!(answer["error"]["code"], -32602, "{method} {path}: {answer}");
        }
    }
    for verb in ["apply", "undo", "discard"] {
        let output = ground.run(&["changes", verb, id.as_str().unwrap(), "f", "no/such"]);
        assert_eq!(output.status.code(), Some(2), "{verb}");
    }
    assert_eq!(decided(&ground).len(), 2, "of what was done, and of nothing else");
    // Where the trail is to be, there is no folder.
    let file = ground.folder.path().join("file");
    fs::write(&file, "").unwrap();
    let trail = file.join("trail.db");
    let mut serving = Serving::new(&ground, &["--audit", trail.to_str().unwrap()]);
    for method in ["changes.apply", "changes.discard"] {
        let answer = serving.ask(method, &json!({"id": id}));
        let said = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(said.contains("not done, because it cannot be recorded"), "{method}: {answer}");
    }
    let config = ground.folder.path().join(".config/stockade");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), format!("[audit]\npath = {trail:?}\n")).unwrap();
    for verb in ["apply", "discard"] {
        assert_eq!(ground.run(&["changes", verb]).status.code(), Some(3), "{verb}");
    }
    assert!(!ground.work.join("f").exists());
    let listed = Serving::new(&ground, &[]).ask("changes.list", &json!({}));
    assert_eq!(listed["result"]["changes"][0]["state"], "waiting", "{listed}");
}

/// For the session of an agent, what was changed in other workspaces is not there.
#[test]
fn an_agent_decides_on_what_was_changed_in_its_workspace() {
    let ground = Ground::new();
    let other = ground.folder.path().canonicalize().unwrap().join("other");
    fs::create_dir(&other).unwrap();
    let config = ground.folder.path().join(".config/stockade");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), "[agents.bot]\nmaxSteps = 50\n").unwrap();
    let Some(own) = ground.view("native", "--review", "echo 1 > f") else { return };
    let own = &own["review"]["id"];
    let args = ["exec", "--backend", "native", "--review", "--format", "json", "-w", other.to_str().unwrap()];
    let foreign = ground.run(&[&args[..], &["--", "/bin/bash", "-c", "echo 1 > f"]].concat());
    let foreign: Value = serde_json::from_slice(&foreign.stdout).unwrap();
    let foreign = &foreign["review"]["id"];
    assert!(foreign.is_string() && foreign != own);
    let ids = |listed: &Value| -> Vec<Value> {
        listed["result"]["changes"].as_array().unwrap().iter().map(|row| row["id"].clone()).collect()
    };
    for args in [&[][..], &["--agent", "bot"]] {
        let mut serving = Serving::new(&ground, args);
        let session = match args {
            [] => {
                let opened = json!({"agent": "bot", "workspace": ground.work});
                serving.ask("session.open", &opened)["result"]["session"].clone()
            }
            _ => Value::Null,
        };
        let with = |mut params: Value| {
            if session.is_string() {
                params["session"] = session.clone();
            }
            params
        };
        let listed = serving.ask("changes.list", &with(json!({})));
        assert_eq!(ids(&listed), std::slice::from_ref(own), "{args:?} {listed}");
        for method in ["changes.diff", "changes.apply", "changes.undo", "changes.discard"] {
            let answer = serving.ask(method, &with(json!({"id": foreign})));
            assert_eq!(answer["error"]["code"], -32602, "{args:?} {method}: {answer}");
        }
        let applied = serving.ask("changes.apply", &with(json!({"id": own})));
        assert_eq!(applied["result"]["count"], 1, "{args:?} {applied}");
        assert_eq!(serving.ask("changes.undo", &with(json!({"id": own})))["result"]["count"], 1);
        if session.is_string() {
            let elsewhere = serving.ask("changes.list", &with(json!({"workspace": other})));
            assert_eq!(elsewhere["error"]["code"], -32602, "{elsewhere}");
            assert_eq!(
                ids(&serving.ask("changes.list", &json!({}))).len(),
                2,
                "a caller without a session sees all"
            );
            assert_eq!(
                ids(&serving.ask("changes.list", &json!({"workspace": other}))),
                std::slice::from_ref(foreign)
            );
        }
    }
    assert!(!other.join("f").exists());
    let records = decided(&ground);
    assert_eq!(records.len(), 4);
    assert!(
        records.iter().all(|record| record["agent"] == "bot" && record["data"]["changes"] == *own),
        "{records:?}"
    );
}

#[test]
fn changes_can_be_decided_through_serve() {
    let ground = Ground::new();
    fs::write(ground.work.join("f"), "1\n").unwrap();
    let mut serving = Serving::new(&ground, &[]);
    let mut ask = |method: &str, params: Value| serving.ask(method, &params);
    let spec = json!({"workspace": ground.work, "review": "hold"});
    let ran = ask("exec", json!({"command": "echo 2 >> f", "spec": spec}));
    if ran["error"].is_object() {
        eprintln!("skipped: {ran}");
        return;
    }
    let id = ran["result"]["review"]["id"].clone();
    assert_eq!(ran["result"]["review"]["changed"], 1, "{ran}");
    assert_eq!(ask("changes.list", json!({}))["result"]["changes"][0]["id"], id);
    let diff = ask("changes.diff", json!({"id": id}));
    assert_eq!(diff["result"]["changes"][0]["path"], "f", "{diff}");
    assert!(diff["result"]["changes"][0]["diff"].as_str().unwrap().contains("+2\n"));
    assert_eq!(ask("changes.apply", json!({"id": id, "paths": ["f"]}))["result"]["count"], 1);
    assert_eq!(ground.text("f"), "1\n2\n");
    assert_eq!(ask("changes.undo", json!({"id": id}))["result"]["count"], 1);
    assert_eq!(ground.text("f"), "1\n");
    let unknown = ask("changes.apply", json!({"id": "nothing"}));
    assert!(unknown["error"]["data"]["help"].is_string(), "{unknown}");
    assert!(ask("changes.apply", json!({"id": id, "paths": ["../x"]}))["error"].is_object());
    assert_eq!(ask("changes.discard", json!({"id": id}))["result"]["count"], 1);
    drop(serving);
    assert_eq!(decided(&ground).len(), 3);
}

/// Without an ID, the workspace of the current folder is meant: what another one has to wait for stays where it is.
#[test]
fn without_an_id_changes_of_the_current_workspace_are_used() {
    let ground = Ground::new();
    let (other, inner) = (ground.folder.path().join("other"), ground.work.join("inner"));
    for folder in [&other, &inner] {
        fs::create_dir(folder).unwrap();
    }
    let Some(mine) = ground.view("native", "--review", "echo a > mine; ln -s nowhere/at/all way") else {
        return;
    };
    let at = |folder: &Path, args: &[&str]| ground.command(args).current_dir(folder).output().unwrap();
    at(&other, &["exec", "-q", "--review", "--", "/bin/sh", "-c", "echo b > others"]);
    let text = |output: &Output| {
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    };
    let id = mine["review"]["id"].as_str().unwrap();
    let shown = text(&at(&inner, &["changes", "show"]));
    assert!(shown.contains(id) && shown.contains("way (link to nowhere/at/all)"), "{shown}");
    for what in ["show", "diff", "apply", "undo", "discard"] {
        let output = at(ground.folder.path(), &["changes", what]);
        let said = text(&output);
        let is_said = said.contains("in a workspace around") || what == "undo";
        assert!(output.status.code() == Some(2) && is_said, "{what} {said}");
    }
    assert!(at(&inner, &["changes", "apply"]).status.success());
    assert!(ground.work.join("mine").exists() && !other.join("others").exists());
    let undone = at(&other, &["changes", "undo"]);
    assert!(undone.status.code() == Some(2) && text(&undone).contains(id), "{}", text(&undone));
    assert!(at(&ground.work, &["changes", "undo"]).status.success() && !ground.work.join("mine").exists());
    assert!(at(&other, &["changes", "discard"]).status.success());
    assert!(at(&ground.work, &["changes", "show"]).status.success());
}
