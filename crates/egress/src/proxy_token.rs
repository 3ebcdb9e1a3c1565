//! The token by which a client of a shared proxy identifies its run.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The header with the token, which is never passed to a host.
const HEADER: &str = "proxy-authorization";

/// Returns the token in the head of a request to a proxy: `Proxy-Authorization: Bearer TOKEN`, or the password of `Basic`. `None`
/// without a token, or with several.
///
/// ```
/// use stockade_egress::proxy_token;
///
/// let head = b"CONNECT a.example:443 HTTP/1.1\r\nProxy-Authorization: Bearer 5up3r\r\n\r\n";
/// assert_eq!(proxy_token(head).as_deref(), Some("5up3r"));
/// ```
#[must_use]
pub fn proxy_token(head: &[u8]) -> Option<String> {
    let mut values = values(head, HEADER);
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (scheme, credential) = value.trim_matches([' ', '\t']).split_once(' ')?;
    let credential = credential.trim_matches(' ');
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(credential.to_owned());
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let pair = String::from_utf8(STANDARD.decode(credential).ok()?).ok()?;
    pair.split_once(':').map(|(_, password)| password.to_owned())
}

/// Rewrites a head with a path and `Host`, as clients without a proxy send it, to one with an absolute URL. Other heads are
/// returned unchanged: the parser reports what is wrong.
///
/// ```
/// use stockade_egress::to_whole_url;
///
/// let head = b"GET /v1 HTTP/1.1\r\nHost: a.example\r\n\r\n";
/// assert!(to_whole_url(head).starts_with(b"GET http://a.example/v1 HTTP/1.1\r\n"));
/// ```
#[must_use]
pub fn to_whole_url(head: &[u8]) -> Vec<u8> {
    let mut hosts = values(head, "host");
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.trim_matches([' ', '\t']),
        _ => return head.to_vec(),
    };
    let at = head.iter().position(|byte| *byte == b' ').map_or(0, |at| at + 1);
    match head.split_at_checked(at) {
        Some((method, path)) if path.starts_with(b"/") && !host.is_empty() => {
            [method, b"http://", host.as_bytes(), path].concat()
        }
        _ => head.to_vec(),
    }
}

/// Returns the values of a header, in order.
fn values<'h>(head: &'h [u8], name: &'h str) -> impl Iterator<Item = &'h str> {
    let text = std::str::from_utf8(head).unwrap_or_default();
    let headers = text.split("\r\n").skip(1).filter_map(|line| line.split_once(':'));
    headers.filter(move |header| header.0.eq_ignore_ascii_case(name)).map(|header| header.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_where_it_stands_once() {
        for (headers, token) in [
            ("Proxy-Authorization: Bearer abc", Some("abc")),
            ("proxy-authorization:\tbearer  abc", Some("abc")),
            ("Proxy-Authorization: Basic cnVuOmFiYw==", Some("abc")),
            ("Proxy-Authorization: Basic cnVuOmE6YmM=", Some("a:bc")),
            ("Proxy-Authorization: Basic cnVu", None),
            ("Proxy-Authorization: Basic %%%", None),
            ("Proxy-Authorization: Digest abc", None),
            ("Proxy-Authorization: abc", None),
            ("Proxy-Authorization: Bearer abc\r\nProxy-Authorization: Bearer abc", None),
            ("Authorization: Bearer abc", None),
            ("X: 1", None),
        ] {
            let head = format!("GET http://a.example/ HTTP/1.1\r\n{headers}\r\n\r\n");
            assert_eq!(proxy_token(head.as_bytes()).as_deref(), token, "{headers}");
        }
    }

    #[test]
    fn only_what_a_host_is_asked_for_becomes_a_whole_url() {
        for (head, first) in [
            ("GET / HTTP/1.1\r\nHost: a.example:8080\r\n\r\n", "GET http://a.example:8080/ HTTP/1.1"),
            ("GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1"),
            ("GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET / HTTP/1.1"),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET / HTTP/1.1"),
            ("GET http://b.example/ HTTP/1.1\r\nHost: a\r\n\r\n", "GET http://b.example/ HTTP/1.1"),
            ("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", "CONNECT a:443 HTTP/1.1"),
            ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS * HTTP/1.1"),
        ] {
            let whole = to_whole_url(head.as_bytes());
            assert_eq!(String::from_utf8(whole).unwrap().split("\r\n").next(), Some(first), "{head}");
        }
    }
}
