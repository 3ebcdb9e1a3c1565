//! A login: a secret, and where a tool sends it.

use std::fmt;

use zeroize::Zeroizing;

/// A secret of a login file, and the places where its tool sends it.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// Whose it is, for messages: the host, profile or registry in the file.
    pub of: String,
    /// The hosts that its tool sends it to, and the places in the requests.
    pub to: Vec<Destination>,
    secret: Zeroizing<String>,
}

/// A host that a tool sends a login to, and the place in its requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// `HOST` or `HOST:PORT`; `*.DOMAIN` only for keys that sign.
    pub host: String,
    /// The paths, such as `/npm/**`; all paths if it is empty.
    pub path: String,
    /// `header:NAME`, `basic`, `body` or `sigv4`.
    pub place: &'static str,
}

/// A login that a copy does not contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Whose it is.
    pub of: String,
    /// Why it is left out.
    pub why: String,
}

/// The header of most tokens.
pub(crate) const AUTHORIZATION: &str = "header:authorization";

impl Login {
    pub(crate) fn new(of: &str, secret: &str, to: Vec<Destination>) -> Self {
        Self { of: of.to_owned(), to, secret: Zeroizing::new(secret.to_owned()) }
    }

    /// Returns the secret.
    #[must_use]
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// Whether one of its hosts has this name, whatever the port.
    #[must_use]
    pub fn goes_to(&self, host: &str) -> bool {
        self.to
            .iter()
            .any(|to| to.host == host || to.host.strip_prefix(host).is_some_and(|rest| rest.starts_with(':')))
    }
}

impl Destination {
    pub(crate) fn new(host: &str, path: &str, place: &'static str) -> Self {
        Self { host: host.to_ascii_lowercase(), path: path.to_owned(), place }
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("of", &self.of).field("to", &self.to).finish_non_exhaustive()
    }
}
