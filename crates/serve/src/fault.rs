//! Why a request has no result.

use serde::Serialize;
use serde_json::Value;

use stockade_text::nearest;

use stockade_text::with_causes;

/// A line that is no JSON.
pub(super) const PARSE: i32 = -32700;
/// JSON that is no request.
pub(super) const REQUEST: i32 = -32600;
/// The error code for an unknown method.
pub(super) const METHOD: i32 = -32601;
/// The parameters are wrong.
pub(super) const PARAMETERS: i32 = -32602;
/// The answer could not be found out, through no fault of the request.
pub(super) const INTERNAL: i32 = -32603;
/// Too many connections or sessions.
pub(super) const BUSY: i32 = -32000;
/// The policy refuses; `data` has the verdict.
pub(super) const REFUSED: i32 = -32001;
/// A limit is exhausted.
pub(super) const EXHAUSTED: i32 = -32002;
/// There is no sandbox that could do it.
pub(super) const NO_SANDBOX: i32 = -32003;

/// It took too long.
pub(super) const TIMED_OUT: i32 = -32004;

/// It was cancelled before it began.
pub(super) const CANCELLED: i32 = -32005;

/// The codes, what clients call them, and what they mean.
pub(super) const CODES: &[(i32, &str, &str)] = &[
    (PARSE, "UnreadableLine", "the line is no JSON"),
    (
        REQUEST,
        "InvalidRequest",
        "it is no request: a member is missing or unknown, a batch is empty or too long, or a line is too long",
    ),
    (METHOD, "UnknownMethod", "unknown method"),
    (
        PARAMETERS,
        "InvalidParameters",
        "a parameter is missing, unknown or wrong; the message has the nearest name",
    ),
    (INTERNAL, "InternalError", "the answer could not be found out, through no fault of the request"),
    (BUSY, "ServerBusy", "too many connections or sessions are open"),
    (REFUSED, "RefusedByPolicy", "refused by policy; `data` has the verdict"),
    (EXHAUSTED, "LimitExhausted", "a limit is exhausted; `data` names it"),
    (NO_SANDBOX, "SandboxUnavailable", "no sandbox can do it; `data` has the fix"),
    (TIMED_OUT, "EvaluationTimedOut", "the evaluation took too long, or waits for what never comes"),
    (CANCELLED, "CommandCancelled", "the command was cancelled before it began, and nothing ran"),
];

/// Why a request has no result: the `error` of a response.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Fault {
    pub(super) code: i32,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) data: Option<Value>,
}

impl Fault {
    pub(super) fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// A parameter is wrong.
    pub(super) fn parameters(message: impl Into<String>) -> Self {
        Self::new(PARAMETERS, message)
    }

    /// Something failed that is not the fault of the request.
    pub(super) fn internal(error: &dyn std::error::Error) -> Self {
        Self::new(INTERNAL, with_causes(error))
    }

    /// The parameters are wrong, in a way that an error of a layer tells.
    pub(super) fn of(error: &dyn std::error::Error) -> Self {
        Self::parameters(with_causes(error))
    }

    /// What a command of this program would have said, and ended.
    pub(super) fn failed(failure: &impl std::fmt::Display) -> Self {
        Self::new(INTERNAL, failure.to_string())
    }

    pub(super) fn with(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }

    /// The parameters cannot be read. A name that is not known gets the nearest one that is.
    pub(super) fn unread(error: &serde_json::Error) -> Self {
        let text = error.to_string();
        // The position in the line does not help the author of a program that wrote the line.
        let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
        Self::parameters(match meant(text) {
            Some(name) => format!("{text}; did you mean `{name}`?"),
            None => text.to_owned(),
        })
    }

    /// There is nothing of this name; `known` is what there is.
    pub(super) fn unknown<'k>(what: &str, name: &str, known: impl Iterator<Item = &'k str>) -> Self {
        let hint = nearest(name, known).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        Self::parameters(format!("there is no {what} `{name}`{hint}"))
    }
}

/// The known name nearest to an unknown one, from what serde says: "unknown field `x`, expected one of `a`, `b`".
fn meant(text: &str) -> Option<&str> {
    let named = ["unknown field `", "unknown variant `"].iter().find_map(|start| text.strip_prefix(start))?;
    let (name, expected) = named.split_once("`, expected ")?;
    nearest(name, expected.split('`').skip(1).step_by(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_told() {
        for (text, expected) in [
            ("unknown field `txt`, expected one of `text`, `path`", Some("text")),
            ("unknown field `pats`, expected `path`", Some("path")),
            ("unknown variant `bsh`, expected one of `bash`, `sh`, `zsh`", Some("bash")),
            ("unknown field `x`, there are no fields", None),
            ("unknown field `rather far away`, expected one of `text`, `path`", None),
            ("invalid type: null, expected a string", None),
        ] {
            assert_eq!(meant(text), expected, "{text}");
        }
    }
}
