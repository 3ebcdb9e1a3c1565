//! The headers that the proxy does not pass unchanged.
//!
//! Removing or changing a header can change the meaning of a request without either side noticing. So each such header is in this
//! table, with the reason why the meaning stays; all others pass byte for byte. `HEADERS.md` shows the same table.

/// The treatment of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderFate {
    /// Removed, because it concerns only the client's connection (RFC 9110, section 7.6.1).
    OfConnection,
    /// Rewritten with the same meaning.
    Rewritten,
    /// Removed, and listed in [`WITHHELD`] of the response.
    Withheld,
    /// The message is refused, unless the header has no effect.
    Judged,
}

/// The messages in which a treatment applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderOf {
    /// Requests of clients to a host.
    Request,
    /// Responses of hosts to a client.
    Answer,
}

/// The hosts for which a treatment applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderAt {
    /// All hosts with visible requests: plain HTTP, and inspected TLS.
    AnyHost,
    /// Hosts of an entry with a method or a path.
    RuledHost,
    /// Hosts that receive a secret. If secrets only sign requests (`in sigv4`), all headers pass except `Set-Cookie`.
    SecretHost,
}

/// A header that is not passed unchanged.
#[derive(Debug, Clone, Copy)]
pub struct HeaderRow {
    /// Its name, in lower case.
    pub name: &'static str,
    /// The messages.
    pub of: HeaderOf,
    /// The hosts.
    pub at: HeaderAt,
    /// The treatment.
    pub fate: HeaderFate,
    /// Why the meaning stays the same.
    pub why: &'static str,
}

/// The response header that lists removed headers.
pub const WITHHELD: &str = "x-stockade-withheld";

use HeaderAt::{AnyHost, RuledHost, SecretHost};
use HeaderFate::{Judged, OfConnection, Rewritten, Withheld};
use HeaderOf::{Answer, Request};

const fn row(
    name: &'static str,
    of: HeaderOf,
    at: HeaderAt,
    fate: HeaderFate,
    why: &'static str,
) -> HeaderRow {
    HeaderRow { name, of, at, fate, why }
}

/// Why headers that name another method or path are refused.
const METHOD: &str = "refused (`overridden-request`): servers handle the request by the method that it names";
const PATH: &str = "refused (`overridden-request`): servers handle the request by the path that it names";

