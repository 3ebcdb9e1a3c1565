//! Why something did not happen, and what would change that.

use std::time::Duration;

/// Why something did not happen. No message has the key or a token in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum E2bError {
    /// There is no key, or what is given cannot be one.
    #[error("there is no key for E2B that could be one: {0}")]
    Key(&'static str),
    /// A key may not be sent to the address of the server.
    #[error("a key is not sent to {0}: it is neither https nor this machine")]
    Address(String),
    /// The server does not know the key, or the token.
    #[error("E2B does not accept the key")]
    Unauthorised,
    /// The sandbox, template, file or process does not exist.
    #[error("E2B does not have it: {0}")]
    NotFound(String),
    /// What was asked for is wrong.
    #[error("E2B refused it: {0}")]
    Refused(String),
    /// The account may not have more, or not as often; the server was asked again as often as was agreed on.
    #[error("E2B is asked too often, or the account has as many sandboxes as it may")]
    TooMany,
    /// There is no more room in the sandbox.
    #[error("there is no more room in the sandbox")]
    NoRoom,
    /// The sandbox is gone: its time was up, or it was ended.
    #[error("the sandbox is gone: its time was up, or it was ended")]
    Gone,
    /// The server did not answer, or broke off.
    #[error("E2B did not answer: {0}")]
    Away(String),
    /// The server answered, and not as it is documented.
    #[error("E2B answered otherwise than it says it does: {0}")]
    Unexpected(String),
    /// There was more than was wanted.
    #[error("there are more than {0} bytes")]
    TooLong(u64),
    /// It took too long.
    #[error("it took longer than {} seconds", .0.as_secs())]
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
            Self::Key(_) => "set E2B_API_KEY to a key of your account, `e2b_` and 40 digits and letters",
            Self::Address(_) => "name a server by https, or one on this machine",
            Self::Unauthorised => "look whether the key is the one of your account, and was not withdrawn",
            Self::NotFound(_) => "look at the name: `e2b template list` shows the templates of an account",
            Self::Refused(_) => "change what the message names",
            Self::TooMany => "end sandboxes that are not needed, or try again later",
            Self::NoRoom => "remove files in the sandbox, or choose a template with a larger disk",
            Self::Gone => "make a new sandbox, with more time if that was too short",
            Self::Away(_) => "look whether this machine reaches the network, and https://status.e2b.dev",
            Self::Unexpected(_) => "look whether there is a newer version of this program",
            Self::TooLong(_) => "ask for less, or raise the limit",
            Self::TimedOut(_) => "give it more time",
            Self::Plain(_) => "name it in full and in plain characters",
        }
    }
}
