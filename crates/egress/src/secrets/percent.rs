//! Percent-encoding of URLs and forms.

use stockade_text::{is_unreserved, percent_byte, push_percent_encoded};

/// Decodes a name or a value of a form.
pub(super) fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().iter();
    let mut out = Vec::with_capacity(text.len());
    loop {
        let escaped = percent_byte(bytes.as_slice());
        let Some(byte) = bytes.next() else { return out };
        match *byte {
            b'+' => out.push(b' '),
            b'%' => {
                out.push(escaped.unwrap_or(b'%'));
                if escaped.is_some() {
                    bytes.nth(1);
                }
            }
            byte => out.push(byte),
        }
    }
}

/// Encodes a value for URLs and forms (RFC 3986, section 2.3).
pub(super) fn encode(value: &[u8], out: &mut String) {
    push_percent_encoded(out, value, is_unreserved);
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
