//! Strict parser of JSON-RPC messages: input that two parsers could read differently is rejected. The fuzzer compiles this file
//! separately.

use stockade_text::{Format, Node, Value, json_values, parse};

use super::confusable_names::{misspelt, shown};

/// Maximum size of a message in bytes.
pub(crate) const MAX_MESSAGE: usize = 16 << 20;

/// Maximum number of values in a message: each takes much more memory than its text.
pub(crate) const MAX_VALUES: usize = 200_000;

/// Maximum length of a request id.
pub(crate) const MAX_ID: usize = 256;

/// The largest integer that every JSON parser preserves.
const MAX_NUMBER: i64 = (1 << 53) - 1;

/// Members that a message may have.
const MEMBERS: &[&str] = &["jsonrpc", "id", "method", "params", "result", "error"];

/// Id of a request. `1` and `"1"` are different ids.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Id {
    /// An integer in its canonical form.
    Number(i64),
    /// A string that the sender chose.
    Text(String),
}

impl Id {
    /// Returns the id in a value, if it is valid.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => (text.len() <= MAX_ID).then(|| Self::Text(text.clone())),
            // Other notations such as `1.0` or `-0` are integers only for some parsers.
            Value::Number(written) => {
                let number = written.parse::<i64>().ok().filter(|number| number.to_string() == *written)?;
                (-MAX_NUMBER..=MAX_NUMBER).contains(&number).then_some(Self::Number(number))
            }
            _ => None,
        }
    }

    /// Returns the id as a value.
    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Number(number) => Value::Number(number.to_string()),
            Self::Text(text) => Value::Text(text.clone()),
        }
    }
}

/// The kind of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A request, which needs a response.
    Request(Id, String),
    /// A message that gets no response.
    Notification(String),
    /// The result of a request.
    Result(Id),
    /// The error of a request. If the server could not parse the request, its id is unknown.
    Error(Option<Id>),
}

/// A JSON-RPC message that every parser reads alike.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Message {
    /// Its kind.
    pub(crate) kind: Kind,
    /// The whole message, an object.
    pub(crate) whole: Node,
}

/// The error for a line that is not a valid message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unread {
    /// The error code of JSON-RPC.
    pub(crate) code: i32,
    /// What is wrong.
    pub(crate) why: String,
}

/// It is not JSON, or parsers could disagree about it.
pub(crate) const PARSE: i32 = -32700;
/// It is JSON but not a valid message.
pub(crate) const REQUEST: i32 = -32600;

/// Parses a line.
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
        Value::List(_) => return Err("it is a batch, which this protocol version does not have".to_owned()),
        _ => return Err("it is not an object".to_owned()),
    };
    if let Some(other) = members.iter().find(|member| !MEMBERS.contains(&member.key.as_str())) {
        return Err(format!("unknown member `{}`", shown(&other.key)));
    }
    let get = |name: &str| whole.get(name).map(|member| &member.node.value);
    if get("jsonrpc") != Some(&Value::Text("2.0".to_owned())) {
        return Err("its `jsonrpc` is not \"2.0\"".to_owned());
    }
    let id = match get("id") {
        None => None,
        Some(Value::Nothing) if get("error").is_some() => None,
        Some(id) => Some(Id::of(id).ok_or("its `id` is neither a short string nor an integer")?),
    };
    let is_table = |name: &str| matches!(get(name), Some(Value::Table(_)));
    match (get("method"), get("result"), get("error"), id) {
        (Some(Value::Text(method)), None, None, id) => {
            if get("params").is_some() && !is_table("params") {
                return Err("its `params` are not an object".to_owned());
            }
            Ok(match id {
                Some(id) => Kind::Request(id, method.clone()),
                None => Kind::Notification(method.clone()),
            })
        }
        (None, Some(_), None, Some(id)) if get("params").is_none() => match is_table("result") {
            true => Ok(Kind::Result(id)),
            false => Err("its `result` is not an object".to_owned()),
        },
        (None, None, Some(error), id) if get("params").is_none() => match is_error(error) {
            true => Ok(Kind::Error(id)),
            false => Err("its `error` has no integer `code` and string `message`".to_owned()),
        },
        _ => Err("it is not a request, a notification or a response".to_owned()),
    }
}

fn is_error(error: &Value) -> bool {
    let get = |name: &str| error.get(name).map(|member| &member.node.value);
    get("code").is_some_and(|code| matches!(Id::of(code), Some(Id::Number(_))))
        && matches!(get("message"), Some(Value::Text(_)))
}

/// Returns the id of the request to which an invalid line responds, as a lenient parser would find it.
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
