//! Parser of requests to a proxy that accepts only unambiguous ones.
//!
//! Nothing is corrected: an ambiguous head is refused. The forwarded head is written again, with one request per connection, so
//! that no second request can be smuggled behind the first.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv6Addr};

use super::header_table::is_of_connection;
use super::target::{Host, NetTarget};

/// Maximum length of the head of a request.
pub const MAX_HEAD: usize = 32 << 10;

/// Headers that are written again where needed, besides those of the connection in [`header_table`](super::header_table).
const WRITTEN_ANEW: &[&str] = &["te", "upgrade", "host", "content-length", "transfer-encoding"];

// Java's HttpClient and `curl --http2` offer h2c, so refusing the offer would break them. RFC 9110 lets a server ignore
// it.
/// Protocol upgrades that a client offers and a host may ignore.
const OPTIONAL: &[&str] = &["h2c", "tls", "http"];

/// A request to a proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProxyRequest {
    /// A tunnel to a target, whose content is not parsed (`CONNECT`).
    Tunnel(NetTarget),
    /// A plain HTTP request with an absolute URL.
    Plain {
        /// The target.
        target: NetTarget,
        /// The head to send.
        head: String,
        /// The body.
        body: RequestBody,
    },
    /// A request to upgrade to a websocket.
    Websocket {
        /// The target.
        target: NetTarget,
        /// The head to send.
        head: String,
    },
}

/// The framing of a request's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestBody {
    /// The bytes of `Content-Length`, or none.
    Length(u64),
    /// Chunks, with an empty one at the end.
    Chunked,
}

/// Why the head of a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadRequest {
    /// The status code of the response.
    pub status: u16,
    /// The rule: `bad-request`, `other-host`, or one of [`NetRefused::rule`](super::NetRefused::rule).
    pub rule: &'static str,
    /// The reason, in a sentence.
    pub reason: String,
    /// What the client could request instead.
    pub fix: Option<String>,
}

impl ProxyRequest {
    /// Returns the target.
    #[must_use]
    pub const fn target(&self) -> &NetTarget {
        match self {
            Self::Tunnel(target) | Self::Plain { target, .. } | Self::Websocket { target, .. } => target,
        }
    }

    /// Returns the method of a plain request, and its path with the query.
    #[must_use]
    pub fn asked(&self) -> Option<(&str, &str)> {
        let (Self::Plain { head, .. } | Self::Websocket { head, .. }) = self else { return None };
        let mut words = head.split(' ');
        Some((words.next()?, words.next()?))
    }

    /// Returns whether a header of a plain request names another method or path.
    #[must_use]
    pub fn is_overridden(&self) -> bool {
        let (Self::Plain { head, .. } | Self::Websocket { head, .. }) = self else { return false };
        let names = head.lines().skip(1).filter_map(|line| Some(line.split_once(':')?.0));
        names.into_iter().any(super::header_table::overrides_request)
    }

    /// Parses a head, including the empty line.
    ///
    /// # Errors
    /// When it is ambiguous, or names no reachable host.
    pub fn read(head: &[u8]) -> Result<Self, BadRequest> {
        Self::read_for(head, None)
    }

    /// Parses a head that was sent to a host instead of a proxy, with a path and a `Host` header.
    ///
    /// # Errors
    /// When it is ambiguous, or names another host.
    pub fn read_at(target: &NetTarget, head: &[u8]) -> Result<Self, BadRequest> {
        Self::read_for(head, Some(target))
    }

