//! Hooks that change requests and responses of inspected connections.

use std::fmt;
use std::time::Instant;

use hyper::body::Bytes;
use hyper::http;
use hyper::http::HeaderMap;

use super::super::super::target::NetTarget;

/// Rewriting of a run's requests and responses.
///
/// Heads are passed in their final form: with a path and `Host`, and without headers of the connection.
pub(crate) trait Rewrite: fmt::Debug + Send + Sync {
    /// Whether a connection must be inspected for it.
    fn inspects(&self, target: &NetTarget, is_tls: bool) -> bool;

    /// Rewrites an allowed request, or returns why it is refused.
    fn request(
        &self,
        to: Conversation<'_>,
        head: &mut http::request::Parts,
    ) -> Result<BodyRewrite, RewriteRefusal>;

    /// Returns the filter for what a command sends in a websocket that it opened with a request of this path.
    fn websocket(
        &self,
        to: Conversation<'_>,
        path: &str,
    ) -> Result<Option<Box<dyn BodyFilter>>, RewriteRefusal> {
        let _ = (to, path);
        Ok(None)
    }

    /// Rewrites the head of a response, and returns how to rewrite its body.
    fn answer(
        &self,
        to: Conversation<'_>,
        head: &mut http::response::Parts,
    ) -> Result<BodyRewrite, RewriteRefusal>;
}

/// The end of a request's secrets, which also ends connections that it opened. It is stored in the extensions of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LentUntil(pub(crate) Instant);

/// The names of the secrets in a request, for its record. It is stored in the extensions of a head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inserted(pub(crate) Vec<String>);

/// The target of a client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Conversation<'t> {
    /// The host and port.
    pub(crate) target: &'t NetTarget,
    pub(crate) is_tls: bool,
    /// Whether the resolved address belongs to this machine, regardless of the name.
    pub(crate) is_loopback: bool,
}

/// How a body is rewritten.
pub(crate) enum BodyRewrite {
    /// It is passed unchanged.
    Unchanged,
    /// It is filtered in pieces, and sent without a length unless the filter keeps it.
    Pieces(Box<dyn BodyFilter>),
    /// It is read completely, up to a limit, before the head is sent. Only for requests, because a response may not end.
    Whole { most: usize, then: Box<WithWhole> },
}

/// The rewriting of a whole body, which may still change the head.
pub(crate) type WithWhole =
    dyn FnOnce(&mut http::request::Parts, Bytes) -> Result<Bytes, RewriteRefusal> + Send;

/// A filter for a streamed body.
pub(crate) trait BodyFilter: fmt::Debug + Send {
    /// Filters the next piece, and returns the bytes that may be sent, including delayed ones.
    fn piece(&mut self, bytes: Bytes) -> Result<Bytes, RewriteRefusal>;

    /// Whether the length of the body stays the same, so that the head keeps it.
    fn keeps_length(&self) -> bool;

    /// Returns the delayed bytes at the end.
    fn end(&mut self) -> Result<Bytes, RewriteRefusal>;

    /// Checks the trailers of the body.
    fn trailers(&mut self, trailers: &mut HeaderMap) -> Result<(), RewriteRefusal>;
}

/// Filters a whole body.
pub(super) fn filtered(body: Bytes, mut filter: Box<dyn BodyFilter>) -> Result<Bytes, RewriteRefusal> {
    let (first, rest) = (filter.piece(body)?, filter.end()?);
    Ok(if rest.is_empty() { first } else { [first, rest].concat().into() })
}

/// Why a request or response is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RewriteRefusal {
    pub(crate) rule: &'static str,
    pub(crate) reason: String,
    pub(crate) fix: Option<String>,
}
