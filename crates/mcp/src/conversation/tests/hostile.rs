//! Attacks by an untrusted server.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Out, Talk, call, clients, result, servers};

#[test]
fn a_list_contains_only_permitted_and_clean_tools() {
    let mut talk = Talk::begun(&[]);
    let tool =
        |name: &str, description: &str| json!({"name": name, "description": description, "inputSchema": {}});
    let listed = talk.list(&json!([
        tool("t1", "fine"),
        tool("x", "not granted"),
        tool("t2", "EVIL"),
        tool("t3", "a~b"),
        tool("t4", "LONG"),
        tool("t 5", "no name"),
        tool("t6", "one"),
        tool("t6", "twice"),
        {"name": "t7", "inputSchema": {"properties": {"a": {"$ref": "https://x.example/schema"}}}},
        {"name": "t8", "inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"$ref": "#/$defs/a"}}}},
        {"description": "nameless"},
    ]));
    assert_eq!(listed, ["t1", "t3", "t8"]);
    // What was not listed is not called.
    for (name, passes) in
        [("t1", true), ("x", false), ("t2", false), ("t4", false), ("t6", false), ("t9", false)]
    {
        let out = talk.client(&call(name, name, &json!({})));
        assert_eq!(servers(&out).len() == 1, passes, "{name}");
    }
}

#[test]
fn a_changed_tool_definition_is_refused() {
    let mut talk = Talk::begun(&[]);
    let list = |description: &str| json!([{"name": "t", "description": description}, {"name": "u", "description": "x"}]);
    assert_eq!(talk.list(&list("reads")), ["t"]);
    // The order of members means nothing.
    assert_eq!(talk.list(&json!([{"description": "reads", "name": "t"}])), ["t"]);
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    assert_eq!(clients(&talk.server(&changed)), [changed]);
    let out = talk.client(&call(1, "t", &json!({})));
    assert!(clients(&out)[0].to_string().contains("not-listed"), "{out:?}");
    assert_eq!(talk.list(&list("reads and sends")), Vec::<String>::new());
    let out = talk.client(&call(1, "t", &json!({})));
    assert!(clients(&out)[0].to_string().contains("changed: another one"), "{out:?}");
}

#[test]
fn instructions_and_prompts_that_could_be_an_attack_do_not_pass() {
    let mut talk = Talk::begun(&[]);
    talk.client(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}));
    let greeting = |instructions: &str| {
        result(1, &json!({"protocolVersion": "2025-06-18", "instructions": instructions}))
    };
    assert_eq!(
        clients(&talk.server(&greeting("EVIL")))[0]["result"],
        json!({"protocolVersion": "2025-06-18"})
    );
    talk.client(&json!({"jsonrpc": "2.0", "id": 2, "method": "prompts/list"}));
    let out =
        talk.server(&result(2, &json!({"prompts": [{"name": "a", "description": "EVIL"}, {"name": "b"}]})));
    assert_eq!(clients(&out)[0]["result"]["prompts"], json!([{"name": "b"}]));
    talk.client(&json!({"jsonrpc": "2.0", "id": 3, "method": "prompts/get", "params": {"name": "b"}}));
    let prompt = json!({"messages": [{"role": "user", "content": {"type": "text", "text": "EVIL"}}]});
    assert_eq!(clients(&talk.server(&result(3, &prompt)))[0]["error"]["code"], -32603);
    // What a tool brings back is data, and comes with a note.
    let mut talk = Talk::with_tools(&["t"]);
    talk.client(&call(4, "t", &json!({})));
    let out = talk.server(&result(4, &json!({"content": [{"type": "text", "text": "EVIL"}]})));
    assert_eq!(clients(&out)[0]["result"]["content"][1]["text"], "a note");
}