    fn read_for(head: &[u8], sent_to: Option<&NetTarget>) -> Result<Self, BadRequest> {
        let text = std::str::from_utf8(head).map_err(|_| bad("it is not valid UTF-8"))?;
        // A NUL ends a line for some C programs, and a vertical tab separates words for some parsers (RFC 9112,
        // section 3).
        if text.bytes().any(|byte| byte.is_ascii_control() && !b"\r\n\t".contains(&byte)) {
            return Err(bad("it contains a control character"));
        }
        // Lines that end in a bare LF are valid for some servers and part of a header for others, so only CRLF is
        // accepted.
        let text = text.strip_suffix("\r\n\r\n").ok_or_else(|| bad("it does not end in an empty line"))?;
        let mut lines = text.split("\r\n");
        let first = lines.next().unwrap_or_default();
        // A line that starts with a blank (obs-fold) has no token before its colon, and so is refused: parsers
        // disagree about folding.
        let headers = lines.map(header).collect::<Result<Vec<_>, _>>()?;
        if text.replace("\r\n", "").contains(['\r', '\n']) {
            return Err(bad("it contains a bare CR or LF"));
        }
        let mut words = first.split(' ');
        // Split at every single space: `GET  /x` and `GET /x HTTP/1.1 HTTP/1.1` have several readings.
        let (Some(method), Some(wanted), Some(version @ ("HTTP/1.1" | "HTTP/1.0")), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(bad("its first line is not HTTP/1"));
        };
        if !is_token(method) || wanted.is_empty() || !wanted.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(bad("its first line is not HTTP/1"));
        }
        let headers = Headers(headers);
        let first = FirstLine { method, version };
        match (method, sent_to) {
            ("CONNECT", None) => tunnel(wanted, &headers),
            // Through a tunnel, a second `CONNECT` would ask the host to be a proxy to any destination.
            ("CONNECT", Some(_)) => Err(bad("CONNECT is for proxies, and this host is not one")),
            (_, None) => plain(&first, wanted, &headers),
            (_, Some(target)) => at_host(&first, target, wanted, &headers),
        }
    }
}

/// The peer that a client addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reached {
    Proxy,
    Host,
}

/// Checks that a host may ignore an offered upgrade to these protocols: `h2c`, `TLS/1.0`.
///
/// # Errors
/// When it may not.
pub(super) fn are_optional(protocols: &str) -> Result<(), BadRequest> {
    let is_optional = |protocol: &&str| {
        let name = protocol.split('/').next().unwrap_or_default().trim();
        OPTIONAL.iter().any(|one| name.eq_ignore_ascii_case(one))
    };
    let Some(other) = protocols.split(',').find(|protocol| !is_optional(protocol)) else { return Ok(()) };
    let reason =
        format!("it requests an upgrade to `{}`, which is not supported", other.trim().escape_debug());
    let fix =
        Some("list the host as `HOST:PORT/tcp`, which allows any protocol and inspects nothing".to_owned());
    Err(BadRequest { status: 501, rule: "other-protocol", reason, fix })
}

/// The parts of a request line before and after its target.
struct FirstLine<'h> {
    method: &'h str,
    version: &'h str,
}

/// Names and values, as received.
struct Headers<'h>(Vec<(&'h str, &'h str)>);

impl<'h> Headers<'h> {
    /// Returns the value of a header that may occur once.
    fn one(&self, name: &str) -> Result<Option<&'h str>, BadRequest> {
        let mut values = self.0.iter().filter(|row| row.0.eq_ignore_ascii_case(name)).map(|row| row.1);
        // The first or the last of two headers counts, depending on the server. Even two equal ones are refused.
        match (values.next(), values.next()) {
            (value, None) => Ok(value),
            _ => Err(bad(&format!("it has two `{name}` headers"))),
        }
    }

    /// Returns the words in all headers with a name.
    fn words(&self, name: &str) -> impl Iterator<Item = &'h str> {
        let values = self.0.iter().filter(move |row| row.0.eq_ignore_ascii_case(name));
        values.flat_map(|row| row.1.split(',')).map(str::trim)
    }

    fn has_word(&self, name: &str, wanted: &str) -> bool {
        self.words(name).any(|word| word.eq_ignore_ascii_case(wanted))
    }

    /// Whether a header is not passed to the host unchanged.
    fn is_not_passed_on(&self, name: &str, by: Reached) -> bool {
        // Headers that a client lists in `Connection` are for the proxy, if the client knows of one.
        let is_named = by == Reached::Proxy && self.has_word("connection", name);
        is_named || is_of_connection(name) || WRITTEN_ANEW.iter().any(|one| name.eq_ignore_ascii_case(one))
    }

    /// Whether the request asks for a websocket.
    ///
    /// # Errors
    /// When it asks for another protocol, which is not supported.
    fn asks_for_websocket(&self, first: &FirstLine<'_>) -> Result<bool, BadRequest> {
        let is_upgrade = first.method == "GET" && self.has_word("connection", "upgrade");
        let mut offered = self.words("upgrade");
        let is_one = |first: Option<&str>| first.is_some_and(|it| it.eq_ignore_ascii_case("websocket"));
        // With several protocols, the server chooses, and only a websocket can be relayed.
        if is_upgrade && is_one(offered.next()) && offered.next().is_none() {
            return Ok(true);
        }
        self.words("upgrade").try_for_each(are_optional)?;
        Ok(false)
    }
}

