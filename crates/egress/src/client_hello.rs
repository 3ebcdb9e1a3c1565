//! Reads the server name from a TLS ClientHello (RFC 8446, RFC 6066).
//!
//! All later messages are encrypted. A server with many names serves the one in this message, so a tunnel that was allowed for
//! one name must not start with another.

/// Maximum length of a ClientHello. Those of real clients have some two thousand bytes at most.
pub const MAX_CLIENT_HELLO: usize = 16 << 10;

const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;
const HOST_NAME: u8 = 0;
const ENCRYPTED_HELLO: u16 = 0xfe0d;
const RECORD_HEADER: usize = 5;
/// Maximum length of a plaintext record.
const MAX_RECORD: usize = 16 << 10;

/// The kind of a client's first bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientHello {
    /// The message is incomplete.
    Incomplete,
    /// Not TLS, or ambiguous.
    Malformed(&'static str),
    /// The bytes begin with a complete ClientHello.
    Complete {
        /// The server name, in lower case, if any.
        server_name: Option<String>,
        /// Whether it contains an encrypted ClientHello, which only the server can read.
        is_encrypted: bool,
    },
}

use ClientHello::{Complete, Incomplete, Malformed};

impl ClientHello {
    /// Reads a client's first bytes, which may be split into several records.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Self {
        let mut message = Vec::new();
        let mut rest = bytes;
        loop {
            match rest {
                [] => return Incomplete,
                [HANDSHAKE, 3, 0..=4, high, low, behind @ ..] => {
                    let length = usize::from(u16::from_be_bytes([*high, *low]));
                    // Empty records are invalid for handshakes, and would make the loop read on without progress.
                    if length == 0 || length > MAX_RECORD {
                        return Malformed("one of its records has an invalid length");
                    }
                    let (part, behind) = behind.split_at_checked(length).unwrap_or((behind, &[]));
                    // A handshake message may span records (RFC 8446, section 5.1), and a client could split the
                    // server name between two.
                    message.extend_from_slice(part);
                    if let Some(read) = complete(&message) {
                        return read;
                    }
                    if part.len() < length {
                        return too_long(bytes);
                    }
                    rest = behind;
                }
                _ if rest.len() < RECORD_HEADER && is_beginning(rest) => return too_long(bytes),
                _ => return Malformed("it does not start with a TLS record"),
            }
        }
    }
}

fn is_beginning(bytes: &[u8]) -> bool {
    matches!(bytes, [HANDSHAKE] | [HANDSHAKE, 3] | [HANDSHAKE, 3, 0..=4, ..])
}

fn too_long(bytes: &[u8]) -> ClientHello {
    if bytes.len() >= MAX_CLIENT_HELLO { Malformed("its first message is too long") } else { Incomplete }
}

/// Reads a complete message.
fn complete(message: &[u8]) -> Option<ClientHello> {
    let &[kind, a, b, c, ref body @ ..] = message else {
        return match message.first() {
            Some(kind) if *kind != CLIENT_HELLO => Some(Malformed("it does not start with a `ClientHello`")),
            _ => None,
        };
    };
    if kind != CLIENT_HELLO {
        return Some(Malformed("it does not start with a `ClientHello`"));
    }
    let length = usize::try_from(u32::from_be_bytes([0, a, b, c])).unwrap_or(usize::MAX);
    if length > MAX_CLIENT_HELLO {
        return Some(Malformed("its first message is too long"));
    }
    let body = body.get(..length)?;
    Some(of_body(body).unwrap_or(Malformed("its `ClientHello` cannot be parsed")))
}

/// A reader of bytes.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn number(&mut self) -> Option<u16> {
        let &[high, low] = self.take(2)? else { return None };
        Some(u16::from_be_bytes([high, low]))
    }

    /// Reads a field that is preceded by its length.
    fn counted(&mut self) -> Option<Reader<'b>> {
        let length = self.number()?;
        self.take(usize::from(length)).map(Reader)
    }
}

