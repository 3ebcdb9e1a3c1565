//! Results of matching conditions against requests.

use super::operations::Unread;

/// Whether a request meets conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    Yes,
    No,
    /// It depends on the body, which was not read yet.
    Later,
    /// This part of the request is ambiguous.
    Ambiguous(Part),
}

/// The rule that refuses bodies of requests that only read.
pub(super) const BODY_ON_READ: &str = "body-on-read";

/// A part of a request by which a server may handle it as another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Path,
    Query,
    /// A header or query name that names another method or path.
    Override,
    /// The body of a request that only reads.
    Body,
    /// The upgrade to a websocket, which carries anything in both directions.
    Upgrade,
    /// The operations in the body.
    Operations(Unread),
}

impl Part {
    /// Returns the rule of a refusal, and its reason with what to do.
    pub(super) const fn refusal(self) -> (&'static str, &'static str) {
        match self {
            Self::Path => ("ambiguous-path", "its path is ambiguous, and an entry has conditions on paths"),
            Self::Query => {
                ("ambiguous-query", "its query names are ambiguous, and an entry has conditions on them")
            }
            Self::Override => (
                "overridden-request",
                "a header or `_method` in its query names another method or path, and an entry has conditions on them; remove it, or \
                 allow the host without conditions",
            ),
            Self::Body => (
                BODY_ON_READ,
                "a request that only reads has a body; send it without one, or add a limit such as `upload=64K` to the entry",
            ),
            Self::Operations(why) => ("unread-operations", why.words()),
            Self::Upgrade => (
                "websocket",
                "a websocket carries anything, and the entry has conditions on requests; add `websocket` to the entry",
            ),
        }
    }
}
