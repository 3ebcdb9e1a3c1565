//! Messages that the proxy itself sends.

use stockade_text::Value;

use crate::edit::{node, set, table, text};
use crate::message::Id;
use crate::methods::Era;
use crate::written::written;

/// The method does not exist.
pub(crate) const NO_METHOD: i32 = -32601;
/// The request is refused.
pub(crate) const WITHHELD: i32 = -32603;
/// The server has ended, or sends invalid messages.
pub(crate) const NO_SERVER: i32 = -32000;
/// The request timed out.
pub(crate) const TIMED_OUT: i32 = -32001;
/// The revision is unknown.
pub(crate) const VERSION: i32 = -32022;

fn message<const N: usize>(members: [(&str, Value); N]) -> Value {
    let mut whole = table([("jsonrpc", text("2.0"))]);
    for (key, value) in members {
        set(&mut whole, key, value);
    }
    whole
}

/// Returns an error response.
pub(crate) fn error(id: Option<&Id>, code: i32, why: &str, data: Option<Value>) -> String {
    let why = if why.starts_with("stockade") { why.to_owned() } else { format!("stockade: {why}") };
    let mut error = table([("code", Value::Number(code.to_string())), ("message", text(why))]);
    if let Some(data) = data {
        set(&mut error, "data", data);
    }
    written(&message([("id", id.map_or(Value::Nothing, Id::value)), ("error", error)]))
}

/// Returns the error for an unknown revision, with the known ones.
pub(super) fn other_version(id: &Id, requested: &str, supported: &[&str]) -> String {
    let supported = Value::List(supported.iter().map(|version| node(text(*version))).collect());
    let data = table([("supported", supported), ("requested", text(requested))]);
    error(Some(id), VERSION, "Unsupported protocol version", Some(data))
}

/// Returns the response to a refused tool call. It is a tool result, so that the model learns the reason and can do something
/// else.
pub(super) fn no_call(id: &Id, era: Era, why: &str) -> String {
    written(&message([("id", id.value()), ("result", no_result(era, why))]))
}

/// Returns a tool result.
pub(super) fn no_result(era: Era, why: &str) -> Value {
    let mut result =
        table([("content", Value::List(vec![node(block(why))])), ("isError", Value::Flag(true))]);
    if era == Era::Stateless {
        set(&mut result, "resultType", text("complete"));
    }
    result
}

/// Returns a text for the model.
pub(super) fn block(said: &str) -> Value {
    table([("type", text("text")), ("text", text(said))])
}

/// Returns the notification that a request was cancelled.
pub(super) fn cancelled(id: &Id, why: &str) -> String {
    let params = table([("requestId", id.value()), ("reason", text(why))]);
    written(&message([("method", text("notifications/cancelled")), ("params", params)]))
}
