//! JSON-RPC 2.0 messages of clients: requests and batches. The fuzzer compiles this file separately.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;
use stockade_text::json_values;

use super::fault::{self, Fault};

/// Maximum number of requests in a batch. Each has an answer, so a line of commas would otherwise fill the memory.
pub(super) const MAX_BATCH: usize = 1000;

/// Maximum length of an ID, because the answer repeats it.
pub(super) const MAX_ID: usize = 1024;

/// Maximum number of values in a line. In memory each is many times as large as in the line, so a line of commas would otherwise
/// fill it.
pub(super) const MAX_VALUES: usize = 100_000;

/// The content of a line.
#[derive(Debug)]
pub(super) enum Message<'l> {
    One(Result<Request<'l>, Refused<'l>>),
    Batch(Vec<Result<Request<'l>, Refused<'l>>>),
}

/// A request, or a notification, which has no ID and gets no answer.
#[derive(Debug)]
pub(super) struct Request<'l> {
    pub(super) method: Cow<'l, str>,
    pub(super) parameters: Option<&'l RawValue>,
    pub(super) id: Option<&'l RawValue>,
}

/// An invalid request, with its ID if it has one.
#[derive(Debug)]
pub(super) struct Refused<'l> {
    pub(super) fault: Fault,
    pub(super) id: Option<&'l RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope<'l> {
    #[serde(borrow)]
    jsonrpc: Cow<'l, str>,
    #[serde(borrow)]
    method: Cow<'l, str>,
    #[serde(borrow)]
    params: Option<&'l RawValue>,
    #[serde(borrow, default, deserialize_with = "even_null")]
    id: Option<&'l RawValue>,
}

#[derive(Deserialize)]
struct OnlyId<'l> {
    #[serde(borrow, default, deserialize_with = "even_null")]
    id: Option<&'l RawValue>,
}

/// An ID of `null` is an ID, not a missing one.
fn even_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Parses a line; nothing for an empty one.
pub(super) fn read(line: &[u8]) -> Option<Message<'_>> {
    let refused = |fault| Some(Message::One(Err(Refused { fault, id: None })));
    let Ok(text) = str::from_utf8(line) else {
        return refused(Fault::new(fault::PARSE, "the line is not UTF-8"));
    };
    let text = text.trim_matches([' ', '\t', '\r']);
    if text.is_empty() {
        return None;
    }
    if values(text.as_bytes()) > MAX_VALUES {
        let message = format!("a line holds at most {MAX_VALUES} values; send them in several");
        return refused(Fault::new(fault::REQUEST, message));
    }
    // The whole line is validated first, so that invalid JSON is reported as such.
    match serde_json::from_str::<&RawValue>(text) {
        Err(error) => refused(Fault::new(fault::PARSE, format!("the line is not JSON: {error}"))),
        Ok(_) if text.starts_with('[') => Some(batch(text)),
        Ok(_) => Some(Message::One(request(text))),
    }
}

/// Limits the number of values of a message. Short lines cannot exceed the limit.
fn values(text: &[u8]) -> usize {
    if text.len() <= MAX_VALUES { 0 } else { json_values(text) }
}

fn batch(text: &str) -> Message<'_> {
    let wrong =
        |message: String| Message::One(Err(Refused { fault: Fault::new(fault::REQUEST, message), id: None }));
    match serde_json::from_str::<Elements<'_>>(text) {
        Ok(Elements(elements)) if elements.is_empty() => {
            wrong("a batch holds at least one request".to_owned())
        }
        Ok(Elements(elements)) => {
            Message::Batch(elements.into_iter().map(|element| request(element.get())).collect())
        }
        Err(_) => wrong(format!("a batch holds at most {MAX_BATCH} requests; send the rest in another")),
    }
}

fn request(text: &str) -> Result<Request<'_>, Refused<'_>> {
    let refused = |message: String| {
        let id =
            serde_json::from_str::<OnlyId<'_>>(text).ok().and_then(|only| only.id).filter(|id| is_id(id));
        Refused { fault: Fault::new(fault::REQUEST, message), id }
    };
    if !text.starts_with('{') {
        return Err(refused(
            "a request is an object: {\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": …}".to_owned(),
        ));
    }
    let envelope = serde_json::from_str::<Envelope<'_>>(text).map_err(|error| {
        let code = if error.classify() == Category::Data { fault::REQUEST } else { fault::PARSE };
        Refused { fault: Fault { code, ..Fault::unread(&error) }, ..refused(String::new()) }
    })?;
    if envelope.jsonrpc != "2.0" {
        return Err(refused("`jsonrpc` must be \"2.0\"".to_owned()));
    }
    if envelope.id.is_some_and(|id| !is_id(id)) {
        return Err(refused(format!("`id` must be a string or a number of at most {MAX_ID} bytes, or null")));
    }
    Ok(Request { method: envelope.method, parameters: envelope.params, id: envelope.id })
}

fn is_id(id: &RawValue) -> bool {
    let text = id.get();
    text.len() <= MAX_ID
        && (text == "null" || text.starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit()))
}

/// The elements of a batch, up to the limit.
struct Elements<'l>(Vec<&'l RawValue>);

impl<'de: 'l, 'l> Deserialize<'de> for Elements<'l> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bounded;
        impl<'de> Visitor<'de> for Bounded {
            type Value = Elements<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a batch")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Elements<'de>, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = sequence.next_element()? {
                    if elements.len() == MAX_BATCH {
                        return Err(de::Error::custom("too many"));
                    }
                    elements.push(element);
                }
                Ok(Elements(elements))
            }
        }
        deserializer.deserialize_seq(Bounded)
    }
}
