//! Base URL of an API behind a gateway.

use stockade_egress::{Host, NetTarget};

use crate::error::DriveError;

/// Base URL of an API: an HTTPS host, or this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiBase {
    /// URL for programs, without a trailing slash.
    pub(crate) url: String,
    /// Host and port, as an entry of a host list.
    pub(crate) host: String,
    /// Prefix of every path; empty, or with a leading slash.
    pub(crate) path: String,
}

const FIX: &str = "write `https://gateway.example.com`, perhaps with a port and a path";

impl ApiBase {
    /// Parses a base URL.
    ///
    /// # Errors
    /// When it is invalid, has a user name or a query, or would send a key unencrypted.
    pub fn read(text: &str) -> Result<Self, DriveError> {
        let wrong = |why: String| DriveError::new(format!("invalid --api-base: it {why}"), FIX);
        let (scheme, rest) = text.split_once("://").ok_or_else(|| wrong("has no scheme".to_owned()))?;
        let rest = rest.trim_end_matches('/');
        let at = rest.find('/').unwrap_or(rest.len());
        let (host, path) = rest.split_at_checked(at).unwrap_or((rest, ""));
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte);
        let is_plain_path = path.bytes().all(is_plain) && !path.split('/').skip(1).any(is_odd);
        if !is_plain_path {
            return Err(wrong("has a path with more than plain names".to_owned()));
        }
        // Programs get the text unchanged, so it must contain only a host.
        if !host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.:[]".contains(&byte)) {
            return Err(wrong("has no host, or more than a host".to_owned()));
        }
        let target = NetTarget::parse(host).map_err(|refused| wrong(format!("has no host: {refused}")))?;
        let is_loopback = match &target.host {
            Host::Name(name) => name == "localhost",
            Host::Address(address) => address.is_loopback(),
        };
        let port = match (scheme, is_loopback) {
            ("https", _) => 443,
            ("http", true) => 80,
            ("http", false) => return Err(wrong("would send the key over plain HTTP".to_owned())),
            _ => return Err(wrong("is neither an http nor an https URL".to_owned())),
        };
        let port = target.port.unwrap_or(port);
        let shown = match &target.host {
            Host::Address(std::net::IpAddr::V6(six)) => format!("[{six}]"),
            host => host.to_string(),
        };
        Ok(Self {
            url: format!("{scheme}://{host}{path}"),
            host: format!("{shown}:{port}"),
            path: path.to_owned(),
        })
    }

    /// Returns the base URL of a host at its default port.
    pub(crate) fn of(host: &str) -> Self {
        Self { url: format!("https://{host}"), host: format!("{host}:443"), path: String::new() }
    }
}

/// Whether a path segment is ambiguous.
fn is_odd(part: &str) -> bool {
    matches!(part, "" | "." | "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        for (text, url, host, path) in [
            ("https://gw.example", "https://gw.example", "gw.example:443", ""),
            ("https://gw.example:8443/", "https://gw.example:8443", "gw.example:8443", ""),
            ("https://gw.example/a/b-c/", "https://gw.example/a/b-c", "gw.example:443", "/a/b-c"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080", "127.0.0.1:8080", ""),
            ("http://localhost", "http://localhost", "localhost:80", ""),
            ("http://[::1]:8080/x", "http://[::1]:8080/x", "[::1]:8080", "/x"),
        ] {
            let expected = ApiBase { url: url.into(), host: host.into(), path: path.into() };
            assert_eq!(ApiBase::read(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_address_of_an_api_is_refused() {
        for (text, why) in [
            ("gw.example", "no scheme"),
            ("http://gw.example", "plain HTTP"),
            ("ftp://gw.example", "neither"),
            ("https://", "no host"),
            ("https://me@gw.example", "no host"),
            ("https://me:key@gw.example", "no host"),
            ("https://gw.example?x", "no host"),
            ("https://gw.example#x", "no host"),
            ("https://g\u{fc}.example", "no host"),
            ("https://gw.example:0", "no host"),
            ("https://gw.example/a?b=c", "plain names"),
            ("https://gw.example/../b", "plain names"),
            ("https://gw.example/a//b", "plain names"),
            ("https://gw.example/\"},x={", "plain names"),
            ("https://gw.example\"/", "no host"),
        ] {
            let error = ApiBase::read(text).unwrap_err();
            assert!(error.why.contains(why), "{text}: {error}");
        }
    }
}
