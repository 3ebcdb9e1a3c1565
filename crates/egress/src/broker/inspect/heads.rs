//! Heads of relayed requests and responses: their target, and the headers that are passed on.

use hyper::http;
use hyper::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::{Method, Uri, request};

use super::super::super::header_table::is_of_connection;
use super::super::super::proxy_request::{BadRequest, MAX_HEAD, are_optional, names_target};
use super::super::super::target::NetTarget;

/// The only protocol that a connection may be upgraded to.
const WEBSOCKET: &str = "websocket";

/// Checks that a request is for the allowed host of its connection, and is unambiguous. HTTP/1 requests were checked further when
/// they were read.
///
/// # Errors
/// When it is not.
pub(super) fn is_for(target: &NetTarget, scheme: &str, head: &request::Parts) -> Result<(), BadRequest> {
    let uri = &head.uri;
    if head.method == Method::CONNECT {
        return Err(bad("CONNECT is for proxies, and this host is not one"));
    }
    if uri.scheme_str().is_some_and(|named| named != scheme) {
        return Err(bad("its scheme differs from that of the connection"));
    }
    // hyper merges equal ones for HTTP/1, and passes all on for HTTP/2, where a server behind may use either.
    if head.headers.get_all(header::CONTENT_LENGTH).iter().count() > 1 {
        return Err(bad("it has two `content-length` headers"));
    }
    if length(head) > MAX_HEAD {
        return Err(BadRequest { status: 431, ..bad(&format!("its head is longer than {MAX_HEAD} bytes")) });
    }
    let path = path(uri);
    if path != "*" && !path.starts_with('/') {
        return Err(bad("send a path, not a whole URL"));
    }
    let mut named = head.headers.get_all(header::HOST).iter();
    let hosts = (named.next(), named.next());
    let host = match hosts {
        (one, None) => {
            one.map(|one| one.to_str().map_err(|_| bad("its `Host` is not a valid host name"))).transpose()?
        }
        _ => return Err(bad("it has two `Host` headers")),
    };
    // HTTP/2 may have both `:authority` and `host`, and servers differ in which they use, so both must be the target.
    let authority = uri.authority().map(http::uri::Authority::as_str);
    [host, authority].into_iter().flatten().try_for_each(|named| is_same(target, named))
}

/// A request with another host would reach that host if both share a server.
fn is_same(target: &NetTarget, named: &str) -> Result<(), BadRequest> {
    if names_target(named, target) {
        return Ok(());
    }
    Err(BadRequest {
        status: 403,
        rule: "other-host",
        reason: format!(
            "its connection is allowed to `{target}`, and the request is for `{}`",
            named.escape_debug()
        ),
        fix: Some("connect to that host directly".to_owned()),
    })
}

/// Returns the path and query of a request, as sent.
pub(super) fn path(uri: &Uri) -> &str {
    uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str)
}

/// Returns the approximate length of the head.
pub(super) fn length(head: &request::Parts) -> usize {
    let of_headers: usize =
        head.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    head.method.as_str().len() + path(&head.uri).len() + 14 + of_headers
}

/// Returns the length of the body in the head.
pub(super) fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Whether a request says in its head that it has a body.
pub(super) fn declares_body(head: &request::Parts) -> bool {
    let is_empty = |value: &HeaderValue| value.as_bytes() == b"0";
    head.headers.contains_key(header::TRANSFER_ENCODING)
        || head.headers.get(header::CONTENT_LENGTH).is_some_and(|length| !is_empty(length))
}

/// Whether a head declares its body as JSON in UTF-8, without compression, in one way only.
pub(super) fn declares_json(headers: &HeaderMap) -> bool {
    let mut kinds = headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(kind), None) = (kinds.next().and_then(|kind| kind.to_str().ok()), kinds.next()) else {
        return false;
    };
    let mut words = kind.split(';').map(|word| word.trim().to_ascii_lowercase());
    let kind = words.next().unwrap_or_default();
    let is_json = kind == "application/json" || kind.starts_with("application/") && kind.ends_with("+json");
    let is_plain = |word: String| ["charset=utf-8", "charset=\"utf-8\""].contains(&word.as_str());
    let mut codings = headers.get_all(header::CONTENT_ENCODING).iter();
    is_json
        && words.all(is_plain)
        && codings.all(|coding| coding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// Whether a header lists a word.
fn has_word(headers: &HeaderMap, name: &HeaderName, wanted: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|word| word.trim().eq_ignore_ascii_case(wanted))
}

