//! Recognition of a client's protocol, and the check that its first bytes are for the allowed host.

use super::client_hello::ClientHello;
use super::target::{Host, NetTarget};

/// The protocol of a client's first bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Opening {
    /// More bytes are needed.
    Incomplete,
    /// An HTTP request, whose head is not parsed yet.
    Http,
    /// A TLS ClientHello, with its server name.
    Tls { server_name: Option<String>, is_encrypted: bool },
    /// The identification string of an SSH client.
    Ssh,
    /// Another protocol, with a description.
    Other(&'static str),
}

/// Why a connection is refused after its first bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unbound {
    pub(super) rule: &'static str,
    pub(super) reason: String,
    /// Whether an entry with `/tcp` would allow it.
    pub(super) is_allowed_by_tcp: bool,
}

/// The port of SSH.
const SSH_PORT: u16 = 22;

impl Opening {
    /// Recognizes the protocol of the first bytes.
    pub(super) fn read(bytes: &[u8]) -> Self {
        const SSH: &[u8] = b"SSH-";
        match bytes {
            [] => Self::Incomplete,
            // 22 is the record type of a TLS handshake. No HTTP method starts with it.
            [22, ..] => match ClientHello::read(bytes) {
                ClientHello::Incomplete => Self::Incomplete,
                ClientHello::Malformed(why) => Self::Other(why),
                ClientHello::Complete { server_name, is_encrypted } => {
                    Self::Tls { server_name, is_encrypted }
                }
            },
            _ if SSH.starts_with(bytes) => Self::Incomplete,
            _ if bytes.starts_with(SSH) => Self::Ssh,
            // Methods are case-sensitive, and the registered ones are upper case. The strict reader decides on the
            // rest of the line.
            [first, ..] if first.is_ascii_uppercase() => Self::Http,
            _ => Self::Other("it is neither TLS nor HTTP"),
        }
    }

    /// Checks that the first bytes are for an allowed target.
    pub(super) fn is_bound_to(&self, target: &NetTarget) -> Result<(), Unbound> {
        let unbound =
            |rule, reason: String, is_allowed_by_tcp| Err(Unbound { rule, reason, is_allowed_by_tcp });
        match (self, &target.host) {
            // Browsers add an encrypted ClientHello to each greeting, mostly random bytes (GREASE). If the plain name is that of
            // the host, the encrypted one can only select another site of the same server, as a `Host` header in the tunnel
            // could.
            (Self::Tls { server_name: Some(name), .. }, Host::Name(host)) if name == host => Ok(()),
            (Self::Tls { is_encrypted: true, .. }, host) => unbound(
                "hidden-name",
                format!("its host name differs from `{host}`, and the inner one is encrypted (ECH)"),
                false,
            ),
            // Clients must not send an address as server name (RFC 6066), so its absence says nothing here.
            (Self::Tls { server_name: None, .. }, Host::Address(_)) => Ok(()),
            (Self::Tls { server_name: Some(name), .. }, host) => unbound(
                "other-host",
                format!(
                    "its connection is allowed to `{host}`, and the request is for `{}`",
                    name.escape_debug()
                ),
                false,
            ),
            (Self::Tls { server_name: None, .. }, Host::Name(host)) => {
                unbound("no-name", format!("its TLS handshake does not name `{host}`"), true)
            }
            // SSH has no host name in its handshake, so only the address binds it, which was checked.
            (Self::Ssh, _) if target.port == Some(SSH_PORT) => Ok(()),
            (Self::Ssh, _) => unbound("not-tls", "SSH is only allowed on port 22".to_owned(), true),
            // The head contains the host, and is checked when it is parsed.
            (Self::Http, _) => Ok(()),
            (Self::Other(why), _) => unbound("not-tls", (*why).to_owned(), true),
            (Self::Incomplete, _) => {
                unbound("not-tls", "it ended before its protocol was detected".to_owned(), true)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(opening: &Opening, target: &str) -> &'static str {
        match opening.is_bound_to(&NetTarget::parse(target).unwrap()) {
            Ok(()) => "ok",
            Err(unbound) => unbound.rule,
        }
    }

    #[test]
    fn a_conversation_is_bound_to_its_host() {
        let tls = |name: Option<&str>, is_encrypted| Opening::Tls {
            server_name: name.map(str::to_owned),
            is_encrypted,
        };
        for (opening, target, expected) in [
            (tls(Some("a.example"), false), "a.example:443", "ok"),
            (tls(Some("b.example"), false), "a.example:443", "other-host"),
            (tls(Some("a.example.evil.test"), false), "a.example:443", "other-host"),
            (tls(Some("a.example"), true), "a.example:443", "ok"),
            (tls(Some("cover.example"), true), "a.example:443", "hidden-name"),
            (tls(Some("a.example"), true), "10.0.0.1:443", "hidden-name"),
            (tls(None, true), "a.example:443", "hidden-name"),
            (tls(None, true), "10.0.0.1:443", "hidden-name"),
            (tls(None, false), "a.example:443", "no-name"),
            (tls(None, false), "10.0.0.1:443", "ok"),
            (tls(Some("a.example"), false), "10.0.0.1:443", "other-host"),
            (Opening::read(b"SSH-2.0-OpenSSH_9.2"), "a.example:22", "ok"),
            (Opening::read(b"SSH-2.0-OpenSSH_9.2"), "a.example:443", "not-tls"),
            (Opening::read(b"GET / HTTP/1.1"), "a.example:80", "ok"),
            (Opening::read(b"\x00\x00"), "a.example:443", "not-tls"),
            (Opening::read(b"SS"), "a.example:443", "not-tls"),
            (Opening::read(&[22, 3, 1, 0, 0]), "a.example:443", "not-tls"),
        ] {
            assert_eq!(rule(&opening, target), expected, "{opening:?} {target}");
        }
    }
}
