//! JSON-RPC 2.0 messages of the server: results and errors.

use serde::Serialize;
use serde_json::value::RawValue;

use super::fault::Fault;
use stockade_text::to_printable_json;

/// A result, serialized as JSON.
#[derive(Debug)]
pub(super) struct Json(String);

impl Json {
    pub(super) fn of(value: &impl Serialize) -> Self {
        Self(to_printable_json(value))
    }

    /// Accepts a JSON document. Its line ends are only between tokens.
    pub(super) fn document(text: &str) -> Self {
        Self(text.replace('\n', ""))
    }
}

/// Returns a notification to the client.
pub(super) fn notification(method: &str, parameters: &impl Serialize) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{}}}", to_printable_json(parameters))
}

/// Returns the response to a request. Its ID is `null` if the request could not be parsed.
pub(super) fn response(id: Option<&RawValue>, answer: &Result<Json, Fault>) -> String {
    // Strings are escaped by our own writer, so that the response contains no terminal escape sequences; numbers are copied.
    let id = match id.map(RawValue::get) {
        Some(text) if text.starts_with('"') => serde_json::from_str::<String>(text)
            .map_or_else(|_| "null".to_owned(), |id| to_printable_json(&id)),
        Some(text) => text.to_owned(),
        None => "null".to_owned(),
    };
    match answer {
        Ok(Json(result)) => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}"),
        Err(fault) => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{}}}", to_printable_json(fault)),
    }
}