fn header(line: &str) -> Result<(&str, &str), BadRequest> {
    match line.split_once(':') {
        // `Content-Length : 5` is a header for some servers only (CVE-2019-16276), so a blank before the colon is
        // refused.
        Some((name, value)) if is_token(name) => Ok((name, value.trim_matches([' ', '\t']))),
        _ => Err(bad("it contains a line that is not a header")),
    }
}

fn tunnel(wanted: &str, headers: &Headers<'_>) -> Result<ProxyRequest, BadRequest> {
    if wanted.contains(['/', '@', '?', '#']) {
        return Err(bad("`CONNECT` needs a host and a port"));
    }
    // Bytes after the head belong to the tunnel. With a body, it would be unclear where the tunnel starts.
    if headers.one("content-length")?.is_some_and(|length| length != "0")
        || headers.one("transfer-encoding")?.is_some()
    {
        return Err(bad("`CONNECT` must not have a body"));
    }
    let target = target(wanted)?;
    // Ports are part of the host list, and a default port would differ between programs.
    if target.port.is_none() {
        return Err(bad("`CONNECT` needs a port"));
    }
    same_host(&target, headers)?;
    Ok(ProxyRequest::Tunnel(target))
}

/// Parses the target of a request that was sent to a host: only a path or `*` is valid.
fn at_host(
    first: &FirstLine<'_>,
    target: &NetTarget,
    wanted: &str,
    headers: &Headers<'_>,
) -> Result<ProxyRequest, BadRequest> {
    if wanted != "*" && (!wanted.starts_with('/') || wanted.contains('#')) {
        return Err(bad("send a path, not a whole URL"));
    }
    // Without `Host`, a server with several names uses its default one, which the list may not contain (RFC 9112,
    // section 3.2).
    if first.version == "HTTP/1.1" && headers.one("host")?.is_none() {
        return Err(bad("it has no `Host` header"));
    }
    same_host(target, headers)?;
    written_anew(first, (target, Reached::Host), wanted, headers)
}

fn plain(first: &FirstLine<'_>, wanted: &str, headers: &Headers<'_>) -> Result<ProxyRequest, BadRequest> {
    let rest = match wanted.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => rest,
        Some(_) => return Err(bad("without `CONNECT`, only `http://` URLs are supported")),
        None => return Err(bad("a proxy needs the whole URL")),
    };
    // `http://a?x@b` has the host `a`, and some parsers search the `@` first. So the authority ends at the first
    // delimiter.
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    if authority.contains('@') || path.contains('#') {
        return Err(bad("its URL contains a user or a fragment"));
    }
    let mut target = target(authority)?;
    target.port.get_or_insert(80);
    same_host(&target, headers)?;
    let slash = if path.starts_with('/') { "" } else { "/" };
    written_anew(first, (&target, Reached::Proxy), &format!("{slash}{path}"), headers)
}

