//! Percent-encoding (RFC 3986, section 2.1).

use crate::hex::{hex_byte, push_hex};

/// Upper-case digits, which the standard asks for.
const DIGITS: &[u8; 16] = b"0123456789ABCDEF";

/// Appends bytes as text: ASCII that is plain as it is, everything else as `%XX`.
pub fn push_percent_encoded(text: &mut String, bytes: &[u8], is_plain: impl Fn(u8) -> bool) {
    for byte in bytes {
        match byte.is_ascii() && is_plain(*byte) {
            true => text.push(char::from(*byte)),
            false => {
                text.push('%');
                push_hex(text, *byte, DIGITS);
            }
        }
    }
}

/// Whether RFC 3986 calls a byte unreserved (section 2.3): it means itself everywhere in a URI.
#[must_use]
pub const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Returns the byte of the `%XX` that a text begins with, if it begins with one.
#[must_use]
pub fn percent_byte(text: &[u8]) -> Option<u8> {
    match text {
        [b'%', high, low, ..] => hex_byte(*high, *low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        let mut text = String::new();
        push_percent_encoded(&mut text, "a b/\u{e4}~%".as_bytes(), is_unreserved);
        assert_eq!(text, "a%20b%2F%C3%A4~%25");
        assert_eq!(percent_byte(b"%2Fx"), Some(b'/'));
        assert_eq!(percent_byte(b"%c3"), Some(0xc3));
        for incomplete in ["", "%", "%2", "%2g", "a%20", "%+1"] {
            assert_eq!(percent_byte(incomplete.as_bytes()), None, "{incomplete}");
        }
    }

    #[test]
    fn other_bytes_are_never_plain() {
        let mut text = String::new();
        push_percent_encoded(&mut text, b"a\xff", |_| true);
        assert_eq!(text, "a%FF");
    }
}
