//! What an honest client and an honest server say to each other.

use std::time::Duration;

use serde_json::json;

use super::{Out, Talk, call, clients, result, servers};

#[test]
fn a_call_passes_and_so_does_its_result() {
    let mut talk = Talk::with_tools(&["t"]);
    let asked = call(1, "t", &json!({"n": 1}));
    assert_eq!(servers(&talk.client(&asked)), [asked]);
    let answer =
        result(1, &json!({"content": [{"type": "text", "text": "done"}], "structuredContent": {"n": 1.5}}));
    assert_eq!(clients(&talk.server(&answer)), std::slice::from_ref(&answer));
    // No request waits for a second response.
    assert_eq!(clients(&talk.server(&answer)), Vec::<serde_json::Value>::new());
}

/// Numbers that no reader here could hold pass as they were spelled, beside texts that were cleaned too.
#[test]
fn numbers_pass_unchanged() {
    let mut talk = Talk::with_tools(&["t"]);
    talk.client(&call(1, "t", &json!({})));
    let line = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a~b"}],"structuredContent":{"big":123456789012345678901234567890,"small":1.50}}}"#;
    let out = talk.conversation.hear_server(line.as_bytes(), talk.now);
    let Some(Out::Client(sent)) = out.first() else { panic!("{out:?}") };
    assert!(
        sent.contains("123456789012345678901234567890") && sent.contains("1.50") && sent.contains("ab"),
        "{sent}"
    );
    assert!(sent.contains("a note"), "{sent}");
}

#[test]
fn request_ids_of_both_sides_are_separate() {
    let mut talk = Talk::with_tools(&["t"]);
    talk.client(&call(1, "t", &json!({})));
    talk.client(&call("1", "t", &json!({})));
    let fine = json!({"content": []});
    for id in [json!("1"), json!(1)] {
        assert_eq!(clients(&talk.server(&result(id.clone(), &fine)))[0]["id"], id);
    }
}

/// An image is no text, and is neither cut nor read as one; a text that is spelled as bytes is read.
#[test]
fn bytes_pass_as_they_are() {
    let mut talk = Talk::with_tools(&["t"]);
    for (block, passes) in [
        (json!({"type": "image", "data": "AAEC~", "mimeType": "image/png"}), false),
        (json!({"type": "image", "data": "AAEC/w==", "mimeType": "image/png"}), true),
        // `EVIL` in Base64.
        (json!({"type": "resource", "resource": {"uri": "a:b", "blob": "RVZJTA=="}}), false),
    ] {
        talk.client(&call(1, "t", &json!({})));
        let answer = result(1, &json!({"content": [block]}));
        let passed = clients(&talk.server(&answer))[0] == answer;
        assert_eq!(passed, passes, "{answer}");
    }
}

#[test]
fn progress_and_cancellation_of_known_requests_pass() {
    let mut talk = Talk::with_tools(&["t"]);
    let mut asked = call(1, "t", &json!({}));
    asked["params"]["_meta"] = json!({"progressToken": "p"});
    talk.client(&asked);
    let progress = |token| json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 1}});
    assert_eq!(clients(&talk.server(&progress("p"))).len(), 1);
    assert_eq!(clients(&talk.server(&progress("q"))).len(), 0);
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    assert_eq!(servers(&talk.client(&cancel)), std::slice::from_ref(&cancel));
    assert_eq!(servers(&talk.client(&cancel)).len(), 0);
    assert_eq!(clients(&talk.server(&result(1, &json!({"content": []})))).len(), 0);
}

#[test]
fn pending_requests_get_an_error_when_the_server_is_slow_or_gone() {
    let mut talk = Talk::with_tools(&["t"]);
    talk.client(&call(1, "t", &json!({})));
    let later = talk.now + Duration::from_secs(9);
    assert_eq!(talk.conversation.due(later), []);
    assert_eq!(talk.conversation.next_due(), Some(talk.now + Duration::from_secs(10)));
    let out = talk.conversation.due(talk.now + Duration::from_secs(10));
    assert_eq!(servers(&out)[0]["params"]["requestId"], 1);
    assert_eq!(
        (clients(&out)[0]["id"].clone(), clients(&out)[0]["error"]["code"].clone()),
        (json!(1), json!(-32001))
    );
    talk.client(&call(2, "t", &json!({})));
    let out = talk.conversation.server_ended("it is gone");
    assert_eq!(clients(&out)[0]["error"], json!({"code": -32000, "message": "stockade: it is gone"}));
    let out = talk.client(&json!({"jsonrpc": "2.0", "id": 3, "method": "ping"}));
    assert_eq!(clients(&out)[0]["error"]["code"], -32000);
}