fn of_body(body: &[u8]) -> Option<ClientHello> {
    let mut reader = Reader(body);
    // The version and the random value.
    reader.take(2 + 32)?;
    let session = reader.byte()?;
    reader.take(usize::from(session))?;
    reader.counted()?;
    let compressions = reader.byte()?;
    reader.take(usize::from(compressions))?;
    if reader.0.is_empty() {
        return Some(Complete { server_name: None, is_encrypted: false });
    }
    let mut extensions = reader.counted()?;
    if !reader.0.is_empty() {
        return None;
    }
    let (mut named, mut is_encrypted) = (None, false);
    while !extensions.0.is_empty() {
        let kind = extensions.number()?;
        let content = extensions.counted()?;
        match kind {
            // Servers may use either of two.
            SERVER_NAME if named.is_some() => return None,
            SERVER_NAME => named = Some(server_name(content)?),
            ENCRYPTED_HELLO => is_encrypted = true,
            _ => {}
        }
    }
    Some(Complete { server_name: named, is_encrypted })
}

/// Returns the only name of the list.
fn server_name(mut content: Reader<'_>) -> Option<String> {
    let mut list = content.counted()?;
    let kind = list.byte()?;
    let name = list.counted()?;
    if kind != HOST_NAME || !list.0.is_empty() || !content.0.is_empty() {
        return None;
    }
    let plain = |byte: &u8| byte.is_ascii_graphic();
    let is_name = !name.0.is_empty() && name.0.len() <= 255 && name.0.iter().all(plain);
    is_name.then(|| name.0.iter().map(|byte| char::from(byte.to_ascii_lowercase())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A first message with these extensions, in records of so many bytes.
    fn hello(extensions: &[(u16, Vec<u8>)], record: usize) -> Vec<u8> {
        let counted = |bytes: &[u8]| [&(bytes.len() as u16).to_be_bytes()[..], bytes].concat();
        let mut list = Vec::new();
        for (kind, content) in extensions {
            list.extend(kind.to_be_bytes());
            list.extend(counted(content));
        }
        let mut body = vec![3, 3];
        body.extend([7; 32]);
        body.extend([0, 0, 2, 0x13, 1, 1, 0]);
        body.extend(counted(&list));
        let mut message = vec![CLIENT_HELLO, 0];
        message.extend(counted(&body));
        let records = message.chunks(record).flat_map(|part| {
            let mut whole = vec![HANDSHAKE, 3, 1];
            whole.extend(counted(part));
            whole
        });
        records.collect()
    }

    fn named(name: &str) -> (u16, Vec<u8>) {
        let length = name.len() as u16;
        let mut content = (length + 3).to_be_bytes().to_vec();
        content.push(HOST_NAME);
        content.extend(length.to_be_bytes());
        content.extend(name.as_bytes());
        (SERVER_NAME, content)
    }

    fn complete(name: Option<&str>, is_encrypted: bool) -> ClientHello {
        Complete { server_name: name.map(str::to_owned), is_encrypted }
    }

    #[test]
    fn the_name_is_found_in_however_many_records() {
        for record in [1, 2, 3, 7, 50, 16_000] {
            let whole = hello(&[(10, vec![0, 0]), named("API.example.com"), (43, vec![2, 3, 4])], record);
            assert_eq!(ClientHello::read(&whole), complete(Some("api.example.com"), false), "{record}");
            for end in 0..whole.len() {
                assert_eq!(ClientHello::read(&whole[..end]), Incomplete, "{record} {end}");
            }
        }
        assert_eq!(ClientHello::read(&hello(&[], 100)), complete(None, false));
        assert_eq!(ClientHello::read(&hello(&[(ENCRYPTED_HELLO, vec![0])], 100)), complete(None, true));
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        let two_names = hello(&[named("a.example"), named("b.example")], 1000);
        let mut two_in_one = named("a.example");
        two_in_one.1.extend([0, 0, 1, b'b']);
        two_in_one.1[1] += 4;
        let mut behind = named("a.example");
        behind.1.push(0);
        for bad in [
            two_names,
            hello(&[two_in_one], 1000),
            hello(&[behind], 1000),
            hello(&[named("")], 1000),
            hello(&[named("a b")], 1000),
            hello(&[named("a\0.example")], 1000),
            b"GET / HTTP/1.1\r\n".to_vec(),
            b"SSH-2.0-x\r\n".to_vec(),
            vec![HANDSHAKE, 3, 1, 0, 0],
            vec![HANDSHAKE, 3, 1, 0xff, 0xff, 1],
            vec![HANDSHAKE, 3, 1, 0, 4, 2, 0, 0, 0],
            vec![HANDSHAKE, 3, 1, 0, 4, 1, 0xff, 0, 0],
            vec![0x80, 0x2e, 1, 3, 1],
        ] {
            assert!(matches!(ClientHello::read(&bad), Malformed(_)), "{bad:?}");
        }
    }
}
