//! What the proxy says by itself.

use stockade_text::Value;

use crate::edit::{node, set, table, text};
use crate::message::Id;
use crate::methods::Era;
use crate::written::written;

/// There is no such method.
pub(crate) const NO_METHOD: i32 = -32601;
/// What was asked for must not pass.
pub(crate) const WITHHELD: i32 = -32603;
/// The server is gone, or cannot be understood.
pub(crate) const NO_SERVER: i32 = -32000;
/// It took too long.
pub(crate) const TIMED_OUT: i32 = -32001;
/// The revision is not known.
pub(crate) const VERSION: i32 = -32022;

fn message<const N: usize>(members: [(&str, Value); N]) -> Value {
    let mut whole = table([("jsonrpc", text("2.0"))]);
    for (key, value) in members {
        set(&mut whole, key, value);
    }
    whole
}

/// A request failed.
pub(crate) fn error(id: Option<&Id>, code: i32, why: &str, data: Option<Value>) -> String {
    let why = if why.starts_with("stockade") { why.to_owned() } else { format!("stockade: {why}") };
    let mut error = table([("code", Value::Number(code.to_string())), ("message", text(why))]);
    if let Some(data) = data {
        set(&mut error, "data", data);
    }
    written(&message([("id", id.map_or(Value::Nothing, Id::value)), ("error", error)]))
}

/// A revision is not known, and these are.
pub(super) fn other_version(id: &Id, requested: &str, supported: &[&str]) -> String {
    let supported = Value::List(supported.iter().map(|version| node(text(*version))).collect());
    let data = table([("supported", supported), ("requested", text(requested))]);
    error(Some(id), VERSION, "Unsupported protocol version", Some(data))
}

/// A call of a tool was turned away: the model is told in the place of a result, so that it can do something else.
pub(super) fn no_call(id: &Id, era: Era, why: &str) -> String {
    written(&message([("id", id.value()), ("result", no_result(era, why))]))
}

/// What stands in the place of the result of a tool.
pub(super) fn no_result(era: Era, why: &str) -> Value {
    let mut result =
        table([("content", Value::List(vec![node(block(why))])), ("isError", Value::Flag(true))]);
    if era == Era::Stateless {
        set(&mut result, "resultType", text("complete"));
    }
    result
}

/// A text for the model.
pub(super) fn block(said: &str) -> Value {
    table([("type", text("text")), ("text", text(said))])
}

/// Nobody waits for a request any longer.
pub(super) fn cancelled(id: &Id, why: &str) -> String {
    let params = table([("requestId", id.value()), ("reason", text(why))]);
    written(&message([("method", text("notifications/cancelled")), ("params", params)]))
}
