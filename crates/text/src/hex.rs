//! Bytes as hexadecimal digits.

/// The digits, by their values.
const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Returns bytes as lower-case hexadecimal digits, two for each byte.
#[must_use]
pub fn to_hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        push_hex(&mut digits, *byte, DIGITS);
    }
    digits
}

/// Parses hexadecimal digits of either case. Returns `None` for an odd number of digits or any other character.
#[must_use]
pub fn from_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| hex_byte(*high, *low)).collect();
    if rest.is_empty() { bytes } else { None }
}

/// Returns the byte that two hexadecimal digits represent.
#[must_use]
pub fn hex_byte(high: u8, low: u8) -> Option<u8> {
    Some(hex_digit(high)? << 4 | hex_digit(low)?)
}

/// Returns the value of a hexadecimal digit.
#[must_use]
pub const fn hex_digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

/// Appends a byte as two of these digits.
pub(crate) fn push_hex(text: &mut String, byte: u8, digits: &[u8; 16]) {
    for value in [byte >> 4, byte & 15] {
        // A value of four bits always has a digit.
        let digit = digits.get(usize::from(value)).copied().unwrap_or(b'0');
        text.push(char::from(digit));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_represent_bytes() {
        let all: Vec<u8> = (0..=255).collect();
        let digits = to_hex(&all);
        assert!(digits.starts_with("000102") && digits.ends_with("fdfeff"), "{digits}");
        assert_eq!(from_hex(digits.as_bytes()), Some(all.clone()));
        assert_eq!(from_hex(digits.to_uppercase().as_bytes()), Some(all));
    }

    #[test]
    fn other_text_is_refused() {
        for text in ["0", "0g", "+1", " 1", "0x", "\u{661}\u{661}"] {
            assert_eq!(from_hex(text.as_bytes()), None, "{text}");
        }
        assert_eq!(from_hex(b""), Some(Vec::new()));
    }
}
