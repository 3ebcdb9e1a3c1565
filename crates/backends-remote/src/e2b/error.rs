//! Why something did not happen, and what would change that.

use std::time::Duration;

/// Why something did not happen. No message has the key or a token in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum E2bError {
    /// There is no key, or what is given cannot be one.
    #[error("invalid API key for E2B: {0}")]
    Key(&'static str),
    /// A key may not be sent to the address of the server.
    #[error("the API key is not sent to {0}: the URL is neither https nor on this machine")]
    Address(String),
    /// The server does not know the key, or the token.
    #[error("E2B rejected the API key")]
    Unauthorised,
    /// The sandbox, template, file or process does not exist.
    #[error("not found at E2B: {0}")]
    NotFound(String),
    /// What was asked for is wrong.
    #[error("E2B refused the request: {0}")]
    Refused(String),
    /// The account may not have more, or not as often; the server was asked again as often as was agreed on.
    #[error("rate limit of E2B, or the account has reached its limit of sandboxes")]
    TooMany,
    /// There is no more room in the sandbox.
    #[error("the disk of the sandbox is full")]
    NoRoom,
    /// The sandbox is gone: its time was up, or it was ended.
    #[error("the sandbox no longer exists: it reached its timeout, or was deleted")]
    Gone,
    /// The server did not answer, or broke off.
    #[error("no response from E2B: {0}")]
    Away(String),
    /// The server answered, and not as it is documented.
    #[error("unexpected response from E2B: {0}")]
    Unexpected(String),
    /// There was more than was wanted.
    #[error("more than {0} bytes")]
    TooLong(u64),
    /// It took too long.
    #[error("timeout after {} seconds", .0.as_secs())]
    TimedOut(Duration),
    /// A path, program or package cannot be handed over.
    #[error("{0}")]
    Plain(&'static str),
}

impl E2bError {
    /// Returns the narrowest change that would help.
    #[must_use]
    pub const fn fix(&self) -> &'static str {
        match self {
            Self::Key(_) => "set E2B_API_KEY to a key of your account: `e2b_` and 40 letters and digits",
            Self::Address(_) => "use an https URL, or a server on this machine",
            Self::Unauthorised => "check that the key belongs to your account and was not revoked",
            Self::NotFound(_) => "check the name: `e2b template list` lists the templates of the account",
            Self::Refused(_) => "change the request as the message describes",
            Self::TooMany => "delete unused sandboxes, or try again later",
            Self::NoRoom => "delete files in the sandbox, or use a template with a larger disk",
            Self::Gone => "create a new sandbox, if necessary with a longer timeout",
            Self::Away(_) => "check the network of this machine, and https://status.e2b.dev",
            Self::Unexpected(_) => "update this program",
            Self::TooLong(_) => "request less, or raise the limit",
            Self::TimedOut(_) => "raise the time limit",
            Self::Plain(_) => "use an absolute path without special characters",
        }
    }
}