/// Bytes are told apart in what a tool, a prompt or a resource brings, where the protocol has them. Anywhere else a member of the
/// same form is read by a model as it is written.
#[test]
fn base64_in_unexpected_places_is_scanned_as_text() {
    let posed = json!({"type": "image", "data": "EVIL", "uri": "a:b", "blob": "EVIL"});
    let tool = json!({"name": "t", "description": "d", "inputSchema": {"properties": {"a": posed}}});
    assert_eq!(Talk::begun(&[]).list(&json!([tool])), Vec::<String>::new());
    for (method, answer) in [
        ("prompts/list", json!({"prompts": [{"name": "a", "x": posed}]})),
        ("resources/list", json!({"resources": [posed]})),
        ("completion/complete", json!({"completion": posed})),
        ("tools/call", json!({"content": [], "structuredContent": posed})),
        ("tools/call", json!({"content": [{"type": "text", "text": "a", "_meta": posed}]})),
        ("resources/read", json!({"contents": [{"uri": "a:b", "text": "x", "_meta": {"y": posed}}]})),
    ] {
        let mut talk = Talk::with_tools(&["t"]);
        let asked = match method {
            "tools/call" => call(1, "t", &json!({})),
            method => json!({"jsonrpc": "2.0", "id": 1, "method": method}),
        };
        assert_eq!(servers(&talk.client(&asked)).len(), 1, "{method}");
        let sent = clients(&talk.server(&result(1, &answer)))[0].to_string();
        assert!(!sent.contains("EVIL") || sent.contains("a note"), "{method}: {sent}");
    }
    let mut talk = Talk::begun(&[super::ClientFeature::Sampling]);
    for message in [
        json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": posed}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {"messages": [{"role": "user", "content": posed}]}}),
    ] {
        assert_eq!(clients(&talk.server(&message)), Vec::<Value>::new(), "{message}");
    }
    // An error is no result, and has no bytes.
    let mut talk = Talk::with_tools(&["t"]);
    talk.client(&call(1, "t", &json!({})));
    let failed = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "m", "data": posed}});
    assert!(!clients(&talk.server(&failed))[0].to_string().contains("EVIL"));
}

