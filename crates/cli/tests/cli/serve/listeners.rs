//! Who listens is told of policies that change, and every change is on record.

use serde_json::{Value, json};

use super::Serving;

/// Sends a request, and returns the notifications that came before its answer, and the answer.
fn heard(serving: &mut Serving, method: &str, params: &Value) -> (Vec<Value>, Value) {
    serving.send(method, 1, params);
    let mut told = Vec::new();
    loop {
        let line = serving.next();
        if line["method"].is_null() {
            return (told, line);
        }
        assert_eq!(line["method"], "policy.changed", "{line}");
        told.push(line["params"].clone());
    }
}

fn open(serving: &mut Serving, params: &Value) -> Value {
    serving.call("session.open", params)["result"]["session"].clone()
}

#[test]
fn listeners_are_notified_and_everything_is_recorded() {
    let mut serving = Serving::start(&["--requests-may-widen"]);
    let agent = open(&mut serving, &json!({"agent": "bot", "listen": true}));
    let free = open(&mut serving, &json!({"listen": true}));
    let deaf = open(&mut serving, &json!({}));
    for (session, listens) in [(&agent, true), (&free, true), (&deaf, false)] {
        let asked = json!({"session": session, "policies": {"denyCommands": ["npm publish"]},
            "request": {"type": "command.execute", "resource": "npm publish", "tool": "run"}});
        let (told, answer) = heard(&mut serving, "path.authorize", &asked);
        assert_eq!(answer["result"]["decision"], "deny", "{answer}");
        assert_eq!(told.len(), usize::from(listens), "{told:?}");
        for told in told {
            assert_eq!((&told["session"], &told["tool"]), (session, &json!("run")), "{told}");
            assert!(told["policies"].as_array().unwrap().len() > 1, "{told}");
        }
    }
    // The same policies again change nothing, and others replace them.
    let mut again = |patterns: Value| {
        let asked = json!({"session": agent, "policies": {"denyCommands": patterns},
            "request": {"type": "command.execute", "resource": "npm publish", "tool": "run"}});
        heard(&mut serving, "path.authorize", &asked).0.len()
    };
    assert_eq!([again(json!(["npm publish"])), again(json!(["npm publish", "x"]))], [0, 1]);
    // One client is told once, in however many sessions it listens.
    let (told, answer) = heard(&mut serving, "policy.add", &json!({"rule": "deny git push"}));
    let id = answer["result"]["added"][0]["id"].clone();
    assert_eq!(told, [json!({"policies": [id]})], "{answer}");
    let tried = json!({"rule": "deny git pull", "dryRun": true});
    assert!(heard(&mut serving, "policy.add", &tried).0.is_empty());
    assert_eq!(heard(&mut serving, "policy.remove", &json!({"ids": [id]})).0.len(), 1);
    let found = serving.call("audit.query", &json!({"event": "policy_changed", "limit": 10}));
    let found = found["result"]["events"].as_array().unwrap().clone();
    let said: Vec<_> =
        found.iter().rev().map(|event| (event["agent"].clone(), event["data"]["change"].clone())).collect();
    assert_eq!(
        said,
        [
            (json!("bot"), Value::Null),
            (json!("bot"), Value::Null),
            (Value::Null, json!("add")),
            (Value::Null, json!("remove"))
        ],
        "{found:?}"
    );
}

/// A client without a user to ask declares that, and a question becomes a denial with its own reason.
#[test]
fn without_a_user_to_ask_that_is_the_reason() {
    let mut serving = Serving::start(&[]);
    let session =
        open(&mut serving, &json!({"agent": "bot", "config": {"paths": {"write": {"default": "ask"}}}}));
    let asked = |answers: Value| json!({"session": session, "answers": answers, "request": {"type": "fs.write", "resource": "a.txt"}});
    let reason = |serving: &mut Serving, answers: Value| {
        let answer = serving.call("path.authorize", &asked(answers));
        (answer["result"]["decision"].clone(), answer["result"]["reason"].clone())
    };
    assert_eq!(reason(&mut serving, json!(["no-handler"])), (json!("deny"), json!("ask-no-handler")));
    assert_eq!(reason(&mut serving, json!(["abort"])), (json!("deny"), json!("ask-aborted")));
    assert_eq!(reason(&mut serving, Value::Null).0, "ask");
    assert_eq!(reason(&mut serving, json!(["allow-session"])).0, "allow");
    assert_eq!(reason(&mut serving, Value::Null).0, "allow", "it was answered for the session");
}
