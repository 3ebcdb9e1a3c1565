//! Reads what a program asks a resolver, and writes what it is told (RFC 1035). One question, one answer, nothing else.

use std::net::Ipv4Addr;

/// The longest message that is read: a question is never longer.
pub const MAX_QUERY: usize = 512;

const HEADER: usize = 12;
/// The longest name as it lies in a message.
const MAX_WIRE_NAME: usize = 255;
const TYPE_A: u16 = 1;
const CLASS_INTERNET: u16 = 1;
/// How long an answer holds: as long as the run, and no run lasts for a day without asking again.
const SECONDS: u32 = 300;

/// A question about a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameQuery {
    id: [u8; 2],
    wants_recursion: bool,
    /// The question, byte for byte: some programs tell by the case of its letters whether they got the answer.
    question: Vec<u8>,
    /// The name, in lower case and without a dot at its end.
    pub name: String,
    /// Whether it is asked for an address of IPv4, which is all that is ever told.
    pub wants_address: bool,
}

/// What a program is told that looks a name up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameAnswer {
    /// The address of the name.
    Address(Ipv4Addr),
    /// There is such a name, and nothing of the kind that was asked for.
    Nothing,
    /// The name does not exist (NXDOMAIN).
    NoSuchName,
    /// It cannot be said now.
    Failed,
}

impl NameQuery {
    /// Reads a message; nothing if it is no question that anybody has to be answered.
    #[must_use]
    pub fn read(message: &[u8]) -> Option<Self> {
        if message.len() > MAX_QUERY {
            return None;
        }
        let (header, body) = message.split_at_checked(HEADER)?;
        let &[id_high, id_low, flags, _, 0, 1, 0, 0, 0, 0, ..] = header else { return None };
        // An answer, or something else than a question.
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

    /// Writes the answer.
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
            // The name is the one in the question.
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

/// Reads a name that is written out, and says how many bytes that takes. In a question there is nothing to refer to.
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