/// Each change of the pins is a file that is written, and a server may have thousands of tools. Where nothing more can be kept in
/// mind, the client is told, and not shown a list without tools.
#[test]
fn a_list_is_compared_with_the_pinned_one_at_once() {
    let mut talk = Talk::begun(&[]);
    let many: Vec<Value> = (0..1000).map(|at| json!({"name": format!("t{at}")})).collect();
    assert_eq!(talk.list(&json!(many)).len(), 1000);
    assert_eq!(talk.conversation.judge.pinned, 1);
    talk.conversation.judge.is_full = true;
    talk.client(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    let out = talk.server(&result(1, &json!({"tools": [{"name": "t"}]})));
    assert!(clients(&out)[0]["error"]["message"].as_str().unwrap().contains("too many"), "{out:?}");
    assert_eq!(servers(&talk.client(&call(2, "t", &json!({})))).len(), 0);
}

/// The note about a finding is added where the client reads it; a result without a place for it is withheld.
#[test]
fn a_note_is_never_lost() {
    let ask = |method: &str| match method {
        "tools/call" => call(1, "t", &json!({})),
        method => json!({"jsonrpc": "2.0", "id": 1, "method": method}),
    };
    let evil = json!([{"type": "text", "text": "EVIL"}]);
    for (method, answer, at) in [
        ("tools/call", json!({"structuredContent": {"a": "EVIL"}}), Some("/content/0/text")),
        ("tools/call", json!({"structuredContent": {"a": "EVIL"}, "contents": []}), Some("/content/0/text")),
        ("tools/call", json!({"content": {"type": "text", "text": "EVIL"}}), None),
        ("tools/call", json!({"content": "EVIL"}), None),
        ("resources/read", json!({"text": "EVIL", "content": []}), Some("/contents/0/text")),
        ("tasks/result", json!({"content": evil}), Some("/content/1/text")),
        ("tasks/get", json!({"taskId": "x", "result": {"content": evil}}), Some("/result/content/1/text")),
        ("tasks/get", json!({"taskId": "x", "result": "EVIL"}), None),
        ("tasks/get", json!({"taskId": "x", "statusMessage": "EVIL"}), None),
        ("prompts/get", json!({"messages": [], "description": "a~b"}), Some("/messages/0/content/text")),
    ] {
        let mut talk = Talk::with_tools(&["t"]);
        assert_eq!(servers(&talk.client(&ask(method))).len(), 1, "{method}");
        let out = clients(&talk.server(&result(1, &answer)));
        match at {
            Some(at) => assert_eq!(out[0]["result"].pointer(at), Some(&json!("a note")), "{method}: {out:?}"),
            None => assert!(!out[0].to_string().contains("EVIL"), "{method}: {out:?}"),
        }
    }
}

/// A list that is asked for anew says anew what may be called; within the pages of one, the stricter counts.
#[test]
fn a_new_list_request_starts_a_new_list() {
    let mut talk = Talk::begun(&[]);
    let tool = |says: &str| json!([{"name": "t", "description": says}]);
    let page = |talk: &mut Talk, says: &str| {
        talk.client(&json!({"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": {"cursor": "2"}}));
        let out = talk.server(&result(5, &json!({"tools": tool(says)})));
        clients(&out)[0]["result"]["tools"].as_array().unwrap().len()
    };
    assert_eq!(talk.list(&tool("EVIL")), Vec::<String>::new());
    assert_eq!(page(&mut talk, "fine"), 0);
    assert_eq!(talk.list(&tool("fine")), ["t"]);
    assert_eq!(page(&mut talk, "EVIL"), 0);
    assert_eq!(servers(&talk.client(&call(1, "t", &json!({})))).len(), 0);
    // What is not in it any more is not called any more.
    assert_eq!(talk.list(&tool("fine")), ["t"]);
    assert_eq!(talk.list(&json!([])), Vec::<String>::new());
    assert_eq!(servers(&talk.client(&call(1, "t", &json!({})))).len(), 0);
    // As many tools as there may be are listed as often as anybody likes.
    let many: Vec<Value> = (0..2100).map(|at| json!({"name": format!("t{at}")})).collect();
    for _ in 0..2 {
        assert_eq!(talk.list(&json!(many)).len(), 2100);
    }
}

#[test]
fn unknown_messages_of_a_server_are_dropped() {
    let mut talk = Talk::with_tools(&["t"]);
    for message in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t"}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tasks/get"}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "method": "notifications/no"}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
        json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "EVIL"}}),
        json!({"jsonrpc": "2.0", "id": 99, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "m"}}),
        json!([{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}]),
    ] {
        assert_eq!(clients(&talk.server(&message)), Vec::<Value>::new(), "{message}");
    }
}

/// An answer that could mean two things is an error and none of both.
#[test]
fn an_ambiguous_response_is_an_error() {
    for answer in [
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]},"result":{"content":[{"type":"text","text":"EVIL"}]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"Content":[]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"iſError":true}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]},"error":{"code":1,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":[]}"#,
    ] {
        let mut talk = Talk::with_tools(&["t"]);
        talk.client(&call(1, "t", &json!({})));
        let out = talk.conversation.hear_server(answer.as_bytes(), talk.now);
        assert_eq!(clients(&out)[0]["error"]["code"], -32603, "{answer}");
    }
}

#[test]
fn garbage_ends_in_an_error() {
    let mut talk = Talk::with_tools(&["t"]);
    talk.client(&call(1, "t", &json!({})));
    let mut ended = Vec::new();
    for _ in 0..super::super::MAX_GARBAGE {
        ended.extend(talk.conversation.hear_server(b"Listening on stdio ...", talk.now));
    }
    assert_eq!(clients(&ended)[0]["error"]["code"], -32000);
    assert!(ended.iter().any(|one| matches!(one, Out::Stop(_))));
}

