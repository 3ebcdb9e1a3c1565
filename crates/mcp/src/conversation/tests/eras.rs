//! The same holds in both eras.

use serde_json::{Value, json};

use super::{ClientFeature, Talk, call, clients, result, servers};

/// Makes a request one of the stateless era.
fn stateless(mut request: Value) -> Value {
    request["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"sampling": {}, "elicitation": {}, "roots": {}},
    });
    request
}

#[test]
fn both_protocol_eras_deny_the_same_tools() {
    let mut talk = Talk::with_tools(&["t"]);
    for request in [
        call(1, "t", &json!({"please": "deny"})),
        call(1, "t", &json!({"please": "ask"})),
        call(1, "t", &json!({"please": "fail"})),
        call(1, "other", &json!({})),
        call(1, "t t", &json!({})),
    ] {
        for request in [request.clone(), stateless(request.clone())] {
            let out = talk.client(&request);
            assert_eq!(servers(&out), Vec::<Value>::new(), "{request}");
            assert_eq!(clients(&out)[0]["result"]["isError"], true, "{request}");
        }
    }
    let out = talk.client(&stateless(call(1, "t", &json!({"please": "deny"}))));
    assert_eq!(clients(&out)[0]["result"]["resultType"], "complete");
}

#[test]
fn server_requests_need_permission() {
    let methods = [
        ("sampling/createMessage", ClientFeature::Sampling),
        ("elicitation/create", ClientFeature::Elicitation),
        ("roots/list", ClientFeature::Roots),
    ];
    for (method, wish) in methods {
        for lets in [&[][..], &[wish][..]] {
            let is_let = !lets.is_empty();
            let mut talk = Talk::begun(lets);
            let wanted = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": {"message": "Well?"}});
            let out = talk.server(&wanted);
            assert_eq!(
                (clients(&out).len(), servers(&out).len()),
                (usize::from(is_let), usize::from(!is_let)),
                "{method}"
            );
            // Within a result, as servers of the other era ask.
            talk.list(&json!([{"name": "t", "inputSchema": {}}]));
            talk.client(&stateless(call(1, "t", &json!({}))));
            let asks = result(
                1,
                &json!({"resultType": "input_required", "inputRequests": {"a": wanted}, "requestState": "s"}),
            );
            let out = clients(&talk.server(&asks));
            assert_eq!(out[0] == asks, is_let, "{method}: {out:?}");
        }
    }
}

#[test]
fn permitted_server_requests_are_scanned_and_answered_once() {
    let mut talk = Talk::begun(&[ClientFeature::Elicitation]);
    let wants = |message: &str, mode: &str| json!({"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": {"message": message, "mode": mode}});
    for wanted in [wants("EVIL", "form"), wants("Well?", "url")] {
        assert_eq!(clients(&talk.server(&wanted)).len(), 0, "{wanted}");
    }
    assert_eq!(clients(&talk.server(&wants("Well?", "form"))).len(), 1);
    let answer = result(7, &json!({"action": "accept", "content": {"Name": "x"}}));
    assert_eq!(servers(&talk.client(&answer)), std::slice::from_ref(&answer));
    assert_eq!(servers(&talk.client(&answer)).len(), 0);
}

#[test]
fn input_requests_are_refused_in_the_handshake_era() {
    let mut talk = Talk::with_tools(&["t"]);
    talk.conversation.terms.lets = ClientFeature::ALL.to_vec();
    talk.client(&call(1, "t", &json!({})));
    let out = talk.server(&result(1, &json!({"resultType": "input_required", "inputRequests": {}})));
    assert_eq!(clients(&out)[0]["result"]["isError"], true);
    // Nor may a list ask in either.
    talk.client(&stateless(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})));
    let out = talk.server(&result(1, &json!({"resultType": "input_required", "requestState": "s"})));
    assert_eq!(clients(&out)[0]["error"]["code"], -32603);
}

