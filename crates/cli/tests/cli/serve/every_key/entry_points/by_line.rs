//! By the command line.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use super::{
    FAILED, House, Probe, TASK, UNNAMED, by_crate, ended, held, output, recorded, refused, skill, told,
};
use crate::support::STOCKADE;

pub(super) fn ask(house: &House, probe: &Probe) -> String {
    match probe {
        Probe::Tool(name) => checked(house, &["tool", "--agent", "bot", name]),
        Probe::Read(path) => checked(house, &["path", "--agent", "bot", &house.path(path)]),
        Probe::Write(path) => checked(house, &["path", "--agent", "bot", "--write", &house.path(path)]),
        Probe::Host(host) => checked(house, &["net", "--agent", "bot", host]),
        Probe::Command(text) => command(house, text),
        Probe::Run(argv) => {
            let ran = exec(house, argv);
            match ran["exitCode"].as_i64() {
                Some(code) if ran["sandbox"].is_string() => {
                    let printed = [text(&ran["stdout"]), text(&ran["stderr"])].concat();
                    ended(code, ran["sandbox"].as_str().unwrap(), printed.as_bytes())
                }
                _ if ran["end"] == "failed" => FAILED.to_owned(),
                _ => {
                    let decision = &ran["decision"];
                    let rule = decision["rule"].as_str().unwrap_or_else(|| panic!("{ran}"));
                    refused(rule, decision["reason"].as_str().unwrap_or_default())
                }
            }
        }
        Probe::Output(argv) => {
            let result = &exec(house, argv)["result"];
            output(result["text"].as_str().unwrap(), result["truncated"].as_bool().unwrap())
        }
        Probe::Answered(word) => {
            by_crate::say(house, word);
            held(command(house, "unheard-of --flag") != "ask")
        }
        Probe::Limits(_) => {
            let ran = exec(house, &["true"]);
            match ran["decision"]["rule"].as_str() {
                Some(rule) if ran["end"] == "refused" => rule.to_owned(),
                Some(_) => "limits".to_owned(),
                None => "store".to_owned(),
            }
        }
        Probe::Skill(_) => {
            let folder = house.home().join("plain").display().to_string();
            let asked =
                ["skill", "admit", "--agent", "bot", "--allow-flagged", "--format", "json", folder.as_str()];
            let row = document(&stockade(house, &asked));
            skill(row["verdict"].as_str().unwrap(), row["prompt"].as_str())
        }
        Probe::Recorded => {
            exec(house, &["true"]);
            recorded(&house.home())
        }
        Probe::Anchored => {
            exec(house, &["true"]);
            told(&house.home())
        }
        Probe::Hooked(text) => hooked(house, text),
        Probe::Evaluated => {
            let output = stockade(house, &["check", "command", "ls"]);
            evaluated(house, output.status.code() == Some(0))
        }
    }
}

/// The decision of a hook, and whether its reason has the text of the row; nothing where it has no objection.
fn hooked(house: &House, command: &str) -> String {
    let call = json!({
        "session_id": "s", "cwd": house.work(), "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}
    });
    let mut hook = Command::new(STOCKADE);
    hook.args(["hook", "--harness", "claude", "--agent", "bot"]).env_clear().env("HOME", house.home());
    let mut child = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(call.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    if output.stdout.is_empty() {
        return String::new();
    }
    let answer = &document(&output)["hookSpecificOutput"];
    let has_text = text_of(&answer["permissionDecisionReason"]).contains("#release");
    format!("{}, {has_text}", text_of(&answer["permissionDecision"]))
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Whether something was answered, and how much is on record.
pub(super) fn evaluated(house: &House, is_answered: bool) -> String {
    let found = stockade(house, &["audit", "query", "--format", "json"]);
    let found: Value = serde_json::from_slice(&found.stdout).unwrap_or_default();
    let records = found["events"].as_array().map_or(0, Vec::len);
    format!("answered: {is_answered}, on record: {records}")
}

fn stockade(house: &House, args: &[&str]) -> Output {
    let mut command = (house.program)();
    command.args(args).env_clear().env("HOME", house.home()).env("PATH", "/usr/bin:/bin");
    command.current_dir(house.work()).stdin(Stdio::null()).output().unwrap()
}

fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

fn checked(house: &House, args: &[&str]) -> String {
    let output = stockade(house, &[&["check"], args, &["--format", "json"]].concat());
    if String::from_utf8_lossy(&output.stderr).contains("is not in the configuration") {
        return UNNAMED.to_owned();
    }
    let answer = document(&output);
    answer["results"][0]["decision"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn command(house: &House, text: &str) -> String {
    let work = house.work().display().to_string();
    let asked = ["check", "command", "--agent", "bot", "--cwd", &work, "--format", "json", "--", text];
    document(&stockade(house, &asked))["decision"].as_str().unwrap().to_owned()
}

fn exec(house: &House, argv: &[&str]) -> Value {
    let argv: Vec<String> = argv.iter().map(|word| house.path(word)).collect();
    let asked = ["exec", "--agent", "bot", "--execution", TASK, "--format", "json", "--"];
    let words: Vec<&str> = asked.into_iter().chain(argv.iter().map(String::as_str)).collect();
    document(&stockade(house, &words))
}

fn text(value: &Value) -> String {
    value["text"].as_str().unwrap_or_default().to_owned()
}
