//! Parser of DNS queries and writer of responses (RFC 1035), with one question and one answer.

use std::net::Ipv4Addr;

/// Maximum length of a query.
pub const MAX_QUERY: usize = 512;

const HEADER: usize = 12;
/// Maximum length of an encoded name.
const MAX_WIRE_NAME: usize = 255;
const TYPE_A: u16 = 1;
const CLASS_INTERNET: u16 = 1;
/// The TTL of answers. Addresses stay valid for the whole run.
const SECONDS: u32 = 300;

/// A query for a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameQuery {
    id: [u8; 2],
    wants_recursion: bool,
    /// The question, byte for byte, because some resolvers check that the response has the same letter case (0x20 encoding).
    question: Vec<u8>,
    /// The name, in lower case and without a trailing dot.
    pub name: String,
    /// Whether the query is for an IPv4 address, the only answered type.
    pub wants_address: bool,
}

/// The answer to a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameAnswer {
    /// The address of the name.
    Address(Ipv4Addr),
    /// The name exists, but has no record of the requested type.
    Nothing,
    /// The name does not exist (NXDOMAIN).
    NoSuchName,
    /// A temporary failure (SERVFAIL).
    Failed,
}

impl NameQuery {
    /// Parses a message; nothing if it is not a valid query.
    #[must_use]
    pub fn read(message: &[u8]) -> Option<Self> {
        if message.len() > MAX_QUERY {
            return None;
        }
        let (header, body) = message.split_at_checked(HEADER)?;
        let &[id_high, id_low, flags, _, 0, 1, 0, 0, 0, 0, ..] = header else { return None };
        // A response, or another opcode than a query.
        if flags & 0b1111_1000 != 0 {
            return None;
        }
        let (name, length) = name(body)?;
        let end = length.checked_add(4)?;
        let question = body.get(..end)?;
        let &[kind_high, kind_low, class_high, class_low] = question.get(length..)? else { return None };
        let of_internet = u16::from_be_bytes([class_high, class_low]) == CLASS_INTERNET;
        Some(Self {
            id: [id_high, id_low],
            wants_recursion: flags & 1 != 0,
            question: question.to_vec(),
            name,
            wants_address: of_internet && u16::from_be_bytes([kind_high, kind_low]) == TYPE_A,
        })
    }

    /// Serializes the response.
    #[must_use]
    pub fn answer(&self, answer: NameAnswer) -> Vec<u8> {
        let code = match answer {
            NameAnswer::Address(_) | NameAnswer::Nothing => 0,
            NameAnswer::Failed => 2,
            NameAnswer::NoSuchName => 3,
        };
        let address = match answer {
            NameAnswer::Address(address) if self.wants_address => Some(address),
            _ => None,
        };
        let mut message = self.id.to_vec();
        // The response flag, and whether recursion is available.
        message.extend([0x80 | u8::from(self.wants_recursion), 0x80 | code]);
        message.extend([0, 1, 0, u8::from(address.is_some()), 0, 0, 0, 0]);
        message.extend(&self.question);
        if let Some(address) = address {
            // A pointer to the name in the question.
            message.extend([0xc0, HEADER as u8]);
            message.extend(TYPE_A.to_be_bytes());
            message.extend(CLASS_INTERNET.to_be_bytes());
            message.extend(SECONDS.to_be_bytes());
            message.extend([0, 4]);
            message.extend(address.octets());
        }
        message
    }
}

/// Parses an uncompressed name, and returns its length. A question has no earlier name to point to.
fn name(bytes: &[u8]) -> Option<(String, usize)> {
    let mut name = String::new();
    let mut at = 0usize;
    loop {
        let length = usize::from(*bytes.get(at)?);
        at = at.checked_add(1)?;
        if length == 0 {
            return (!name.is_empty()).then_some((name, at));
        }
        if length > 63 || at.checked_add(length)? > MAX_WIRE_NAME {
            return None;
        }
        let label = bytes.get(at..at.checked_add(length)?)?;
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
        if !label.iter().all(plain) {
            return None;
        }
        if !name.is_empty() {
            name.push('.');
        }
        name.extend(label.iter().map(|byte| char::from(byte.to_ascii_lowercase())));
        at = at.checked_add(length)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(name: &str, kind: u16) -> Vec<u8> {
        let mut message = vec![0xab, 0xcd, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in name.split('.') {
            message.push(label.len() as u8);
            message.extend(label.as_bytes());
        }
        message.push(0);
        message.extend(kind.to_be_bytes());
        message.extend([0, 1]);
        message
    }

    #[test]
    fn an_address_query_is_answered() {
        let query = NameQuery::read(&question("API.Example.com", 1)).unwrap();
        assert_eq!((query.name.as_str(), query.wants_address), ("api.example.com", true));
        let address = Ipv4Addr::new(198, 18, 0, 7);
        let answer = query.answer(NameAnswer::Address(address));
        assert_eq!(answer[..12], [0xab, 0xcd, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
        assert!(answer[12..].starts_with(b"\x03API\x07Example\x03com\0\0\x01\0\x01\xc0\x0c"));
        assert!(answer.ends_with(&[0, 4, 198, 18, 0, 7]));
        for kind in [2, 5, 12, 15, 16, 28, 33, 64, 65, 255] {
            let query = NameQuery::read(&question("api.example.com", kind)).unwrap();
            let answer = query.answer(NameAnswer::Address(address));
            assert_eq!((&answer[3..8], answer.len()), (&[0x80, 0, 1, 0, 0][..], 12 + 17 + 4), "{kind}");
        }
    }

    #[test]
    fn what_is_no_question_gets_no_answer() {
        let good = question("a.example", 1);
        assert!(NameQuery::read(&good).is_some());
        for end in 0..good.len() {
            assert_eq!(NameQuery::read(&good[..end]), None, "{end}");
        }
        let changed = |at: usize, to: u8| {
            let mut bad = good.clone();
            bad[at] = to;
            bad
        };
        for (at, to) in [
            (2, 0x80),
            (2, 0x28),
            (4, 1),
            (5, 0),
            (5, 2),
            (7, 1),
            (9, 1),
            (12, 0xc0),
            (12, 64),
            (13, b'.'),
            (13, 0),
        ] {
            assert_eq!(NameQuery::read(&changed(at, to)), None, "{at} {to}");
        }
        assert_eq!(NameQuery::read(&question(&vec!["a"; 200].join("."), 1)), None);
        assert_eq!(NameQuery::read(&[good.clone(), vec![0; 600]].concat()), None);
    }
}
