//! Every mode through every entry point: what a command can change is the same for every caller, however the mode was given.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use stockade_guard::RunAnswer;
use stockade_guard::exec::run::Streams;
use stockade_guard::exec::{SandboxMode, SandboxSpec, run_spec};

use super::Serving;
use super::entry_points::home;
use crate::support::STOCKADE;

/// Tries to change the workspace, and what lies beside it.
const PROBE: &str = "touch inside; touch ../outside; true";
const COMMAND: [&str; 2] = ["sh", "probe.sh"];

/// Each mode, and what a command can change in it: the workspace, and what lies beside it.
const MODES: [(&str, (bool, bool)); 3] =
    [("read-only", (false, false)), ("workspace-write", (true, false)), ("danger-full-access", (true, true))];

/// A rule that allows the command, so that only the mode decides.
const RULE: &str = r#"
[[agents."*".commands.rules]]
id = "probe"
exact = ["sh", "probe.sh"]
decision = "allow"
i_know = true
"#;

struct House {
    serving: Serving,
    workspace: PathBuf,
}

impl House {
    fn new(args: &[&str]) -> Self {
        let serving = Serving::start(args);
        let agent = |(mode, _): (&str, _)| format!("[agents.{mode}.skills.execSandbox]\nmode = \"{mode}\"\n");
        home::lay_out(serving.home.path(), &[MODES.map(agent).concat(), RULE.to_owned()].concat());
        let workspace = PathBuf::from(serving.workspace());
        fs::write(workspace.join("probe.sh"), PROBE).unwrap();
        Self { serving, workspace }
    }

    /// What is different since this was asked last.
    fn changed(&self) -> (bool, bool) {
        let took = |path: PathBuf| fs::remove_file(path).is_ok();
        (took(self.workspace.join("inside")), took(self.workspace.with_file_name("outside")))
    }

    fn stockade(&self, args: &[&str]) -> Output {
        let home = self.serving.home.path();
        let mut command = Command::new(STOCKADE);
        command.args(args).args(COMMAND).current_dir(&self.workspace).env_clear();
        command.env("HOME", home).env("PATH", "/usr/bin:/bin").stdin(Stdio::null()).output().unwrap()
    }

    fn served(&mut self, agent: Option<&str>, mode: Option<&str>) -> Value {
        let spec = json!({"workspace": self.workspace, "mode": mode});
        self.serving.call("exec", &json!({"argv": COMMAND, "agent": agent, "spec": spec}))
    }

    /// The newest start and the newest end are worth a look, and name what could be reached.
    fn is_on_record_as_open(&self, entry_point: &str) {
        let home = self.serving.home.path();
        let mut command = Command::new(STOCKADE);
        command.args(["audit", "query", "--event", "sandbox_%", "--limit", "2", "--format", "json"]);
        let output = command.env_clear().env("HOME", home).output().unwrap();
        let answer: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{entry_point}: {output:?}"));
        let events = answer["events"].as_array().unwrap();
        assert_eq!(events.len(), 2, "{entry_point}");
        for event in events {
            let data = &event["data"];
            assert_eq!(
                [&event["severity"], &event["backend"], &data["network"], &data["files"]],
                ["warn", "nothing", "open", "open"],
                "{entry_point}: {event}"
            );
        }
    }

    fn by_session(&self, agent: &str, mode: Option<SandboxMode>) {
        let mut session = home::session(self.serving.home.path(), agent, &self.workspace);
        mode.into_iter().for_each(|mode| session.bound_mode(mode).unwrap());
        let answer = session.run(&COMMAND.join(" "), Streams::default()).unwrap();
        assert!(matches!(answer, RunAnswer::Ran(_)), "{answer:?}");
    }
}

fn can_sandbox(house: &House) -> bool {
    let output = house.stockade(&["exec", "--quiet", "--"]);
    house.changed();
    if !output.status.success() {
        println!("skipped: no sandbox can be made here: {output:?}");
    }
    output.status.success()
}