/// The headers that are not passed unchanged. All others are.
#[rustfmt::skip]
pub const HEADER_TABLE: &[HeaderRow] = &[
    row("connection", Request, AnyHost, OfConnection, "properties of the client's connection; a request to a proxy can name further headers in it"),
    row("keep-alive", Request, AnyHost, OfConnection, "says how long the client's connection stays"),
    row("proxy-connection", Request, AnyHost, OfConnection, "as `Connection`, to a proxy"),
    row("proxy-authorization", Request, AnyHost, OfConnection, "is for a proxy, and no host may see it"),
    row("proxy-authenticate", Request, AnyHost, OfConnection, "is for a proxy"),
    row("http2-settings", Request, AnyHost, OfConnection, "belongs to `Upgrade: h2c`, which is optional"),
    row("upgrade", Request, AnyHost, Judged, "`websocket` passes; `h2c` and `TLS` are left out, since a host may ignore them; any other is refused (`other-protocol`)"),
    row("expect", Request, AnyHost, Judged, "`100-continue` is answered by the proxy, or passes; any other is refused (`bad-request`)"),
    row("te", Request, AnyHost, Rewritten, "`trailers` stays where trailers can be passed on; codings of the client's connection are left out"),
    row("transfer-encoding", Request, AnyHost, Rewritten, "`chunked` ends at each connection; any other is refused (`bad-request`)"),
    row("content-length", Request, AnyHost, Rewritten, "counts the body that is sent, with the secret in it"),
    row("host", Request, AnyHost, Rewritten, "names the host that the request was allowed for; another name is refused (`other-host`)"),
    row("connection", Answer, AnyHost, OfConnection, "properties of the host's connection"),
    row("keep-alive", Answer, AnyHost, OfConnection, "says how long the host's connection stays"),
    row("proxy-connection", Answer, AnyHost, OfConnection, "as `Connection`, of a proxy"),
    row("proxy-authorization", Answer, AnyHost, OfConnection, "is for a proxy"),
    row("proxy-authenticate", Answer, AnyHost, OfConnection, "asks for a login at a proxy, and the host is not one"),
    row("http2-settings", Answer, AnyHost, OfConnection, "belongs to `Upgrade: h2c`, which was left out"),
    row("expect", Answer, AnyHost, OfConnection, "means nothing in an answer"),
    row("upgrade", Answer, AnyHost, OfConnection, "`websocket` passes in a 101; an offer of another protocol is optional and left out"),
    row("transfer-encoding", Answer, AnyHost, Rewritten, "`chunked` ends at each connection; any other is refused (`unreadable-answer`)"),
    row("content-length", Answer, AnyHost, Rewritten, "left out where a decoded body has another length"),
    row("x-http-method-override", Request, RuledHost, Judged, METHOD),
    row("x-http-method", Request, RuledHost, Judged, METHOD),
    row("x-method-override", Request, RuledHost, Judged, METHOD),
    row("x-original-method", Request, RuledHost, Judged, METHOD),
    row("x-forwarded-method", Request, RuledHost, Judged, METHOD),
    row("x-original-url", Request, RuledHost, Judged, PATH),
    row("x-original-uri", Request, RuledHost, Judged, PATH),
    row("x-original-path", Request, RuledHost, Judged, PATH),
    row("x-rewrite-url", Request, RuledHost, Judged, PATH),
    row("x-override-url", Request, RuledHost, Judged, PATH),
    row("x-forwarded-uri", Request, RuledHost, Judged, PATH),
    row("x-envoy-original-path", Request, RuledHost, Judged, PATH),
    row("accept-encoding", Request, SecretHost, Rewritten, "`identity`: no client has to be answered in a coding"),
    row("grpc-accept-encoding", Request, SecretHost, Rewritten, "left out: a server then answers in messages that are not compressed"),
    row("connect-accept-encoding", Request, SecretHost, Rewritten, "as `grpc-accept-encoding`"),
    row("sec-websocket-extensions", Request, SecretHost, Rewritten, "left out: extensions are offered, and no host has to take them"),
    row("range", Request, SecretHost, Judged, "one range passes, and the part that comes is scrubbed; several, or any where a secret is short, are refused (`secret-unreadable`)"),
    row("request-range", Request, SecretHost, Judged, "as `Range`"),
    row("x-ms-range", Request, SecretHost, Judged, "as `Range`"),
    row("content-encoding", Answer, SecretHost, Rewritten, "`gzip` and `deflate` are decoded; any other is refused (`secret-unreadable`)"),
    row("grpc-encoding", Answer, SecretHost, Judged, "any but `identity` is refused (`secret-unreadable`)"),
    row("connect-content-encoding", Answer, SecretHost, Judged, "any but `identity` is refused (`secret-unreadable`)"),
    row("sec-websocket-extensions", Answer, SecretHost, Judged, "refused (`secret-unreadable`): none was offered"),
    row("set-cookie", Answer, SecretHost, Withheld, "would be another credential; the answer says `x-stockade-withheld: cookies`"),
];

/// Returns the names of the headers with this treatment.
pub(super) fn headers_of(of: HeaderOf, at: HeaderAt, fate: HeaderFate) -> impl Iterator<Item = &'static str> {
    HEADER_TABLE
        .iter()
        .filter(move |row| row.of == of && row.at == at && row.fate == fate)
        .map(|row| row.name)
}

/// Returns whether a header names another method or path than the request does.
pub(super) fn overrides_request(name: &str) -> bool {
    headers_of(Request, RuledHost, Judged).any(|row| row.eq_ignore_ascii_case(name))
}

/// Returns whether a header is always removed, regardless of its value.
pub(super) fn is_of_connection(name: &str) -> bool {
    let is_named = |row: &&HeaderRow| {
        row.at == AnyHost && row.fate == OfConnection && name.eq_ignore_ascii_case(row.name)
    };
    HEADER_TABLE.iter().any(|row| is_named(&row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_shows_each_row() {
        let page = include_str!("../HEADERS.md");
        for row in HEADER_TABLE {
            let of = if row.of == Request { "request" } else { "answer" };
            let line = format!("| `{}` | {of} | {} |", row.name, row.why);
            assert!(page.contains(&line), "HEADERS.md lacks\n{line}");
        }
    }
}