#[test]
fn denied_features_are_not_announced_to_the_server() {
    let mut talk = Talk::new(&[ClientFeature::Roots]);
    let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {"sampling": {}, "roots": {}, "tasks": {}, "elicitation": {}}}});
    assert_eq!(servers(&talk.client(&begin))[0]["params"]["capabilities"], json!({"roots": {}}));
    let ask = stateless(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    let meta = &servers(&talk.client(&ask))[0]["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({"roots": {}}));
}

#[test]
fn unknown_revisions_are_refused() {
    let mut talk = Talk::new(&[]);
    let mut ask = stateless(json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover"}));
    assert_eq!(servers(&talk.client(&ask)).len(), 1);
    let told = result(
        1,
        &json!({"resultType": "complete", "supportedVersions": ["2026-07-28", "2031-01-01"], "cacheScope": "public"}),
    );
    let out = clients(&talk.server(&told));
    assert_eq!(
        (&out[0]["result"]["supportedVersions"], &out[0]["result"]["cacheScope"]),
        (&json!(["2026-07-28"]), &json!("private"))
    );
    ask["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    let out = clients(&talk.client(&ask));
    assert_eq!(out[0]["error"]["code"], -32022);
    assert_eq!(out[0]["error"]["data"], json!({"supported": ["2026-07-28"], "requested": "2031-01-01"}));
    talk.client(&json!({"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {}}));
    let out = clients(&talk.server(&result(2, &json!({"protocolVersion": "2031-01-01"}))));
    assert_eq!(out[0]["error"]["code"], -32603);
}

/// A method of one era is unknown in the other.
#[test]
fn eras_have_their_own_methods() {
    let mut talk = Talk::new(&[]);
    for method in ["initialize", "ping", "logging/setLevel", "tasks/result", "no/such"] {
        let out = clients(&talk.client(&stateless(json!({"jsonrpc": "2.0", "id": 1, "method": method}))));
        assert_eq!(out[0]["error"]["code"], -32601, "{method}");
    }
    for method in ["server/discover", "subscriptions/listen", "tasks/update"] {
        let out = clients(&talk.client(&json!({"jsonrpc": "2.0", "id": 1, "method": method})));
        assert_eq!(out[0]["error"]["code"], -32601, "{method}");
    }
}

/// A result of another kind, a notification and an error ask as a result that asks does, and are held to the same.
#[test]
fn only_input_required_results_can_request_input() {
    let wanted = json!({"method": "sampling/createMessage", "params": {"message": "Well?"}});
    let asks = json!({"a": wanted});
    for asking in [
        json!({"resultType": "task", "taskId": "x", "inputRequests": asks}),
        json!({"resultType": "complete", "content": [], "inputRequests": asks}),
        json!({"content": [], "inputRequests": asks}),
        json!({"resultType": "task", "task": {"inputRequests": asks}}),
        json!({"resultType": "input_required", "result": {"inputRequests": asks}}),
    ] {
        let mut talk = Talk::with_tools(&["t"]);
        talk.conversation.terms.lets = ClientFeature::ALL.to_vec();
        let mut request = stateless(call(1, "t", &json!({})));
        request["params"]["task"] = json!({});
        talk.client(&request);
        let out = clients(&talk.server(&result(1, &asking)));
        assert_eq!(out[0]["result"]["isError"], true, "{asking}: {out:?}");
    }
    for params in [json!({"inputRequests": asks}), json!({"task": {"inputRequests": asks}})] {
        let told = json!({"jsonrpc": "2.0", "method": "notifications/tasks", "params": params});
        for lets in [&[][..], &[ClientFeature::Sampling][..]] {
            assert_eq!(clients(&Talk::new(lets).server(&told)).len(), lets.len(), "{told}");
        }
        // In the handshake era it is dropped, even with all features.
        assert_eq!(clients(&Talk::begun(ClientFeature::ALL).server(&told)).len(), 0);
    }
}

#[test]
fn an_error_contains_no_link() {
    let page = json!({"elicitations": [{"mode": "url", "url": "https://x.example/"}]});
    for (code, data) in [("-32042", &page), ("-32042.0", &json!({})), ("-3.2042e4", &json!({})), ("1", &page)]
    {
        let mut talk = Talk::with_tools(&["t"]);
        talk.client(&call(1, "t", &json!({})));
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"m","data":{data}}}}}"#);
        let out = clients(&talk.conversation.hear_server(line.as_bytes(), talk.now));
        assert_eq!((&out[0]["error"]["code"], out[0]["error"].get("data")), (&json!(-32603), None), "{line}");
        assert!(!out[0].to_string().contains("x.example"), "{out:?}");
    }
}
