//! A command leaves what runs programs outside of its sandbox, and what instructs agents: every entry point says both, the first with
//! an exit code of its own. What is taken away is found with `stockade quarantine`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use stockade_guard::RunAnswer;
use stockade_guard::exec::run::Streams;

use super::Serving;
use super::entry_points::home;
use crate::support::STOCKADE;

/// A script that leaves one of each, at the top and deeper, and ends as if nothing had happened.
const LEAVES: &str = "mkdir -p a/b/.vscode; echo x > a/b/.vscode/tasks.json; echo x > a/b/CLAUDE.md; echo x > .cursorrules; exit 0";

/// What runs it. No rule says anything about what it does.
const COMMAND: [&str; 2] = ["sh", "leave.sh"];

/// The code of a command that left what runs programs.
const LEFT: i64 = 123;

/// What a entry point says: its code, that of the command, what was taken away, and what else has changed.
type Said = (i64, i64, Vec<String>, Vec<String>);

struct House {
    serving: Serving,
    workspace: String,
}

impl House {
    fn new() -> Self {
        let serving = Serving::start(&[]);
        home::lay_out(serving.home.path(), "");
        let workspace = serving.workspace();
        Self { serving, workspace }
    }

    /// Runs this program, and empties the workspace afterwards.
    fn stockade(&self, args: &[&str]) -> Output {
        let home = self.serving.home.path();
        let mut command = Command::new(STOCKADE);
        command.args(args).current_dir(&self.workspace).env_clear();
        command.env("HOME", home).env("PATH", "/usr/bin:/bin").stdin(Stdio::null());
        command.output().unwrap()
    }

    fn clear(&self) {
        for entry in fs::read_dir(&self.workspace).unwrap().flatten() {
            let path = entry.path();
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.unwrap();
        }
        fs::write(Path::new(&self.workspace).join("leave.sh"), LEAVES).unwrap();
    }

    fn by_command_line(&self, args: &[&str]) -> Said {
        self.clear();
        let output = self.stockade(args);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        assert_eq!(document["exitCode"], output.status.code().unwrap(), "{document}");
        said(&document)
    }

    fn served(&mut self, extra: &Value) -> Said {
        self.clear();
        let mut params = json!({"argv": COMMAND, "spec": {"workspace": self.workspace}});
        params.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        said(&self.serving.call("exec", &params)["result"])
    }
}

