//! A command is refused a host: every entry point tells the command itself and its caller the same, by one name.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use stockade_guard::RunAnswer;
use stockade_guard::exec::run::Streams;

use super::Serving;
use super::entry_points::home;
use crate::support::STOCKADE;

/// Asks the proxy for a host, and prints the last line of the answer.
const ASKS: &str = "exec 3<> /dev/tcp/127.0.0.1/3128\n\
                    printf 'GET http://evil.test/x?q=1 HTTP/1.1\\r\\n\\r\\n' >&3\n\
                    tail -n 1 <&3\n";

const COMMAND: [&str; 2] = ["bash", "ask.sh"];

const CONFIG: &str =
    "[security.permission]\nenableNodePermissions = true\nallowedNetHosts = [\"listed.example\"]\n";

struct House {
    serving: Serving,
    workspace: String,
}

/// What a command was told, and what its caller was told.
struct Said {
    within: Value,
    without: Value,
}

impl House {
    fn new() -> Self {
        let serving = Serving::start(&[]);
        home::lay_out(serving.home.path(), CONFIG);
        let workspace = serving.workspace();
        fs::write(Path::new(&workspace).join("ask.sh"), ASKS).unwrap();
        Self { serving, workspace }
    }

    fn stockade(&self, args: &[&str]) -> Output {
        let mut command = Command::new(STOCKADE);
        command.args(args).current_dir(&self.workspace).env_clear();
        command.env("HOME", self.serving.home.path()).env("PATH", "/usr/bin:/bin").stdin(Stdio::null());
        command.output().unwrap()
    }

    fn by_command_line(&self, args: &[&str]) -> Said {
        let output = self.stockade(args);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        let within = document["stdout"]["text"].as_str().unwrap_or_else(|| panic!("{document}"));
        Said { within: read(within), without: document["hostsRefused"][0].clone() }
    }

    fn served(&mut self) -> Said {
        let params = json!({"argv": COMMAND, "spec": {"workspace": self.workspace}, "agent": "default"});
        let answer = self.serving.call("exec", &params);
        let printed = answer["result"]["stdoutBase64"].as_str().unwrap_or_else(|| panic!("{answer}"));
        let decoded =
            Command::new("sh").args(["-c", "printf %s \"$0\" | base64 -d", printed]).output().unwrap();
        let within = read(&String::from_utf8(decoded.stdout).unwrap());
        Said { within, without: answer["result"]["hostsRefused"][0].clone() }
    }

    fn by_crate(&self) -> Said {
        let workspace = Path::new(&self.workspace);
        let session = home::session(self.serving.home.path(), "default", workspace);
        let RunAnswer::Ran(ran) = session.run(&COMMAND.join(" "), Streams::default()).unwrap() else {
            panic!("it did not run")
        };
        let within = String::from_utf8(ran.report.outcome.output.stdout.clone()).unwrap();
        Said { within: read(&within), without: serde_json::to_value(&ran.report.hosts_refused[0]).unwrap() }
    }
}

fn read(printed: &str) -> Value {
    serde_json::from_str(printed).unwrap_or_else(|_| panic!("{printed}"))
}

#[test]
fn every_entry_point_explains_why_a_host_is_not_reached() {
    let mut house = House::new();
    let tried = house.stockade(&["exec", "--format", "json", "--", "true"]);
    if !serde_json::from_slice::<Value>(&tried.stdout).is_ok_and(|it| it["sandbox"] == "native") {
        return println!("skipped: no native sandbox can be made here: {tried:?}");
    }
    let command = ["--", COMMAND[0], COMMAND[1]];
    let skill = house.serving.home.path().join("skill").display().to_string();
    let exec = ["exec", "--format", "json", "--audit", "--allow-host", "listed.example"];
    let exec = house.by_command_line(&[&exec[..], &command].concat());
    let agents =
        house.by_command_line(&[&["exec", "--agent", "default", "--format", "json"][..], &command].concat());
    let run = house.by_command_line(&[&["run", "--format", "json", &skill][..], &command].concat());
    let served = house.served();
    let by_crate = house.by_crate();
    for (entry_point, said) in [
        ("exec", exec),
        ("exec --agent", agents),
        ("run", run),
        ("exec of serve", served),
        ("the crate", by_crate),
    ] {
        let Said { within, without } = said;
        assert_eq!(
            (&within["rule"], &within["entry"]),
            (&json!("not-listed"), &json!("evil.test:80")),
            "{entry_point}"
        );
        for member in ["id", "rule", "reason", "fix"] {
            assert!(within[member].is_string(), "{entry_point}: {member}: {within}");
            assert_eq!(within[member], without[member], "{entry_point}: {member}");
        }
        let id = within["id"].as_str().unwrap();
        // Who calls the crate chooses the trail.
        let elsewhere = entry_point == "the crate";
        let file = house.serving.home.path().join("crate.jsonl").display().to_string();
        let trail: &[&str] = if elsewhere { &["--file", &file] } else { &[] };
        let why = house.stockade(&[&["why", id, "--format", "json"], trail].concat());
        assert_eq!(why.status.code(), Some(0), "{entry_point}: {why:?}");
        let on_record: Value = serde_json::from_slice(&why.stdout).unwrap();
        assert_eq!(on_record["decision"]["data"]["toAllow"], within["fix"], "{entry_point}: {on_record}");
        let asked = house.serving.call("audit.query", &json!({"name": id}));
        let found = if elsewhere { json!([]) } else { json!([on_record["decision"]]) };
        assert_eq!(asked["result"]["events"], found, "{entry_point}");
    }
}
