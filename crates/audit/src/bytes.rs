//! Digests and keys as they are written down.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// A digest, or a key.
pub(crate) type Bytes32 = [u8; 32];

/// Parses a digest as records spell it, in lower case: one digest has one spelling.
pub(crate) fn from_hex(text: &str) -> Option<Bytes32> {
    let is_spelling = !text.bytes().any(|byte| byte.is_ascii_uppercase());
    is_spelling.then(|| stockade_text::from_hex(text.as_bytes()))??.try_into().ok()
}

pub(crate) fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}
