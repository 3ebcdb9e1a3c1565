//! `check command` puts its answer on record where the configuration says so, and nothing where it does not.
#![expect(clippy::disallowed_methods, reason = "writes configurations and runs the program")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::STOCKADE;

fn stockade(home: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(STOCKADE);
    command
        .args(args)
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/bin:/bin")
        .current_dir(home)
        .output()
        .unwrap()
}

fn configured(config: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".config/stockade");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), config).unwrap();
    home
}

fn records(home: &Path) -> Vec<Value> {
    let output = stockade(home, &["audit", "query", "--format", "json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    found["events"].as_array().cloned().unwrap_or_default()
}

#[test]
fn a_check_is_on_record_where_the_configuration_says_so() {
    for (config, wanted) in
        [("", 0), ("[audit]\nevaluations = false\n", 0), ("[audit]\nevaluations = true\n", 2)]
    {
        let home = configured(config);
        assert_eq!(stockade(home.path(), &["check", "command", "ls"]).status.code(), Some(0));
        let push = ["check", "command", "--agent", "bot", "git push https://me:hunter2x@git.example/x"];
        assert_eq!(stockade(home.path(), &push).status.code(), Some(1));
        let records = records(home.path());
        assert_eq!(records.len(), wanted, "{records:?}");
        if wanted == 0 {
            assert!(!home.path().join(".local").exists(), "something was written");
            continue;
        }
        assert_eq!((&records[0]["event"], &records[0]["agent"]), (&"approval_asked".into(), &"bot".into()));
        assert_eq!(records[1]["event"], "command_allowed");
        let text = records[0].to_string();
        assert!(text.contains("check command") && !text.contains("hunter2x"), "{text}");
        assert!(stockade(home.path(), &["audit", "verify"]).status.success());
    }
}

#[test]
fn a_check_that_cannot_be_put_on_record_gives_no_answer() {
    for (unrecorded, code) in [("refuse", 3), ("warn", 0)] {
        let config = format!(
            "[audit]\nevaluations = true\npath = \"/dev/null/audit.jsonl\"\nonUnrecorded = \"{unrecorded}\"\n"
        );
        let output = stockade(configured(&config).path(), &["check", "command", "ls"]);
        assert_eq!(
            (output.status.code(), output.stdout.is_empty()),
            (Some(code), code != 0),
            "{unrecorded}: {output:?}"
        );
    }
}
