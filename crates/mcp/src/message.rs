//! A message of JSON-RPC as the protocol writes them, read strictly: what two readers could take for two things is refused. The
//! fuzzer compiles this file by itself.

use stockade_text::{Format, Node, Value, json_values, parse};

use super::spelling::{misspelt, shown};

/// The most bytes of one message.
pub(crate) const MAX_MESSAGE: usize = 16 << 20;

/// The most values of one message: each takes many times as much room as it is written in.
pub(crate) const MAX_VALUES: usize = 200_000;

/// The longest name of a request.
pub(crate) const MAX_ID: usize = 256;

/// The largest number that every reader of JSON keeps as it is.
const MAX_NUMBER: i64 = (1 << 53) - 1;

/// The members that a message may have.
const MEMBERS: &[&str] = &["jsonrpc", "id", "method", "params", "result", "error"];

/// What the sender calls a request. `1` and `"1"` are two names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Id {
    /// A number, spelled as everybody spells it.
    Number(i64),
    /// A text of the sender's own.
    Text(String),
}

impl Id {
    /// Returns the name that a value is, if it is one.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => (text.len() <= MAX_ID).then(|| Self::Text(text.clone())),
            // Another spelling, such as `1.0` or `-0`, is a number to some and none to others.
            Value::Number(written) => {
                let number = written.parse::<i64>().ok().filter(|number| number.to_string() == *written)?;
                (-MAX_NUMBER..=MAX_NUMBER).contains(&number).then_some(Self::Number(number))
            }
            _ => None,
        }
    }

    /// Returns the value that it is.
    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Number(number) => Value::Number(number.to_string()),
            Self::Text(text) => Value::Text(text.clone()),
        }
    }
}

/// What a message is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Something is asked for, and an answer is due.
    Request(Id, String),
    /// A message that no answer is due to.
    Notification(String),
    /// The answer to a request.
    Result(Id),
    /// A request failed. Where it could not be read, nobody knows which.
    Error(Option<Id>),
}

/// A message that means one thing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Message {
    /// What it is.
    pub(crate) kind: Kind,
    /// All of it: a table.
    pub(crate) whole: Node,
}

/// A line that is no message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unread {
    /// The code of JSON-RPC.
    pub(crate) code: i32,
    /// What is wrong with it.
    pub(crate) why: String,
}

/// It is no JSON, or none that everybody reads alike.
pub(crate) const PARSE: i32 = -32700;
/// It is JSON, and no message.
pub(crate) const REQUEST: i32 = -32600;

/// Reads a line.
pub(crate) fn read(line: &[u8]) -> Result<Message, Unread> {
    let broken = |why: String| Unread { code: PARSE, why };
    if line.len() > MAX_MESSAGE {
        return Err(broken(format!("it is longer than {MAX_MESSAGE} bytes")));
    }
    let text = str::from_utf8(line).map_err(|_| broken("it is not UTF-8".to_owned()))?;
    if json_values(line) > MAX_VALUES {
        return Err(broken(format!("it has more than {MAX_VALUES} values")));
    }
    let whole = parse(text, Format::Json, MAX_MESSAGE).map_err(|error| broken(error.to_string()))?;
    let kind = kind(&whole.value).map_err(|why| Unread { code: REQUEST, why })?;
    match misspelt(&whole.value) {
        None => Ok(Message { kind, whole }),
        Some(why) => Err(Unread { code: REQUEST, why }),
    }
}

fn kind(whole: &Value) -> Result<Kind, String> {
    let members = match whole {
        Value::Table(members) => members,
        Value::List(_) => return Err("it is a batch, which this revision has none of".to_owned()),
        _ => return Err("it is no table".to_owned()),
    };
    if let Some(other) = members.iter().find(|member| !MEMBERS.contains(&member.key.as_str())) {
        return Err(format!("it has a member `{}`, which no message has", shown(&other.key)));
    }
    let get = |name: &str| whole.get(name).map(|member| &member.node.value);
    if get("jsonrpc") != Some(&Value::Text("2.0".to_owned())) {
        return Err("its `jsonrpc` is not \"2.0\"".to_owned());
    }
    let id = match get("id") {
        None => None,
        Some(Value::Nothing) if get("error").is_some() => None,
        Some(id) => Some(Id::of(id).ok_or("its `id` is neither a short text nor a whole number")?),
    };
    let is_table = |name: &str| matches!(get(name), Some(Value::Table(_)));
    match (get("method"), get("result"), get("error"), id) {
        (Some(Value::Text(method)), None, None, id) => {
            if get("params").is_some() && !is_table("params") {
                return Err("its `params` are no table".to_owned());
            }
            Ok(match id {
                Some(id) => Kind::Request(id, method.clone()),
                None => Kind::Notification(method.clone()),
            })
        }
        (None, Some(_), None, Some(id)) if get("params").is_none() => match is_table("result") {
            true => Ok(Kind::Result(id)),
            false => Err("its `result` is no table".to_owned()),
        },
        (None, None, Some(error), id) if get("params").is_none() => match is_error(error) {
            true => Ok(Kind::Error(id)),
            false => Err("its `error` has no whole number `code` and text `message`".to_owned()),
        },
        _ => Err("it is neither a request, nor a notification, nor one answer".to_owned()),
    }
}

fn is_error(error: &Value) -> bool {
    let get = |name: &str| error.get(name).map(|member| &member.node.value);
    get("code").is_some_and(|code| matches!(Id::of(code), Some(Id::Number(_))))
        && matches!(get("message"), Some(Value::Text(_)))
}

/// Returns the request that a line answers which could not be read, as far as a reader finds one that takes whatever comes.
pub(crate) fn answers(line: &[u8]) -> Option<Id> {
    if json_values(line) > MAX_VALUES || line.len() > MAX_MESSAGE {
        return None;
    }
    let text = String::from_utf8_lossy(line);
    let read = serde_json::from_str::<serde_json::Value>(&text).ok()?;
    match read.get("id")? {
        serde_json::Value::String(id) => Id::of(&Value::Text(id.clone())),
        serde_json::Value::Number(id) => Id::of(&Value::Number(id.to_string())),
        _ => None,
    }
}
