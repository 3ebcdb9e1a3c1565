//! What is true of every line of a conversation of the Model Context Protocol, however hostile: what was read is written so that
//! it means the same to everybody.

#[path = "../../src/confusable_names.rs"]
mod confusable_names;
#[expect(dead_code, reason = "reading messages needs no values of ids")]
#[path = "../../src/message.rs"]
mod message;
#[path = "../../src/written.rs"]
mod written;

use message::{Id, Kind, MAX_ID, Unread, answers, read};
use serde_json::Value;

/// A message is what any reader of JSON finds in the line, it is written as one line that means the same, and what is no message
/// has a reason.
pub(crate) fn messages(line: &[u8]) {
    let plain = serde_json::from_slice::<Value>(line);
    let message = match read(line) {
        Ok(message) => message,
        Err(Unread { code, why }) => {
            assert!(code < 0 && !why.is_empty());
            if let Some(id) = answers(line) {
                bounded(&id);
            }
            return;
        }
    };
    let plain = plain.expect("what is read is JSON");
    assert_eq!(plain["jsonrpc"], "2.0");
    match &message.kind {
        Kind::Request(id, method) => {
            bounded(id);
            assert_eq!((&plain["method"], is(&plain["id"], id)), (&Value::from(method.as_str()), true));
        }
        Kind::Notification(method) => {
            assert_eq!((&plain["method"], plain.get("id")), (&Value::from(method.as_str()), None));
        }
        Kind::Result(id) => assert!(is(&plain["id"], id) && plain["result"].is_object()),
        Kind::Error(id) => {
            assert!(id.as_ref().is_none_or(|id| is(&plain["id"], id)) && plain["error"].is_object());
        }
    }
    let sent = written::written(&message.whole.value);
    assert!(!sent.contains(['\n', '\r', '\u{2028}', '\u{2029}', '\u{85}']), "{sent}");
    assert_eq!(serde_json::from_str::<Value>(&sent).expect("it is JSON"), plain);
    let again = read(sent.as_bytes()).expect("it is a message");
    assert_eq!((&again.kind, written::written(&again.whole.value)), (&message.kind, sent));
}

fn bounded(id: &Id) {
    assert!(!matches!(id, Id::Text(text) if text.len() > MAX_ID));
}

fn is(plain: &Value, id: &Id) -> bool {
    match id {
        Id::Number(number) => plain.as_i64() == Some(*number),
        Id::Text(text) => plain.as_str() == Some(text),
    }
}
