//! By the server, in a session of the agent.

use serde_json::{Value, json};

use super::super::super::{Serving, text};
use super::{
    FAILED, House, Probe, TASK, UNNAMED, by_line, ended, held, output, recorded, refused, skill, told,
};

pub(super) fn ask(house: &House, probe: &Probe) -> String {
    let mut serving =
        Serving::started_by((house.program)(), &[], Some(&house.home()), tempfile::tempdir().unwrap());
    if let Probe::Evaluated = probe {
        let answer = serving.call("command.evaluate", &json!({"command": "ls"}));
        return by_line::evaluated(house, answer["result"]["action"] == "allow");
    }
    let opened = serving.call("session.open", &json!({"agent": "bot", "workspace": house.work()}));
    let Some(session) = opened["result"]["session"].as_str().map(str::to_owned) else {
        if opened["error"]["data"]["agent"] == "bot" {
            return UNNAMED.to_owned();
        }
        // A session is not opened with a configuration in which no command could run.
        return opened["error"]["data"]["limit"].as_str().unwrap_or(FAILED).to_owned();
    };
    let mut call = |method: &str, mut params: Value| {
        params["session"] = json!(session);
        serving.call(method, &params)
    };
    match probe {
        Probe::Tool(name) => {
            let left = call("tools.resolve", json!({"tools": [name]}));
            let is_there = left["result"]["allowed"] == json!([name]);
            if is_there { "allow" } else { "deny" }.to_owned()
        }
        Probe::Read(path) => {
            word(&call("path.authorize", wish("fs.read", &house.path(path)))["result"]["decision"])
        }
        Probe::Write(path) => {
            word(&call("path.authorize", wish("fs.write", &house.path(path)))["result"]["decision"])
        }
        Probe::Host(host) => {
            word(&call("net.check", json!({"hosts": [host]}))["result"]["decisions"][0]["effect"])
        }
        Probe::Command(text) => word(&call("command.evaluate", json!({"command": text}))["result"]["action"]),
        Probe::Run(argv) => {
            let answer = call("exec", exec(house, argv));
            let ran = &answer["result"];
            match ran["exitCode"].as_i64() {
                Some(code) => {
                    let printed = [text(&ran["stdoutBase64"]), text(&ran["stderrBase64"])].concat();
                    ended(code, ran["backend"].as_str().unwrap(), printed.as_bytes())
                }
                None if !answer["error"]["data"]["decision"].is_object() => FAILED.to_owned(),
                None => {
                    let decision = &answer["error"]["data"]["decision"];
                    refused(&word(&decision["rule"]), decision["reason"].as_str().unwrap_or_default())
                }
            }
        }
        Probe::Output(argv) => {
            let answer = call("exec", exec(house, argv));
            let result = &answer["result"]["result"];
            output(&word(&result["text"]), result["truncated"].as_bool().unwrap())
        }
        Probe::Answered(said) => {
            let asked = json!({"command": "unheard-of --flag"});
            let question = call("command.evaluate", asked.clone())["result"]["question"]["id"].clone();
            let mut told = asked.clone();
            (told["question"], told["answer"]) = (question, json!(said));
            call("command.evaluate", told);
            held(call("command.evaluate", asked)["result"]["action"] != "ask")
        }
        Probe::Limits(_) => {
            let answer = call("limits.admit", json!({"execution": TASK, "estimate": {}}));
            match &answer["error"] {
                Value::Null => "limits".to_owned(),
                error => word(&error["data"]["limit"]),
            }
        }
        Probe::Skill(_) => {
            let answer = call("skill.admit", json!({"path": house.home().join("plain")}));
            skill(&word(&answer["result"]["admission"]), answer["result"]["sanitized"].as_str())
        }
        Probe::Recorded => {
            call("tools.resolve", json!({"tools": ["read"]}));
            recorded(&house.home())
        }
        Probe::Anchored => {
            call("exec", exec(house, &["true"]));
            told(&house.home())
        }
        Probe::Evaluated => unreachable!("asked above"),
        Probe::Hooked(_) => unreachable!("a program that asks the server has no hook"),
    }
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no word")).to_owned()
}

fn wish(kind: &str, path: &str) -> Value {
    json!({"request": {"type": kind, "resource": path, "tool": "tool"}})
}

fn exec(house: &House, argv: &[&str]) -> Value {
    let argv: Vec<String> = argv.iter().map(|word| house.path(word)).collect();
    json!({"argv": argv, "execution": TASK})
}
