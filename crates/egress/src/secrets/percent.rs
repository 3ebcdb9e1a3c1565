//! Percent-escapes of addresses and forms.

use std::fmt::Write as _;

/// Decodes a name or a value of a form.
pub(super) fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().iter();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        match *byte {
            b'+' => out.push(b' '),
            b'%' => {
                let rest = bytes.as_slice();
                let digit = |at: usize| rest.get(at).and_then(|digit| char::from(*digit).to_digit(16));
                match (digit(0), digit(1)) {
                    (Some(high), Some(low)) => {
                        out.push(u8::try_from(high * 16 + low).unwrap_or_default());
                        bytes.nth(1);
                    }
                    _ => out.push(b'%'),
                }
            }
            byte => out.push(byte),
        }
    }
    out
}

/// Encodes a value for a URL and a form (RFC 3986, 2.3).
pub(super) fn encode(value: &[u8], out: &mut String) {
    for byte in value {
        match byte {
            byte if is_unreserved(*byte) => out.push(char::from(*byte)),
            // Writing to a text does not fail.
            byte => drop(write!(out, "%{byte:02X}")),
        }
    }
}

pub(super) const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        for text in ["a b%&=+/?\u{e4}", "", "%41"] {
            let mut encoded = String::new();
            encode(text.as_bytes(), &mut encoded);
            assert!(encoded.bytes().all(|byte| is_unreserved(byte) || byte == b'%'), "{encoded}");
            assert_eq!(decoded(&encoded), text.as_bytes());
        }
        assert_eq!(decoded("%4%zz+%41"), b"%4%zz A");
    }
}