fn said(document: &Value) -> Said {
    let paths = |list: &Value| {
        let list = list.as_array().cloned().unwrap_or_default();
        list.iter().map(|one| one["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let code = |name: &str| document[name].as_i64().unwrap_or_else(|| panic!("no {name}: {document}"));
    let (quarantine, changed) = (&document["quarantine"], &document["changed"]);
    (code("exitCode"), code("commandExitCode"), paths(quarantine), paths(changed))
}

fn can_sandbox(house: &House) -> bool {
    let output = house.stockade(&["exec", "--format", "json", "--", "true"]);
    let is_native = serde_json::from_slice::<Value>(&output.stdout).is_ok_and(|it| it["sandbox"] == "native");
    if !is_native {
        println!("skipped: no native sandbox can be made here: {output:?}");
    }
    is_native
}

#[test]
fn every_entry_point_reports_files_that_a_command_left() {
    let mut house = House::new();
    if !can_sandbox(&house) {
        return;
    }
    let command = ["--", COMMAND[0], COMMAND[1]];
    let skill = house.serving.home.path().join("skill").display().to_string();
    let exec = [&["exec", "--format", "json"][..], &command].concat();
    let agents = [&["exec", "--agent", "default", "--format", "json"][..], &command].concat();
    let run = [&["run", "--format", "json", &skill][..], &command].concat();
    let all = [
        ("exec", house.by_command_line(&exec)),
        ("exec --agent", house.by_command_line(&agents)),
        ("run", house.by_command_line(&run)),
        ("exec of serve", house.served(&json!({}))),
        ("exec of serve, of an agent", house.served(&json!({"agent": "default"}))),
        ("the crate", by_crate(&house)),
    ];
    let wanted: Said = (
        LEFT,
        0,
        vec!["a/b/.vscode".to_owned()],
        vec![".cursorrules".to_owned(), "a/b/CLAUDE.md".to_owned()],
    );
    for (entry_point, said) in all {
        assert_eq!(said, wanted, "{entry_point}");
    }
    let output = house.stockade(&["audit", "query", "--format", "json", "--limit", "100"]);
    let records = String::from_utf8(output.stdout).unwrap();
    let told = records.matches("\"quarantined\"").count();
    assert_eq!(told, 4, "every entry point that puts commands on record says it there: {records}");
}

fn by_crate(house: &House) -> Said {
    house.clear();
    let workspace = Path::new(&house.workspace);
    let session = home::session(house.serving.home.path(), "default", workspace);
    let RunAnswer::Ran(ran) = session.run(&COMMAND.join(" "), Streams::default()).unwrap() else {
        panic!("it did not run")
    };
    let outcome = &ran.report.outcome;
    let shown = |path: &Path| path.display().to_string();
    (
        outcome.exit_code().into(),
        outcome.end.exit_code().into(),
        outcome.quarantine.iter().map(|found| shown(&found.path)).collect(),
        outcome.changed.iter().map(|changed| shown(&changed.path)).collect(),
    )
}

#[test]
fn quarantined_files_are_listed_restored_and_deleted() {
    let house = House::new();
    if !can_sandbox(&house) {
        return;
    }
    let json = |args: &[&str]| -> (Value, i32) {
        let output = house.stockade(&[&["quarantine"][..], args].concat());
        let document = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        (document, output.status.code().unwrap())
    };
    assert_eq!(json(&["list", "--json"]), (json!([]), 0));
    let ran = house.stockade(&["exec", "--", "sh", "-c", "mkdir -p a/.vscode; ln -s /etc a/.envrc"]);
    assert_eq!(ran.status.code(), Some(123), "{ran:?}");
    let (list, code) = json(&["list", "--json"]);
    let list = list.as_array().unwrap().clone();
    assert_eq!((list.len(), code), (2, 0), "{list:?}");
    let find = |path: &str| list.iter().find(|one| one["path"] == path).unwrap();
    let (folder, link) = (find("a/.vscode"), find("a/.envrc"));
    assert_eq!(
        (&folder["kind"], &link["kind"], &link["linkTo"]),
        (&json!("folder"), &json!("link"), &json!("/etc"))
    );
    assert_eq!(folder["command"], "sh -c 'mkdir -p a/.vscode; ln -s /etc a/.envrc'");
    assert!(folder["label"].as_str().unwrap().starts_with("starts programs"), "{folder}");
    let ids = |one: &Value| one["id"].as_str().unwrap().to_owned();

    let (done, code) = json(&["restore", &ids(folder), "--json"]);
    assert_eq!((code, done[0]["error"].is_null()), (0, true), "{done}");
    assert!(Path::new(&house.workspace).join("a/.vscode").is_dir());
    // What a person has put back is theirs: it stays, and no command changes it.
    let after = house.stockade(&["exec", "--", "sh", "-c", "touch a/.vscode/x; true"]);
    assert_eq!(after.status.code(), Some(0), "{after:?}");
    assert_eq!(fs::read_dir(Path::new(&house.workspace).join("a/.vscode")).unwrap().count(), 0);

    fs::write(Path::new(&house.workspace).join("a/.envrc"), "mine").unwrap();
    let (refused, code) = json(&["restore", &ids(link), "--json"]);
    assert_eq!(code, 1);
    assert!(refused[0]["error"].as_str().unwrap().contains("is not overwritten"), "{refused}");
    assert_eq!(json(&["drop", "no-such"]).1, 2);
    assert_eq!(json(&["drop", "--all", "--json"]).1, 0);
    assert_eq!(json(&["list", "--json"]), (json!([]), 0));
    assert_eq!(fs::read_to_string(Path::new(&house.workspace).join("a/.envrc")).unwrap(), "mine");
}
