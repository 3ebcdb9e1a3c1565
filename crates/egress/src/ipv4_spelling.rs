//! IPv4 addresses in all numeric notations that some program accepts.

use std::net::Ipv4Addr;

/// Returns whether the last part of a host makes programs parse all of it as a number.
pub(super) fn looks_like_one(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    !last.is_empty() && (last.bytes().all(|byte| byte.is_ascii_digit()) || part(last).is_some())
}

/// Parses one to four parts, each decimal, octal or hexadecimal; the last one has the remaining bytes (`inet_aton`).
pub(super) fn read(host: &str) -> Option<Ipv4Addr> {
    let parts: Vec<u32> = host.split('.').map(part).collect::<Option<_>>()?;
    let (last, first) = parts.split_last().filter(|(_, first)| first.len() <= 3)?;
    let mut bits = 0_u32;
    for part in first {
        bits = bits << 8 | u32::from(u8::try_from(*part).ok()?);
    }
    let room = 32 - 8 * u32::try_from(first.len()).ok()?;
    let fits = room == 32 || *last < 1 << room;
    // A single part has nothing before it, and a shift by 32 bits would overflow.
    let before = bits.checked_shl(room).unwrap_or(0);
    fits.then_some(Ipv4Addr::from_bits(before | last))
}

fn part(text: &str) -> Option<u32> {
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (text.get(2..)?, 16),
        [b'0', _, ..] => (text, 8),
        _ => (text, 10),
    };
    // `from_str_radix` also accepts a sign.
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    match digits {
        "" => Some(0),
        digits => u32::from_str_radix(digits, radix).ok(),
    }
    .filter(|_| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_an_address() {
        for (text, address) in [
            ("127.0.0.1", Some("127.0.0.1")),
            ("2130706433", Some("127.0.0.1")),
            ("0x7f000001", Some("127.0.0.1")),
            ("0X7F.1", Some("127.0.0.1")),
            ("017700000001", Some("127.0.0.1")),
            ("0177.0.0.01", Some("127.0.0.1")),
            ("127.1", Some("127.0.0.1")),
            ("127.0.257", Some("127.0.1.1")),
            ("0", Some("0.0.0.0")),
            ("0x", Some("0.0.0.0")),
            ("4294967295", Some("255.255.255.255")),
            ("4294967296", None),
            ("256.0.0.1", None),
            ("127.0.0.256", None),
            ("127.0.65536", None),
            ("1.2.3.4.5", None),
            ("08.0.0.1", None),
            ("+1", None),
            ("1..2", None),
            ("", None),
        ] {
            assert_eq!(read(text), address.map(|address| address.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn what_ends_in_a_number_is_one_or_nothing() {
        for (host, is) in
            [("1.2.3.4", true), ("example.0x7f", true), ("a.08", true), ("a.1b", false), ("0xg", false)]
        {
            assert_eq!(looks_like_one(host), is, "{host}");
        }
    }
}
