//! Digests and keys as they are written down.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// A digest, or a key.
pub(crate) type Bytes32 = [u8; 32];

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads what [`to_hex`] writes, and nothing else.
pub(crate) fn from_hex(text: &str) -> Option<Bytes32> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let pairs: Option<Vec<u8>> = text
        .as_bytes()
        .chunks(2)
        .map(|pair| Some(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?))
        .collect();
    pairs?.try_into().ok()
}

pub(crate) fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}
