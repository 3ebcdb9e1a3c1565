//! Hooks that change requests and responses of inspected connections.

use std::fmt;
use std::time::Instant;

use hyper::body::Bytes;
use hyper::http;
use hyper::http::HeaderMap;

use super::super::super::target::NetTarget;

/// What a broker does to the requests and answers of a run beside judging them.
///
/// The heads come as they go on: a request names its path and `Host`, and what concerns one connection alone is gone.
pub(crate) trait Rewrite: fmt::Debug + Send + Sync {
    /// Whether a conversation has to be looked into for it.
    fn inspects(&self, target: &NetTarget, is_tls: bool) -> bool;

    /// Puts what belongs there into a request that was let through, or says why it is refused.
    fn request(
        &self,
        to: Conversation<'_>,
        head: &mut http::request::Parts,
    ) -> Result<BodyRewrite, RewriteRefusal>;

    /// Rewrites the head of a response, and returns how to rewrite its body.
    fn answer(
        &self,
        to: Conversation<'_>,
        head: &mut http::response::Parts,
    ) -> Result<BodyRewrite, RewriteRefusal>;
}

/// Until when a request holds by what was put into it: with that ends what it opened. It stands among the extensions of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LentUntil(pub(crate) Instant);

/// With whom a client talks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Conversation<'t> {
    /// The host and the port.
    pub(crate) target: &'t NetTarget,
    pub(crate) is_tls: bool,
    /// Whether the address that it leads to is of this machine itself, whatever its name says.
    pub(crate) is_loopback: bool,
}

/// What becomes of a body.
pub(crate) enum BodyRewrite {
    /// It goes on as it came.
    Unchanged,
    /// It goes through this, piece by piece, and is sent without its length unless that stays.
    Pieces(Box<dyn BodyFilter>),
    /// All of it is read, up to so many bytes, before the head of the request goes. An answer cannot wait for that.
    Whole { most: usize, then: Box<WithWhole> },
}

/// What is done with a whole body: the head may still change.
pub(crate) type WithWhole =
    dyn FnOnce(&mut http::request::Parts, Bytes) -> Result<Bytes, RewriteRefusal> + Send;

/// What a body goes through.
pub(crate) trait BodyFilter: fmt::Debug + Send {
    /// Takes the next piece, and returns what may go on of it and of what was held back.
    fn piece(&mut self, bytes: Bytes) -> Result<Bytes, RewriteRefusal>;

    /// Whether the length of the body stays, or is not in its head any more.
    fn keeps_length(&self) -> bool;

    /// Returns what was held back to the end.
    fn end(&mut self) -> Result<Bytes, RewriteRefusal>;

    /// Looks at what comes behind the body.
    fn trailers(&mut self, trailers: &mut HeaderMap) -> Result<(), RewriteRefusal>;
}

/// Why a request or an answer does not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RewriteRefusal {
    pub(crate) rule: &'static str,
    pub(crate) reason: String,
    pub(crate) fix: Option<String>,
}
