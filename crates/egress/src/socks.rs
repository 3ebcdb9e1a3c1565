//! SOCKS 5 (RFC 1928): greetings, passwords (RFC 1929), and requests for a connection by name or address.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::target::NetTarget;

/// The version, the first byte of a client.
pub(super) const VERSION: u8 = 5;

/// The reply to a greeting: no authentication.
pub(super) const WELCOME: [u8; 2] = [VERSION, 0];

/// The reply to a greeting without an acceptable method.
pub(super) const NO_WAY: [u8; 2] = [VERSION, 0xff];

/// The replies for password authentication: required, accepted and rejected (RFC 1929).
pub(super) const PASSWORD: [u8; 2] = [VERSION, 2];
pub(super) const RIGHT_PASSWORD: [u8; 2] = [1, 0];
pub(super) const WRONG_PASSWORD: [u8; 2] = [1, 1];

/// The result of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SocksReply {
    Connected = 0,
    Failed = 1,
    NotAllowed = 2,
    NotReached = 4,
    UnknownCommand = 7,
    UnknownAddress = 8,
}

impl SocksReply {
    /// Returns the reply. It does not contain the outer address of the connection, which the sandbox need not know.
    pub(super) const fn bytes(self) -> [u8; 10] {
        [VERSION, self as u8, 0, 1, 0, 0, 0, 0, 0, 0]
    }
}

/// The result of parsing received bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Socks<T> {
    Incomplete,
    /// Invalid, with the reason.
    Malformed(SocksReply, &'static str),
    /// Complete, with the length in bytes.
    Complete(T, usize),
}

/// Parses a greeting: whether the client accepts no authentication.
pub(super) fn greeting(bytes: &[u8]) -> Socks<bool> {
    offers(bytes, 0)
}

/// Parses a greeting: whether the client accepts password authentication.
pub(super) fn offers_password(bytes: &[u8]) -> Socks<bool> {
    offers(bytes, 2)
}

/// Parses the password of a client, ignoring its name.
pub(super) fn password(bytes: &[u8]) -> Socks<String> {
    let Some((&version, rest)) = bytes.split_first() else { return Socks::Incomplete };
    if version != 1 {
        return Socks::Malformed(SocksReply::Failed, "it is not a SOCKS 5 password request");
    }
    let counted = |bytes: &[u8]| {
        let (&length, rest) = bytes.split_first()?;
        let (text, rest) = rest.split_at_checked(usize::from(length))?;
        Some((text.to_vec(), rest.len()))
    };
    let Some((_, left)) = counted(rest) else { return Socks::Incomplete };
    let at = bytes.len() - left;
    let Some((password, left)) = bytes.get(at..).and_then(counted) else { return Socks::Incomplete };
    match String::from_utf8(password) {
        Ok(password) => Socks::Complete(password, bytes.len() - left),
        Err(_) => Socks::Malformed(SocksReply::Failed, "its password is not valid UTF-8"),
    }
}

fn offers(bytes: &[u8], method: u8) -> Socks<bool> {
    match bytes {
        [VERSION, count, rest @ ..] => match rest.get(..usize::from(*count)) {
            Some(methods) => Socks::Complete(methods.contains(&method), 2 + methods.len()),
            None => Socks::Incomplete,
        },
        [] | [VERSION] => Socks::Incomplete,
        _ => Socks::Malformed(SocksReply::Failed, "it is not a SOCKS 5 greeting"),
    }
}

/// Parses a request.
pub(super) fn request(bytes: &[u8]) -> Socks<NetTarget> {
    let &[version, command, reserved, kind, ref rest @ ..] = bytes else { return Socks::Incomplete };
    if version != VERSION || reserved != 0 {
        return Socks::Malformed(SocksReply::Failed, "it is not a SOCKS 5 request");
    }
    if command != 1 {
        return Socks::Malformed(SocksReply::UnknownCommand, "only the SOCKS command CONNECT is supported");
    }
    let (length, before) = match (kind, rest) {
        (1, _) => (4, 0),
        (3, [length, ..]) => (usize::from(*length), 1),
        (3, []) => return Socks::Incomplete,
        (4, _) => (16, 0),
        _ => return Socks::Malformed(SocksReply::UnknownAddress, "it has an unknown address type"),
    };
    let Some(&[ref address @ .., high, low]) = rest.get(before..before + length + 2) else {
        return Socks::Incomplete;
    };
    let host = match kind {
        1 => <[u8; 4]>::try_from(address).ok().map(|four| Ipv4Addr::from(four).to_string()),
        4 => <[u8; 16]>::try_from(address).ok().map(|six| format!("[{}]", Ipv6Addr::from(six))),
        _ => std::str::from_utf8(address).ok().filter(|name| is_host(name)).map(str::to_owned),
    };
    let port = u16::from_be_bytes([high, low]);
    let target = host.and_then(|host| NetTarget::parse(&format!("{host}:{port}")).ok());
    match target {
        Some(target) => Socks::Complete(target, 4 + before + length + 2),
        None => Socks::Malformed(SocksReply::NotAllowed, "it has no host, or an ambiguous one"),
    }
}

/// A host and nothing beside it.
fn is_host(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '@', '?', '#', ':', '[', ']'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(kind: u8, address: &[u8], port: u16) -> Vec<u8> {
        [&[5, 1, 0, kind], address, &port.to_be_bytes()].concat()
    }

    #[test]
    fn names_and_addresses_are_read() {
        for (bytes, expected) in [
            (asked(1, &[10, 0, 0, 1], 22), "10.0.0.1:22"),
            (asked(3, b"\x09A.example", 443), "a.example:443"),
            (asked(4, &Ipv6Addr::LOCALHOST.octets(), 80), "[::1]:80"),
        ] {
            let Socks::Complete(target, length) = request(&bytes) else { panic!("{bytes:?}") };
            assert_eq!((target.to_string().as_str(), length), (expected, bytes.len()));
            for end in 0..bytes.len() {
                assert_eq!(request(&bytes[..end]), Socks::Incomplete, "{expected} {end}");
            }
        }
        assert_eq!(greeting(&[5, 2, 2, 0, 5]), Socks::Complete(true, 4));
        assert_eq!(greeting(&[5, 1, 2]), Socks::Complete(false, 3));
        assert_eq!(greeting(&[5, 2, 0]), Socks::Incomplete);
    }

    #[test]
    fn what_is_something_else_is_refused() {
        for bytes in [
            vec![4, 1, 0, 1],
            vec![5, 2, 0, 1],
            vec![5, 3, 0, 1],
            vec![5, 1, 1, 1],
            vec![5, 1, 0, 2],
            asked(1, &[10, 0, 0, 1], 0),
            asked(3, b"\x00", 80),
            asked(3, b"\x05a:b.c", 80),
            asked(3, b"\x06u@host", 80),
            asked(3, b"\x0a2130706433", 80),
            asked(3, b"\x03\xff.a", 80),
            asked(4, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1], 80),
        ] {
            assert!(matches!(request(&bytes), Socks::Malformed(..)), "{bytes:?}");
        }
        assert!(matches!(greeting(&[4, 1, 0]), Socks::Malformed(..)));
    }
}