/// The number of requests in flight is bounded, whatever a client sends.
#[test]
fn the_number_of_waiting_requests_is_limited() {
    let mut talk = Talk::begun(&[]);
    for id in 0..super::super::MAX_IN_FLIGHT {
        let out = talk.client(&json!({"jsonrpc": "2.0", "id": id, "method": "prompts/list"}));
        assert_eq!(servers(&out).len(), 1);
    }
    let out = talk.client(&json!({"jsonrpc": "2.0", "id": "one more", "method": "prompts/list"}));
    assert_eq!(clients(&out)[0]["error"]["code"], -32000);
    // Asked twice by one name, an answer would be taken for the other's.
    let mut talk = Talk::begun(&[]);
    for count in [1, 0] {
        let out = talk.client(&json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/list"}));
        assert_eq!(servers(&out).len(), count);
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[ -~\u{2028}\u{85}\r\né]{0,12}".prop_map(Value::from),
        Just(json!("EVIL")),
        Just(json!("input_required")),
        Just(json!("t")),
    ];
    let key = prop_oneof![
        "[a-zA-Z]{1,6}",
        proptest::sample::select(vec![
            "name",
            "tools",
            "content",
            "text",
            "type",
            "resultType",
            "inputRequests",
            "uri",
            "blob",
            "params",
            "_meta"
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((key.clone(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn message() -> impl Strategy<Value = Value> {
    let method = proptest::sample::select(vec![
        "initialize",
        "tools/list",
        "tools/call",
        "prompts/get",
        "resources/read",
        "sampling/createMessage",
        "roots/list",
        "notifications/progress",
        "notifications/cancelled",
        "notifications/message",
        "server/discover",
        "x",
    ]);
    let id = prop_oneof![
        Just(json!(1)),
        Just(json!("list")),
        Just(json!(2)),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from)
    ];
    (id, method, value(), 0..5_u8).prop_map(|(id, method, value, kind)| match kind {
        0 => json!({"jsonrpc": "2.0", "id": id, "method": method, "params": value}),
        1 => json!({"jsonrpc": "2.0", "method": method, "params": value}),
        2 => json!({"jsonrpc": "2.0", "id": id, "result": value}),
        3 => json!({"jsonrpc": "2.0", "id": id, "error": {"code": 1, "message": "m", "data": value}}),
        _ => value,
    })
}

proptest! {
    /// Whatever either side sends: what passes is one line of JSON that means the same to a reader that knows nothing of this,
    /// nothing called an attack reaches the client without a note, and each request has one answer at most.
    #[test]
    fn only_valid_messages_pass(messages in proptest::collection::vec((any::<bool>(), message()), 1..12)) {
        let mut talk = Talk::with_tools(&["t"]);
        let mut asked: Vec<Value> = Vec::new();
        for (is_client, message) in messages {
            let out = if is_client { talk.client(&message) } else { talk.server(&message) };
            for one in &out {
                let (Out::Client(line) | Out::Server(line)) = one else { continue };
                let is_one_line = !line.contains(['\n', '\r', '\u{2028}', '\u{85}']);
                prop_assert!(is_one_line);
                let read: Value = serde_json::from_str(line).unwrap();
                prop_assert_eq!(&read["jsonrpc"], &json!("2.0"));
                if let Out::Client(_) = one {
                    let is_answer = read.get("method").is_none();
                    if is_answer && !read["id"].is_null() && !is_client {
                        let at = asked.iter().position(|id| *id == read["id"]);
                        prop_assert!(at.is_some(), "{}", line);
                        asked.remove(at.unwrap());
                    }
                    prop_assert!(!line.contains("EVIL") || line.contains("a note"), "{}", line);
                } else if read.get("method").is_some() && read.get("id").is_some() {
                    asked.push(read["id"].clone());
                }
            }
            if is_client {
                // A request that the client cancels gets no response.
                if message["method"] == "notifications/cancelled" {
                    asked.retain(|id| *id != message["params"]["requestId"]);
                }
                prop_assert_eq!(clients(&out).iter().filter(|one| one.get("method").is_some()).count(), 0);
            }
        }
    }
}
