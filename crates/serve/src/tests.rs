//! The server over a transport in memory. `crates/cli/tests/cli/serve.rs` has the real process.

mod document;
mod examples;
mod packages;
mod properties;
mod protocol;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{Audit, Evaluations, ServeOptions, Server, converse};

fn server(max_request: usize) -> Arc<Server> {
    Arc::new(Server::new(ServeOptions {
        max_request,
        max_commands: 4,
        audit: Audit::Off,
        agent: None,
        evaluations: Evaluations::Off,
        answers: None,
        rules: None,
        may_widen: false,
        may_leave_sandbox: false,
        #[cfg(target_os = "linux")]
        graphs: None,
    }))
}

/// Returns what a server answers to an input.
fn answers(server: &Arc<Server>, input: &[u8]) -> Vec<Value> {
    let mut output = Vec::new();
    converse(server, input, &mut output, &|| true).unwrap();
    let text = String::from_utf8(output).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const OK: i64 = 0;

/// Lines, the code of their answer (`None` for no answer), and its id.
const LINES: &[(&str, Option<i64>, &str)] = &[
    (r#"{"jsonrpc":"2.0","id":1,"method":"sanitize","params":{"text":"a"}}"#, Some(OK), "1"),
    (
        "\t {\"method\":\"sanitize\", \"params\":{\"text\":\"a\"},\"id\":\"x\", \"jsonrpc\":\"2.0\"} \r",
        Some(OK),
        r#""x""#,
    ),
    (r#"{"jsonrpc":"2.0","id":null,"method":"sanitize","params":{"text":"a"}}"#, Some(OK), "null"),
    (r#"{"jsonrpc":"2.0","id":-1.5e3,"method":"sanitize","params":{"text":"a"}}"#, Some(OK), "-1500.0"),
    (r#"{"jsonrpc":"2.0","id":1,"method":"s\u0061nitize","params":{"text":"\ud83d\ude00"}}"#, Some(OK), "1"),
    (r#"{"jsonrpc":"2.0","method":"sanitize","params":{"text":"a"}}"#, None, ""),
    (r#"{"jsonrpc":"2.0","method":"no.such.method"}"#, None, ""),
    ("", None, ""),
    (" \t", None, ""),
    ("{", Some(-32700), "null"),
    ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"sanitize\"}}", Some(-32700), "null"),
    ("nonsense", Some(-32700), "null"),
    ("1", Some(-32600), "null"),
    ("\"text\"", Some(-32600), "null"),
    ("[]", Some(-32600), "null"),
    (r#"{"id":1,"method":"sanitize"}"#, Some(-32600), "1"),
    (r#"{"jsonrpc":"1.0","id":1,"method":"sanitize"}"#, Some(-32600), "1"),
    (r#"{"jsonrpc":2.0,"id":1,"method":"sanitize"}"#, Some(-32600), "1"),
    (r#"{"jsonrpc":"2.0","id":1}"#, Some(-32600), "1"),
    (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, Some(-32600), "1"),
    (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"sanitize"}"#, Some(-32600), "null"),
    (r#"{"jsonrpc":"2.0","id":[1],"method":"sanitize"}"#, Some(-32600), "null"),
    (r#"{"jsonrpc":"2.0","id":true,"method":"sanitize"}"#, Some(-32600), "null"),
    (r#"{"jsonrpc":"2.0","id":1,"method":"sanitize","parms":{}}"#, Some(-32600), "1"),
    (r#"{"jsonrpc":"2.0","id":1,"method":"sanitise","params":{}}"#, Some(-32601), "1"),
    (r#"{"jsonrpc":"2.0","id":1,"method":"container.start","params":{}}"#, Some(-32601), "1"),
    (r#"{"jsonrpc":"2.0","id":1,"method":"sanitize"}"#, Some(-32602), "1"),
    (r#"{"jsonrpc":"2.0","id":1,"method":"sanitize","params":null}"#, Some(-32602), "1"),
    (r#"{"jsonrpc":"2.0","id":1,"method":"sanitize","params":["a"]}"#, Some(-32602), "1"),
    (r#"{"jsonrpc":"2.0","id":1,"method":"sanitize","params":{"txt":"a"}}"#, Some(-32602), "1"),
    (r#"{"jsonrpc":"2.0","id":1,"method":"sanitize","params":{"text":7}}"#, Some(-32602), "1"),
    (r#"{"jsonrpc":"2.0","id":1,"method":"sanitize","params":{"text":"\ud83d"}}"#, Some(-32602), "1"),
    (r#"{"jsonrpc":"2.0","id":1,"method":"scan","params":{}}"#, Some(-32602), "1"),
    (r#"{"jsonrpc":"2.0","id":1,"method":"scan","params":{"textBase64":"*"}}"#, Some(-32602), "1"),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"scan","params":{"text":"a","options":{"rules":["NO_SUCH"]}}}"#,
        Some(-32602),
        "1",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"command.evaluate","params":{"command":"ls","config":{"detectDangerous":false}}}"#,
        Some(-32602),
        "1",
    ),
    (r#"{"jsonrpc":"2.0","id":1,"method":"command.evaluate","params":{"argv":[]}}"#, Some(-32602), "1"),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"path.authorize","params":{"config":{"jial":true},"request":{"type":"fs.read","resource":"a"}}}"#,
        Some(-32602),
        "1",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"path.authorize","params":{"session":"0","request":{"type":"fs.read","resource":"a"}}}"#,
        Some(-32602),
        "1",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"sandbox.plan","params":{"spec":{"workspace":"/etc"}}}"#,
        Some(-32001),
        "1",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"sandbox.plan","params":{"spec":{"workspace":"/w"},"hostFacts":{"platform":"macos"},"backend":"native"}}"#,
        Some(-32003),
        "1",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"sandbox.plan","params":{"spec":{"workspace":"/w"},"hostFacts":{"platform":"macos"}}}"#,
        Some(OK),
        "1",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"sandbox.plan","params":{"spec":{"workspace":"/w"},"backend":"seatbelt"}}"#,
        Some(-32003),
        "1",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"exec","params":{"command":"rm -rf /","evaluate":true,"spec":{"workspace":"/srv/work"}}}"#,
        Some(-32001),
        "1",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"exec","params":{"command":"ls","argv":["ls"]}}"#,
        Some(-32602),
        "1",
    ),
];

#[test]
fn every_line_has_its_answer_and_the_next_one_too() {
    let server = server(1 << 20);
    for (line, code, id) in LINES {
        let after = r#"{"jsonrpc":"2.0","id":"after","method":"sanitize","params":{"text":""}}"#;
        let mut got = answers(&server, format!("{line}\n{after}\n").as_bytes());
        let at = got.iter().position(|answer| answer["id"] == "after");
        got.remove(at.unwrap_or_else(|| panic!("{line}: nothing is answered any more")));
        let found = got.first().map(|answer| answer["error"]["code"].as_i64().unwrap_or(OK));
        assert_eq!(found, *code, "{line}: {got:?}");
        if let Some(answer) = got.first() {
            assert_eq!(answer["id"], serde_json::from_str::<Value>(id).unwrap(), "{line}");
        }
    }
}

#[test]
fn the_nearest_name_is_in_the_message() {
    let server = server(1 << 20);
    for (line, hint) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":"sanitise"}"#, "did you mean `sanitize`?"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"scan","params":{"text":"","optoins":{}}}"#,
            "did you mean `options`?",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"scan","params":{"text":"","options":{"decod":1}}}"#,
            "did you mean `decode`?",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"command.parse","params":{"command":"","shell":"bsh"}}"#,
            "did you mean `bash`?",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"path.authorize","params":{"config":{"jial":true}}}"#,
            "did you mean `jail`?",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"command.evaluate","params":{"command":"","rules":[{"acton":"allow"}]}}"#,
            "did you mean `action`?",
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"sanitize","parms":{}}"#, "did you mean `params`?"),
    ] {
        let got = answers(&server, line.as_bytes());
        let message = got[0]["error"]["message"].as_str().unwrap_or_default();
        assert!(message.ends_with(hint), "{line}: {message}");
    }
}

#[test]
fn a_batch_has_one_answer_without_those_of_notifications() {
    let server = server(1 << 20);
    let request =
        |id: Value| json!({"jsonrpc": "2.0", "id": id, "method": "sanitize", "params": {"text": "a"}});
    let notification = json!({"jsonrpc": "2.0", "method": "sanitize", "params": {"text": "a"}});
    let batch = json!([request(json!(1)), notification, 7, request(json!("two"))]).to_string();
    let got = answers(&server, batch.as_bytes());
    assert_eq!(got.len(), 1);
    let ids: Vec<&Value> = got[0].as_array().unwrap().iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!(1), &Value::Null, &json!("two")]);
    assert!(answers(&server, json!([notification, notification]).to_string().as_bytes()).is_empty());
    let many = format!("[{}1]", "1,".repeat(2000));
    assert_eq!(answers(&server, many.as_bytes())[0]["error"]["code"], -32600);
}

#[test]
fn a_line_that_is_too_long_is_refused_and_the_next_one_answered() {
    let server = server(1000);
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"sanitize","params":{{"text":"{}"}}}}"#,
        "x".repeat(5000)
    );
    let short = r#"{"jsonrpc":"2.0","id":2,"method":"sanitize","params":{"text":"a"}}"#;
    let got = answers(&server, format!("{long}\n{short}").as_bytes());
    assert_eq!((&got[0]["error"]["code"], &got[1]["id"]), (&json!(-32600), &json!(2)));
    assert!(got[0]["error"]["message"].as_str().unwrap().contains("--max-request"));
}

#[test]
fn a_session_remembers_and_can_be_closed() {
    let server = server(1 << 20);
    let call = |method: &str, params: Value| {
        let line = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        answers(&server, line.as_bytes()).remove(0)
    };
    let config =
        json!({"paths": {"write": {"default": "ask"}}, "maxSteps": 2, "budget": {"perExecution": 100}});
    let opened = call("session.open", json!({"config": config}));
    let session = opened["result"]["session"].as_str().unwrap().to_owned();
    let write = |answers: Value, file: &str| {
        let request = json!({"type": "fs.write", "resource": file});
        let params = json!({"session": session, "request": request, "answers": answers});
        let result = call("path.authorize", params)["result"].clone();
        (result["decision"].as_str().unwrap().to_owned(), result["asked"].as_u64().unwrap())
    };
    assert_eq!(write(Value::Null, "a.txt"), ("ask".to_owned(), 1));
    assert_eq!(write(json!(["allow-session"]), "a.txt"), ("allow".to_owned(), 1));
    assert_eq!(write(Value::Null, "a.txt"), ("allow".to_owned(), 0), "it was answered for the session");
    assert_eq!(write(Value::Null, "b.txt"), ("ask".to_owned(), 1), "it was answered for one path");

    let admit =
        |tokens: u64| call("limits.admit", json!({"session": session, "estimate": {"tokens": tokens}}));
    let first = admit(60);
    assert_eq!(first["result"], json!({"permit": 1, "stepsLeft": 1}));
    let over = admit(60);
    assert_eq!(
        (&over["error"]["code"], &over["error"]["data"]),
        (&json!(-32002), &json!({"limit": "budget"}))
    );
    let settle = json!({"session": session, "permit": 1, "used": {"tokens": 10}});
    assert_eq!(call("limits.settle", settle.clone())["result"], json!({"overrun": false}));
    assert_eq!(call("limits.settle", settle)["error"]["code"], -32602, "a permit is settled once");
    assert_eq!(admit(60)["result"]["stepsLeft"], 0);
    assert_eq!(admit(1)["error"]["data"], json!({"limit": "steps"}));

    assert_eq!(call("session.close", json!({"session": session}))["result"]["session"], session.as_str());
    assert_eq!(call("session.close", json!({"session": session}))["error"]["code"], -32602);
}
