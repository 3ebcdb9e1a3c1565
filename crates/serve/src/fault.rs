//! Errors of requests.

use serde::Serialize;
use serde_json::Value;

use stockade_text::nearest;

use stockade_text::with_causes;

/// The error code for a line that is not JSON.
pub(super) const PARSE: i32 = -32700;
/// The error code for JSON that is not a request.
pub(super) const REQUEST: i32 = -32600;
/// The error code for an unknown method.
pub(super) const METHOD: i32 = -32601;
/// The error code for invalid parameters.
pub(super) const PARAMETERS: i32 = -32602;
/// The error code for a failure that the request did not cause.
pub(super) const INTERNAL: i32 = -32603;
/// The error code for too many connections or sessions.
pub(super) const BUSY: i32 = -32000;
/// The error code for a refusal by the policy; `data` has the verdict.
pub(super) const REFUSED: i32 = -32001;
/// The error code for an exhausted limit.
pub(super) const EXHAUSTED: i32 = -32002;
/// The error code for a request that no sandbox can enforce.
pub(super) const NO_SANDBOX: i32 = -32003;

/// The error code for a timeout.
pub(super) const TIMED_OUT: i32 = -32004;

/// The error code for a request that was cancelled before it started.
pub(super) const CANCELLED: i32 = -32005;

/// The error code for a store of limits that cannot be asked. Nothing is exhausted, and it is worth asking again.
pub(super) const STORE_AWAY: i32 = -32006;

/// The error codes, with their names in clients and meanings.
pub(super) const CODES: &[(i32, &str, &str)] = &[
    (PARSE, "UnreadableLine", "the line is not JSON"),
    (
        REQUEST,
        "InvalidRequest",
        "invalid request: a member is missing or unknown, a batch is empty or too long, or a line is too long",
    ),
    (METHOD, "UnknownMethod", "unknown method"),
    (
        PARAMETERS,
        "InvalidParameters",
        "a parameter is missing, unknown or invalid; the message suggests the nearest name",
    ),
    (INTERNAL, "InternalError", "a failure that the request did not cause"),
    (BUSY, "ServerBusy", "too many connections or sessions are open"),
    (REFUSED, "RefusedByPolicy", "refused by policy; `data` has the verdict"),
    (EXHAUSTED, "LimitExhausted", "a limit is exhausted; `data` names it"),
    (NO_SANDBOX, "SandboxUnavailable", "no sandbox can enforce the request; `data` has the fix"),
    (TIMED_OUT, "EvaluationTimedOut", "the evaluation timed out, or awaits a promise that never settles"),
    (CANCELLED, "CommandCancelled", "the command was cancelled before it started, and nothing ran"),
    (
        STORE_AWAY,
        "LimitStoreUnavailable",
        "the store of limits cannot be asked, so nothing is allowed; try again later; `data` has the fix",
    ),
];

/// The `error` of a response.
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

    /// Returns the fault for an invalid parameter.
    pub(super) fn parameters(message: impl Into<String>) -> Self {
        Self::new(PARAMETERS, message)
    }

    /// Returns the fault for a failure that the request did not cause.
    pub(super) fn internal(error: &dyn std::error::Error) -> Self {
        Self::new(INTERNAL, with_causes(error))
    }

    /// Returns the fault for parameters that a layer refused.
    pub(super) fn of(error: &dyn std::error::Error) -> Self {
        Self::parameters(with_causes(error))
    }

    /// Converts an error of the shared implementation of commands.
    pub(super) fn failed(failure: &impl std::fmt::Display) -> Self {
        Self::new(INTERNAL, failure.to_string())
    }

    pub(super) fn with(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }

    /// Returns the fault for parameters that cannot be parsed. For an unknown name, it suggests the nearest known one.
    pub(super) fn unread(error: &serde_json::Error) -> Self {
        let text = error.to_string();
        // The position in the line is removed, because it does not help the author of the client.
        let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
        Self::parameters(match meant(text) {
            Some(name) => format!("{text}; did you mean `{name}`?"),
            None => text.to_owned(),
        })
    }

    /// Returns the fault for an unknown name; `known` are the valid ones.
    pub(super) fn unknown<'k>(what: &str, name: &str, known: impl Iterator<Item = &'k str>) -> Self {
        let hint = nearest(name, known).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        Self::parameters(format!("there is no {what} `{name}`{hint}"))
    }
}

/// Returns the known name nearest to an unknown one, from serde's message: "unknown field `x`, expected one of `a`, `b`".
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
