//! Where the server is, and who asks.

use std::fmt;
use std::time::Duration;

use super::E2bError;

/// A key of an account. It is shown to the server alone.
#[derive(Clone, PartialEq, Eq)]
pub struct E2bKey(String);

impl E2bKey {
    /// Takes a text for a key, if it can be one.
    pub fn new(text: &str) -> Result<Self, E2bError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(E2bError::Key("it is empty"));
        }
        if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') {
            return Err(E2bError::Key("it contains characters other than letters, digits, `_` and `-`"));
        }
        Ok(Self(text.to_owned()))
    }

    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for E2bKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("E2bKey(…)")
    }
}

/// Where the server is, and how patient a client is with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct E2bSettings {
    /// Who asks.
    pub key: E2bKey,
    /// The domain of the service.
    pub domain: String,
    /// The server that makes sandboxes, if it is not `https://api.` and the domain.
    pub api: Option<String>,
    /// The server through which every sandbox is reached, if that is not a name of its own below the domain.
    pub gateway: Option<String>,
    /// How long one request may take, but for commands, which have a time of their own.
    pub request_time: Duration,
    /// How often a request is made again that was certainly not carried out.
    pub retries: u32,
}

impl E2bSettings {
    /// The service of E2B itself.
    #[must_use]
    pub fn new(key: E2bKey) -> Self {
        let domain = "e2b.app".to_owned();
        Self { key, domain, api: None, gateway: None, request_time: Duration::from_secs(60), retries: 3 }
    }

    /// The server that makes sandboxes.
    pub(super) fn api(&self) -> Result<String, E2bError> {
        let address = self.api.clone().unwrap_or_else(|| format!("https://api.{}", self.domain));
        safe(&address)
    }

    /// The service in a sandbox.
    pub(super) fn service(&self, sandbox: &str, domain: Option<&str>) -> Result<String, E2bError> {
        /// The port of the service in each sandbox.
        const PORT: u16 = 49983;
        let domain = domain.unwrap_or(&self.domain);
        let address = self.gateway.clone().unwrap_or_else(|| format!("https://{PORT}-{sandbox}.{domain}"));
        safe(&address)
    }
}

/// An address to which a key may be sent: it cannot be read on the way.
fn safe(address: &str) -> Result<String, E2bError> {
    let address = address.trim_end_matches('/').to_owned();
    let host = |rest: &str| rest.split(['/', ':']).next().unwrap_or_default().to_owned();
    let is_plain = address.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'@');
    let is_safe = match address.split_once("://") {
        Some(("https", rest)) => !host(rest).is_empty(),
        Some(("http", rest)) => matches!(host(rest).as_str(), "127.0.0.1" | "localhost"),
        _ => false,
    };
    if is_safe && is_plain { Ok(address) } else { Err(E2bError::Address(address)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_sent_only_to_its_service() {
        for address in ["https://api.e2b.app", "https://x", "http://127.0.0.1:80/", "http://localhost:1"] {
            assert!(safe(address).is_ok(), "{address}");
        }
        for address in [
            "http://api.e2b.app",
            "http://127.0.0.1.evil.example",
            "http://127.0.0.1@evil.example",
            "https://",
            "api.e2b.app",
            "ftp://127.0.0.1",
            "https://a b",
            "http://localhost.evil.example",
            "https://me@evil.example",
            "",
        ] {
            assert!(safe(address).is_err(), "{address}");
        }
    }

    #[test]
    fn a_key_is_never_printed() {
        let settings = E2bSettings::new(E2bKey::new(" e2b_0123abcd\n").unwrap());
        assert!(!format!("{settings:?}").contains("0123"));
        for text in ["", " ", "e2b_\u{e4}", "e2b_a b", "a\r\nX: y"] {
            assert!(E2bKey::new(text).is_err(), "{text:?}");
        }
    }
}