#[test]
fn a_mode_means_the_same_at_every_entry_point() {
    const FULL: &str = "danger-full-access";
    let mut house = House::new(&["--allow-danger-full-access"]);
    if !can_sandbox(&house) {
        return;
    }
    for (mode, wanted) in MODES {
        let value = SandboxMode::from_name(mode).unwrap();
        let skill = house.serving.home.path().join("skill").display().to_string();
        let typed: [(&str, Vec<&str>); 5] = [
            ("exec --sandbox", vec!["exec", "--sandbox", mode, "--"]),
            ("exec --agent, configured", vec!["exec", "--agent", mode, "--"]),
            ("exec --agent --sandbox", vec!["exec", "--agent", FULL, "--sandbox", mode, "--"]),
            ("run, configured", vec!["run", "--agent", mode, &skill, "--"]),
            ("run --sandbox", vec!["run", "--agent", FULL, "--sandbox", mode, &skill, "--"]),
        ];
        for (entry_point, args) in typed {
            let output = house.stockade(&args);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(house.changed(), wanted, "{entry_point}: {mode}: {output:?}");
            assert_eq!(output.status.code(), Some(0), "{entry_point}: {mode}: {said}");
            assert_eq!(said.contains("WITHOUT A SANDBOX"), mode == FULL, "{entry_point}: {mode}: {said}");
            if mode == FULL {
                house.is_on_record_as_open(entry_point);
            }
        }
        let asked = [
            ("exec of serve", None, Some(mode)),
            ("exec of serve, configured", Some(mode), None),
            ("exec of serve, narrowed", Some(FULL), Some(mode)),
        ];
        for (entry_point, agent, said) in asked {
            let answer = house.served(agent, said);
            assert_eq!(house.changed(), wanted, "{entry_point}: {mode}: {answer}");
            let warning = answer["result"]["warning"].as_str().unwrap_or_default();
            assert_eq!(
                warning.contains("WITHOUT A SANDBOX"),
                mode == FULL,
                "{entry_point}: {mode}: {answer}"
            );
            if mode == FULL && agent.is_none() {
                house.is_on_record_as_open(entry_point);
            }
        }
        house.by_session(mode, None);
        assert_eq!(house.changed(), wanted, "a session, configured: {mode}");
        house.by_session(FULL, Some(value));
        assert_eq!(house.changed(), wanted, "a session, narrowed: {mode}");
        let mut spec = SandboxSpec::new(&house.workspace, COMMAND);
        value.apply(&mut spec);
        run_spec(&spec, Streams::default()).unwrap();
        assert_eq!(house.changed(), wanted, "a spec: {mode}");
    }
    // What nothing held is on record, as a warning, whether that was asked for or not.
    let output = Command::new(STOCKADE)
        .args(["audit", "query", "--format", "json", "--limit", "500"])
        .env_clear()
        .env("HOME", house.serving.home.path())
        .output()
        .unwrap();
    let records: Value = serde_json::from_slice(&output.stdout).unwrap();
    let ends = records["events"].as_array().unwrap().iter();
    let unheld: Vec<&Value> =
        ends.filter(|it| it["event"] == "sandbox_completed" && it["backend"] == "nothing").collect();
    // Five that were typed, and three that were asked for; sessions of the crate have a trail of their own.
    assert_eq!(unheld.len(), 8, "{unheld:?}");
    assert!(unheld.iter().all(|record| record["severity"] == "warn"), "{unheld:?}");
}

#[test]
fn no_request_exceeds_the_configuration() {
    let mut house = House::new(&[]);
    if !can_sandbox(&house) {
        return;
    }
    let skill = house.serving.home.path().join("skill").display().to_string();
    for (holds, wanted) in [("read-only", "workspace-write"), ("workspace-write", "danger-full-access")] {
        let rows: [(&str, i32, Vec<&str>); 2] = [
            ("exec", 125, vec!["exec", "--agent", holds, "--sandbox", wanted, "--"]),
            ("run", 125, vec!["run", "--agent", holds, "--sandbox", wanted, &skill, "--"]),
        ];
        for (entry_point, code, args) in rows {
            let output = house.stockade(&args);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{entry_point}: {said}");
            assert!(said.contains(holds) && said.contains(wanted), "{entry_point}: {said}");
        }
        let answer = house.served(Some(holds), Some(wanted));
        assert_eq!(answer["error"]["code"], -32001, "{answer}");
    }
    // The operator who started the server did not allow it.
    let answer = house.served(None, Some("danger-full-access"));
    assert_eq!(
        (&answer["error"]["code"], &answer["error"]["data"]["rule"]),
        (&json!(-32001), &json!("danger-full-access")),
        "{answer}"
    );
    assert_eq!(house.changed(), (false, false));
    // Where every command must run in a sandbox, every command does.
    let must = "[security.permission]\nenableNodePermissions = true\n";
    let full = "[agents.danger-full-access.skills.execSandbox]\nmode = \"danger-full-access\"\n";
    home::lay_out(house.serving.home.path(), &[must, full, RULE].concat());
    house.stockade(&["exec", "--agent", "danger-full-access", "--"]);
    assert_eq!(house.changed(), (true, false));
}

