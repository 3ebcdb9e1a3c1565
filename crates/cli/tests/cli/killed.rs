//! `kill -9` at every entry point that runs commands, at any moment: what ran is on record, and every start has one end.
#![expect(clippy::disallowed_methods, reason = "runs the binary, kills it, and lays out workspaces")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::STOCKADE;

/// How often each entry point is killed where everybody waits for the tests.
const FEW: u64 = 6;

/// A entry point, and the trail that its commands are put on record in.
const ENTRY_POINTS: [(&str, &str); 4] = [
    ("exec", "audit.db"),
    ("exec", "audit.jsonl"),
    ("run", ".local/state/stockade/audit.db"),
    ("serve", "audit.db"),
];

fn stockade(home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(STOCKADE);
    command
        .args(args)
        .current_dir(home.join("work"))
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/bin:/bin");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Starts a command at a entry point; it leaves a file of this name.
fn start(entry_point: &str, home: &Path, trail: &Path, name: &str) -> Child {
    let audit = format!("--audit={}", trail.display());
    let (work, skill) = (home.join("work").display().to_string(), home.join("skill").display().to_string());
    let command = ["cp", "/etc/hostname", name];
    let mut child = match entry_point {
        "exec" => stockade(home, &[&["exec", "-q", &audit, "--"], &command[..]].concat()),
        "run" => stockade(home, &[&["run", &skill, "--"], &command[..]].concat()),
        _ => stockade(home, &["serve", &audit]),
    }
    .spawn()
    .unwrap();
    if entry_point == "serve" {
        let request = json!({"argv": command, "spec": {"workspace": work}});
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "exec", "params": request});
        writeln!(child.stdin.as_mut().unwrap(), "{request}").unwrap();
    }
    child
}

/// The records of the sandbox, the newest first.
fn events(home: &Path, trail: &Path) -> Vec<Value> {
    let file = trail.display().to_string();
    let args =
        ["audit", "query", "--event", "sandbox_%", "--limit", "1000", "--format", "json", "--file", &file];
    let output = stockade(home, &args).stdout(Stdio::piped()).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    answer["events"].as_array().cloned().unwrap_or_default()
}

/// Kills a entry point so many times, and returns whether this machine lets anything run.
fn kill(entry_point: &str, trail: &str, rounds: u64, seed: &mut u64) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    fs::create_dir(home.join("work")).unwrap();
    fs::create_dir(home.join("skill")).unwrap();
    fs::write(home.join("skill/SKILL.md"), "---\nname: skill\ndescription: Copies a file.\n---\nCopy it.\n")
        .unwrap();
    let trail = home.join(trail);
    let mut first = start(entry_point, &home, &trail, "first");
    // Standard input stays open, so that a server does not end by itself.
    for _ in 0..200 {
        if home.join("work/first").exists() || first.try_wait().unwrap().is_some() {
            break;
        }
        sleep(Duration::from_millis(50));
    }
    first.kill().ok();
    first.wait().unwrap();
    if !home.join("work/first").exists() {
        println!("skipped: {entry_point}: nothing can be run in a sandbox here");
        return false;
    }
    for round in 0..rounds {
        let mut child = start(entry_point, &home, &trail, &format!("file-{round}"));
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        sleep(Duration::from_millis((*seed >> 33) % 160));
        child.kill().ok();
        child.wait().unwrap();
    }
    all_is_on_record(entry_point, &home, &trail);
    true
}

fn all_is_on_record(entry_point: &str, home: &Path, trail: &Path) {
    let mut by_run: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut commands = String::new();
    // What a killed entry point had started is gone a moment later; the next command that opens the trail records that.
    for round in 0.. {
        start("exec", home, trail, &format!("last-{round}")).wait().unwrap();
        by_run.clear();
        for event in events(home, trail) {
            by_run.entry(event["run"].to_string()).or_default().push(event["event"].to_string());
            commands.push_str(&event["data"]["command"].to_string());
        }
        if by_run.values().all(|events| events.len() == 2) {
            break;
        }
        assert!(round < 100, "{entry_point}: {by_run:?}");
        sleep(Duration::from_millis(100));
    }
    for events in by_run.values() {
        assert!(
            events[1].contains("sandbox_started") && !events[0].contains("sandbox_started"),
            "{events:?}"
        );
    }
    for file in fs::read_dir(home.join("work")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(commands.contains(&name), "{entry_point}: {name} ran and is not on record: {commands}");
    }
    let file = trail.display().to_string();
    let verified =
        stockade(home, &["audit", "verify", "--file", &file]).stdout(Stdio::piped()).output().unwrap();
    assert_eq!(
        verified.status.code(),
        Some(0),
        "{entry_point}: {}",
        String::from_utf8_lossy(&verified.stdout)
    );
}

fn kill_all(rounds: u64) {
    let mut seed = 7;
    for (entry_point, trail) in ENTRY_POINTS {
        if !kill(entry_point, trail, rounds, &mut seed) {
            return;
        }
    }
}

#[test]
fn killed_runs_are_recorded_at_every_entry_point() {
    kill_all(FEW);
}

#[test]
#[ignore = "takes some minutes; the test before it does the same with fewer rounds"]
fn nine_hundred_killed_runs_are_all_recorded() {
    kill_all(225);
}