/// Whether the transfer codings of a response are supported: `chunked`, or none.
pub(super) fn is_framed_plainly(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::TRANSFER_ENCODING).iter();
    values.map(HeaderValue::as_bytes).all(|coding| coding.eq_ignore_ascii_case(b"chunked"))
}

/// Whether a request asks to upgrade to a websocket.
pub(super) fn asks_for_websocket(head: &request::Parts) -> bool {
    let mut wanted = head.headers.get_all(header::UPGRADE).iter();
    head.method == Method::GET
        && has_word(&head.headers, &header::CONNECTION, "upgrade")
        && wanted.next().is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(WEBSOCKET.as_bytes()))
        && wanted.next().is_none()
}

/// Headers that are written again where needed.
const WRITTEN_ANEW: [HeaderName; 3] = [header::TRANSFER_ENCODING, header::UPGRADE, header::EXPECT];

/// Refuses a request that would change its meaning without the headers that are not passed on.
///
/// # Errors
/// When it asks for an unsupported protocol, or expects something that a proxy does not support.
pub(super) fn is_passed_on_whole(head: &request::Parts) -> Result<(), BadRequest> {
    let mut expected = head.headers.get_all(header::EXPECT).iter();
    // hyper answers 100 itself. Another expectation would be dropped silently, although the client relies on it.
    if expected.any(|value| !value.as_bytes().eq_ignore_ascii_case(b"100-continue")) {
        return Err(BadRequest { status: 417, ..bad("its `Expect` is not `100-continue`") });
    }
    let offered = head.headers.get_all(header::UPGRADE).iter();
    if asks_for_websocket(head) {
        return Ok(());
    }
    offered.map(|value| value.to_str().unwrap_or("?")).try_for_each(are_optional)
}

/// Removes headers of the connection, and adds those of a websocket upgrade.
pub(super) fn pass_on(headers: &mut HeaderMap, is_websocket: bool) {
    // Other headers that `Connection` lists are for the host, because an inspected client does not know of a proxy.
    let of_connection: Vec<HeaderName> =
        headers.keys().filter(|name| is_of_connection(name.as_str())).cloned().collect();
    for name in of_connection.iter().chain(&WRITTEN_ANEW) {
        headers.remove(name);
    }
    // gRPC servers refuse requests without `TE: trailers`.
    let takes_trailers = has_word(headers, &header::TE, "trailers");
    if headers.remove(header::TE).is_some() && takes_trailers {
        headers.insert(header::TE, HeaderValue::from_static("trailers"));
    }
    if is_websocket {
        headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static(WEBSOCKET));
    }
}

/// Returns the value of `Host`, without the scheme's default port.
pub(super) fn authority(target: &NetTarget, scheme: &str) -> String {
    match (scheme, target.port) {
        ("https", Some(443)) | ("http", Some(80)) => target.host.to_string(),
        _ => target.to_string(),
    }
}

fn bad(why: &str) -> BadRequest {
    BadRequest { status: 400, rule: "bad-request", reason: why.to_owned(), fix: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loopback is one host under its three names, here as where a head of HTTP/1 is read.
    #[test]
    fn a_request_is_for_the_host_that_it_names() {
        for (target, named, is_for_it) in [
            ("localhost:8443", "127.0.0.1:8443", true),
            ("localhost:8443", "[::1]:8443", true),
            ("127.0.0.1:8443", "LOCALHOST", true),
            ("a.example:443", "a.example", true),
            ("localhost:8443", "127.0.0.1:8444", false),
            ("localhost:8443", "127.0.0.2:8443", false),
            ("localhost:8443", "a.localhost:8443", false),
            ("a.example:443", "b.example", false),
            ("a.example:443", "me@a.example", false),
        ] {
            let target = NetTarget::parse(target).unwrap();
            let by_header = http::Request::get("/").header("host", named).body(()).unwrap().into_parts().0;
            assert_eq!(is_for(&target, "https", &by_header).is_ok(), is_for_it, "{target} {named}");
            let uri = format!("https://{named}/");
            let by_authority = http::Request::get(uri).body(()).unwrap().into_parts().0;
            assert_eq!(is_for(&target, "https", &by_authority).is_ok(), is_for_it, "{target} {named}");
        }
    }
}