/// An option that shapes a sandbox would claim what is not enforced where there is no sandbox.
#[test]
fn options_without_effect_in_a_mode_are_refused() {
    let house = House::new(&[]);
    let rows: [(&str, &[&str]); 8] = [
        ("read-only", &["--rw", "."]),
        ("danger-full-access", &["--rw", "."]),
        ("danger-full-access", &["--ro", "/usr"]),
        ("danger-full-access", &["--allow-host", "x.example"]),
        ("danger-full-access", &["--no-rules"]),
        ("danger-full-access", &["--backend", "native"]),
        ("danger-full-access", &["--no-spawn"]),
        ("danger-full-access", &["--require", "files"]),
    ];
    for (mode, options) in rows {
        let output = house.stockade(&[&["exec", "--sandbox", mode][..], options, &["--"]].concat());
        assert!(matches!(output.status.code(), Some(125 | 126)), "{mode} {options:?}: {output:?}");
        assert_eq!(house.changed(), (false, false), "{mode} {options:?}");
    }
}

/// A command that is excluded from the sandbox runs outside at every entry point, alone: with anything beside it, it stays within.
#[test]
fn excluded_commands_run_outside_alone_at_every_entry_point() {
    let mut house = House::new(&[]);
    if !can_sandbox(&house) {
        return;
    }
    let rules = "[agents.some.skills.execSandbox]\nexcludedCommands = [\"sh probe.sh\"]\n";
    home::lay_out(house.serving.home.path(), &[rules, RULE].concat());
    let skill = house.serving.home.path().join("skill").display().to_string();
    for args in [vec!["exec", "--agent", "some", "--"], vec!["run", "--agent", "some", &skill, "--"]] {
        let output = house.stockade(&args);
        assert_eq!(house.changed(), (true, true), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("WITHOUT A SANDBOX"), "{output:?}");
    }
    let answer = house.served(Some("some"), None);
    assert_eq!(house.changed(), (true, true), "{answer}");
    assert_eq!(answer["result"]["decision"]["rule"], "execSandbox.excludedCommands", "{answer}");
    // A caller that asks for a sandbox gets one.
    house.served(Some("some"), Some("workspace-write"));
    assert_eq!(house.changed(), (true, false));
    for text in
        ["sh probe.sh; true", "true && sh probe.sh", "sh probe.sh > out", "A=1 sh probe.sh", "sh ./probe.sh"]
    {
        let spec = json!({"workspace": house.workspace});
        let answer = house.serving.call("exec", &json!({"command": text, "agent": "some", "spec": spec}));
        let (_, outside) = house.changed();
        assert!(!outside, "{text}: {answer}");
    }
}

/// Where only commands that need a sandbox get one, every entry point says the same of a command: what a rule allows needs none, unless its program
/// always does, or only a sandbox could hold what the configuration denies.
#[test]
fn allowed_commands_run_without_a_sandbox_at_every_entry_point() {
    let mut house = House::new(&[]);
    if !can_sandbox(&house) {
        return;
    }
    let auto = |more: &str| {
        [&format!("[agents.some.skills.execSandbox]\nenabled = \"auto\"\n{more}\n"), RULE].concat()
    };
    for (more, is_outside) in [
        ("", true),
        ("alwaysSandbox = [\"sh\"]", false),
        ("review = \"undoable\"", false),
        ("[agents.some.files]\ndenyRead = [\"keys/**\"]", false),
    ] {
        home::lay_out(house.serving.home.path(), &auto(more));
        let skill = house.serving.home.path().join("skill").display().to_string();
        for args in [vec!["exec", "--agent", "some", "--"], vec!["run", "--agent", "some", &skill, "--"]] {
            let output = house.stockade(&args);
            assert_eq!(house.changed().1, is_outside, "{more}: {output:?}");
            let said = String::from_utf8_lossy(&output.stderr).contains("WITHOUT A SANDBOX");
            assert_eq!(said, is_outside, "{more}: {output:?}");
        }
        let answer = house.served(Some("some"), None);
        assert_eq!(house.changed().1, is_outside, "{more}: {answer}");
    }
    // A caller that asks for a sandbox gets one.
    home::lay_out(house.serving.home.path(), &auto(""));
    house.served(Some("some"), Some("workspace-write"));
    assert_eq!(house.changed(), (true, false));
}