fn written_anew(
    first: &FirstLine<'_>,
    (target, by): (&NetTarget, Reached),
    path: &str,
    headers: &Headers<'_>,
) -> Result<ProxyRequest, BadRequest> {
    let FirstLine { method, version } = first;
    let body = body(version, headers)?;
    let is_websocket = headers.asks_for_websocket(first)?;
    // The host that was checked is written, not the one that was received, so that both cannot differ.
    let mut head = format!("{method} {path} {version}\r\nHost: {}\r\n", host_header(target));
    for (name, value) in headers.0.iter().filter(|row| !headers.is_not_passed_on(row.0, by)) {
        // Writing to a string does not fail.
        write!(head, "{name}: {value}\r\n").ok();
    }
    if is_websocket {
        if !matches!(body, None | Some(RequestBody::Length(0))) {
            return Err(bad("it requests a WebSocket, and has a body"));
        }
        head.push_str("Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
        return Ok(ProxyRequest::Websocket { target: target.clone(), head });
    }
    match body {
        // Exactly one framing header, from the parsed value: two of them, or `+5`, are the classic request smuggling.
        Some(RequestBody::Length(length)) => write!(head, "Content-Length: {length}\r\n").ok(),
        Some(RequestBody::Chunked) => write!(head, "Transfer-Encoding: chunked\r\n").ok(),
        None => None,
    };
    head.push_str("Connection: close\r\n\r\n");
    Ok(ProxyRequest::Plain { target: target.clone(), head, body: body.unwrap_or(RequestBody::Length(0)) })
}

/// Returns the framing of the body.
fn body(version: &str, headers: &Headers<'_>) -> Result<Option<RequestBody>, BadRequest> {
    let length = length(headers)?;
    match headers.one("transfer-encoding")? {
        None => Ok(length.map(RequestBody::Length)),
        // Both headers together, or a list of codings, are framed differently by front and back ends (CL.TE and TE.CL
        // smuggling).
        Some(coding)
            if coding.eq_ignore_ascii_case("chunked") && length.is_none() && version == "HTTP/1.1" =>
        {
            Ok(Some(RequestBody::Chunked))
        }
        Some(_) => {
            let reason = "programs find the end of its body differently".to_owned();
            let fix = Some("send it with a `Content-Length`, or `chunked`".to_owned());
            Err(BadRequest { status: 411, rule: "bad-request", reason, fix })
        }
    }
}

fn length(headers: &Headers<'_>) -> Result<Option<u64>, BadRequest> {
    let Some(text) = headers.one("content-length")? else { return Ok(None) };
    // `parse` accepts a `+`, which servers reject or ignore.
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse().ok().filter(|_| digits) {
        Some(length) => Ok(Some(length)),
        None => Err(bad("its `Content-Length` is not a number")),
    }
}

/// A `Host` header with another name would reach that host if both share an address.
fn same_host(target: &NetTarget, headers: &Headers<'_>) -> Result<(), BadRequest> {
    let Some(named) = headers.one("host")? else { return Ok(()) };
    match names_target(named, target) {
        true => Ok(()),
        false => Err(BadRequest {
            status: 403,
            rule: "other-host",
            reason: format!("its URL is for `{target}`, and its `Host` is `{}`", named.escape_debug()),
            fix: Some("connect to that host directly".to_owned()),
        }),
    }
}

/// Whether the host in a request is the allowed target, in every interpretation by servers.
pub(super) fn names_target(named: &str, target: &NetTarget) -> bool {
    let is_same = |named: NetTarget| {
        let is_host = named.host == target.host || (is_loopback(&named.host) && is_loopback(&target.host));
        is_host && named.port.is_none_or(|port| target.port == Some(port))
    };
    // Without these, the parser would accept a URL or a user, and compare only its host.
    !named.contains(['/', '@', '?', '#']) && NetTarget::parse(named).is_ok_and(is_same)
}

/// Whether a host is the loopback, under one of its well-known names.
fn is_loopback(host: &Host) -> bool {
    match host {
        Host::Name(name) => name == "localhost",
        Host::Address(address) => {
            [IpAddr::from([127, 0, 0, 1]), Ipv6Addr::LOCALHOST.into()].contains(address)
        }
    }
}

fn target(text: &str) -> Result<NetTarget, BadRequest> {
    NetTarget::parse(text).map_err(|refused| {
        let reason = format!("`{}` names no host: {refused}", text.escape_debug());
        BadRequest { status: 403, rule: refused.rule, reason, fix: refused.fix }
    })
}

fn host_header(target: &NetTarget) -> String {
    match target.port {
        Some(80) => target.host.to_string(),
        _ => target.to_string(),
    }
}

/// The characters of methods and header names (RFC 9110).
fn is_token(text: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(known)
}

fn bad(why: &str) -> BadRequest {
    BadRequest { status: 400, rule: "bad-request", reason: why.to_owned(), fix: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(head: &str) -> Result<ProxyRequest, BadRequest> {
        ProxyRequest::read(head.replace('\n', "\r\n").as_bytes())
    }

    #[test]
    fn targets_are_found() {
        for (head, expected) in [
            ("CONNECT a.test:443 HTTP/1.1\nHost: a.test:443\n\n", "a.test:443"),
            ("CONNECT A.Test:443 HTTP/1.0\n\n", "a.test:443"),
            ("CONNECT [2606:4700::1]:443 HTTP/1.1\nHost: [2606:4700::1]\n\n", "[2606:4700::1]:443"),
            ("GET http://a.test HTTP/1.1\nHost: a.test\n\n", "a.test:80"),
            ("GET HTTP://a.test:8080?x HTTP/1.1\nHost: a.test:8080\n\n", "a.test:8080"),
        ] {
            assert_eq!(read(head).unwrap().target().to_string(), expected, "{head}");
        }
    }

    #[test]
    fn a_plain_request_is_written_anew() {
        let asked = "POST http://a.test:81/x?y=http://b.test HTTP/1.1\nhost: a.test:81\nAccept: */*\nX-Own: 1\n\
                     Connection: keep-alive, X-Own\nProxy-Authorization: Basic eA==\nContent-Length: 07\n\n";
        let sent = "POST /x?y=http://b.test HTTP/1.1\nHost: a.test:81\nAccept: */*\nContent-Length: 7\n\
                    Connection: close\n\n";
        let ProxyRequest::Plain { head, body, .. } = read(asked).unwrap() else { panic!() };
        assert_eq!((head, body), (sent.replace('\n', "\r\n"), RequestBody::Length(7)));
        let asked = "POST http://a.test/ HTTP/1.1\nTransfer-Encoding: Chunked\nTE: trailers\n\n";
        let sent = "POST / HTTP/1.1\nHost: a.test\nTransfer-Encoding: chunked\nConnection: close\n\n";
        let ProxyRequest::Plain { head, body, .. } = read(asked).unwrap() else { panic!() };
        assert_eq!((head, body), (sent.replace('\n', "\r\n"), RequestBody::Chunked));
    }

    /// What is sent to a host itself, which knows of no proxy.
    #[test]
    fn a_request_at_a_host_names_a_path_and_the_host() {
        let at = |target: &str, head: &str| {
            let target = NetTarget::parse(target).unwrap();
            ProxyRequest::read_at(&target, head.replace('\n', "\r\n").as_bytes())
        };
        let asked = "GET /x?y HTTP/1.1\nHost: A.test\nConnection: keep-alive\n\n";
        let ProxyRequest::Plain { head, .. } = at("a.test:80", asked).unwrap() else { panic!() };
        assert_eq!(head, "GET /x?y HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n");
        for (status, target, head) in [
            (None, "a.test:80", "OPTIONS * HTTP/1.1\nHost: a.test\n\n"),
            (None, "a.test:80", "GET / HTTP/1.0\n\n"),
            (None, "127.0.0.1:8080", "GET / HTTP/1.1\nHost: localhost:8080\n\n"),
            (None, "localhost:8080", "GET / HTTP/1.1\nHost: [::1]:8080\n\n"),
            (Some(403), "localhost:8080", "GET / HTTP/1.1\nHost: a.localhost:8080\n\n"),
            (Some(403), "127.0.0.1:8080", "GET / HTTP/1.1\nHost: localhost:8081\n\n"),
            (Some(403), "a.test:80", "GET / HTTP/1.1\nHost: b.test\n\n"),
            (Some(403), "a.test:80", "GET / HTTP/1.0\nHost: b.test\n\n"),
            (Some(400), "a.test:80", "GET / HTTP/1.1\n\n"),
            (Some(400), "a.test:80", "GET http://b.test/ HTTP/1.1\nHost: a.test\n\n"),
            (Some(400), "a.test:80", "GET /#x HTTP/1.1\nHost: a.test\n\n"),
            (Some(400), "a.test:80", "CONNECT b.test:80 HTTP/1.1\nHost: a.test\n\n"),
            (Some(400), "a.test:80", "PRI * HTTP/2.0\n\n"),
        ] {
            assert_eq!(at(target, head).err().map(|bad| bad.status), status, "{target} {head:?}");
        }
    }

    /// What a proxy and a server could take for two different things.
    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        for (status, head) in [
            (400, ""),
            (400, "\n\n"),
            (400, "GET / HTTP/1.1\nHost: a.test\n\n"),
            (400, "GET http://a.test/ HTTP/2\n\n"),
            (400, "GET http://a.test/ x HTTP/1.1\n\n"),
            (400, "GET  http://a.test/ HTTP/1.1\n\n"),
            (400, "G(T http://a.test/ HTTP/1.1\n\n"),
            (400, "GET https://a.test/ HTTP/1.1\n\n"),
            (400, "GET ftp://a.test/ HTTP/1.1\n\n"),
            (400, "GET http://u:p@a.test/ HTTP/1.1\n\n"),
            (400, "GET http://a.test/#f HTTP/1.1\n\n"),
            (400, "GET http://a.test/ä HTTP/1.1\n\n"),
            (400, "GET http://a.test/ HTTP/1.1\nHost: a.test\nHost: a.test\n\n"),
            (400, "GET http://a.test/ HTTP/1.1\nContent-Length: 1\nContent-Length: 1\n\n"),
            (400, "GET http://a.test/ HTTP/1.1\nContent-Length: 1, 1\n\n"),
            (400, "GET http://a.test/ HTTP/1.1\nContent-Length: +1\n\n"),
            (400, "GET http://a.test/ HTTP/1.1\nContent-Length: 99999999999999999999\n\n"),
            (400, "GET http://a.test/ HTTP/1.1\nContent-Length : 1\n\n"),
            (400, "GET http://a.test/ HTTP/1.1\nA: b\n c: d\n\n"),
            (400, "GET http://a.test/ HTTP/1.1\nA: b\u{0}\n\n"),
            (400, "GET http://a.test/ HTTP/1.1\nno header\n\n"),
            (400, "CONNECT a.test HTTP/1.1\n\n"),
            (400, "CONNECT http://a.test:443 HTTP/1.1\n\n"),
            (400, "CONNECT a.test:443/ HTTP/1.1\n\n"),
            (400, "CONNECT a.test:443 HTTP/1.1\nContent-Length: 5\n\n"),
            (400, "CONNECT a.test:443 HTTP/1.1\nTransfer-Encoding: chunked\n\n"),
            (403, "CONNECT a.test:443 HTTP/1.1\nHost: b.test:443\n\n"),
            (403, "CONNECT a.test:443 HTTP/1.1\nHost: a.test:80\n\n"),
            (403, "CONNECT 0x7f000001:80 HTTP/1.1\n\n"),
            (403, "CONNECT 2130706433:80 HTTP/1.1\n\n"),
            (403, "CONNECT a.test:0 HTTP/1.1\n\n"),
            (403, "GET http://a.test/ HTTP/1.1\nHost: b.test\n\n"),
            (403, "GET http://a.test/ HTTP/1.1\nHost: http://a.test/\n\n"),
            (403, "GET http://a.test/ HTTP/1.1\nHost:\n\n"),
            (400, "GET http://a.test\\@b.test/ HTTP/1.1\n\n"),
            (403, "GET http://%61.test/ HTTP/1.1\n\n"),
            (411, "POST http://a.test/ HTTP/1.0\nTransfer-Encoding: chunked\n\n"),
            (411, "POST http://a.test/ HTTP/1.1\nTransfer-Encoding: gzip, chunked\n\n"),
            (411, "POST http://a.test/ HTTP/1.1\nTransfer-Encoding: xchunked\n\n"),
            (400, "POST http://a.test/ HTTP/1.1\nTransfer-Encoding: chunked\nTransfer-Encoding: chunked\n\n"),
            (411, "POST http://a.test/ HTTP/1.1\nTransfer-Encoding: chunked\nContent-Length: 3\n\n"),
        ] {
            assert_eq!(read(head).map_err(|bad| bad.status), Err(status), "{head:?}");
        }
        for raw in [
            "GET http://a.test/ HTTP/1.1\nHost: a.test\n\n",
            "GET http://a.test/ HTTP/1.1\r\nA: b\nC: d\r\n\r\n",
            "GET http://a.test/ HTTP/1.1\r\nA: b\rC: d\r\n\r\n",
        ] {
            assert_eq!(ProxyRequest::read(raw.as_bytes()).map_err(|bad| bad.status), Err(400), "{raw:?}");
        }
        assert_eq!(
            ProxyRequest::read(b"GET http://a.test/ HTTP/1.1\r\nA: \xff\r\n\r\n").unwrap_err().status,
            400
        );
    }
}
