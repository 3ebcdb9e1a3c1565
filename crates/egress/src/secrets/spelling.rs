//! The encodings that change the bytes of a secret in groups: base64, base32, hexadecimal, UTF-16.
//!
//! Escapes, line breaks and lists of numbers are decoded before the search, in [`readings`](super::readings) and
//! [`numbers`](super::numbers).

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// An encoding of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    Plain,
    /// Base64 after this many other bytes, in the standard or URL alphabet.
    Base64 {
        behind: usize,
        for_urls: bool,
    },
    /// Base32 (RFC 4648) after this many other bytes.
    Base32 {
        behind: usize,
    },
    Hex,
    Utf16 {
        is_big_endian: bool,
    },
}

pub(super) const SPELLINGS: &[Spelling] = &[
    Spelling::Plain,
    Spelling::Base64 { behind: 0, for_urls: false },
    Spelling::Base64 { behind: 1, for_urls: false },
    Spelling::Base64 { behind: 2, for_urls: false },
    Spelling::Base64 { behind: 0, for_urls: true },
    Spelling::Base64 { behind: 1, for_urls: true },
    Spelling::Base64 { behind: 2, for_urls: true },
    Spelling::Base32 { behind: 0 },
    Spelling::Base32 { behind: 1 },
    Spelling::Base32 { behind: 2 },
    Spelling::Base32 { behind: 3 },
    Spelling::Base32 { behind: 4 },
    Spelling::Hex,
    Spelling::Utf16 { is_big_endian: false },
    Spelling::Utf16 { is_big_endian: true },
];

const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

impl Spelling {
    /// Returns the bytes of the encoded value that do not depend on its surroundings.
    pub(super) fn of(self, value: &[u8]) -> Vec<u8> {
        match self {
            Self::Plain => value.to_vec(),
            Self::Hex => stockade_text::to_hex(value).into_bytes(),
            Self::Utf16 { is_big_endian: true } => value.iter().flat_map(|byte| [0, *byte]).collect(),
            Self::Utf16 { is_big_endian: false } => value.iter().flat_map(|byte| [*byte, 0]).collect(),
            Self::Base64 { behind, for_urls } => {
                // Without padding, because it depends on what follows the value.
                let engine = if for_urls { URL_SAFE_NO_PAD } else { STANDARD_NO_PAD };
                self.without_edges(engine.encode(after(behind, value)).into_bytes(), behind + value.len())
            }
            Self::Base32 { behind } => {
                self.without_edges(base32(&after(behind, value)), behind + value.len())
            }
        }
    }

    /// Removes the characters that contain bits of neighbouring bytes.
    fn without_edges(self, text: Vec<u8>, bytes: usize) -> Vec<u8> {
        let of_both = usize::from(!(bytes * 8).is_multiple_of(self.bits()));
        let length = text.len().saturating_sub(self.skipped() + of_both);
        text.into_iter().skip(self.skipped()).take(length).collect()
    }

    /// The number of bits of the value in a byte of the encoded text.
    const fn bits(self) -> usize {
        match self {
            Self::Plain => 8,
            Self::Hex | Self::Utf16 { .. } => 4,
            Self::Base64 { .. } => 6,
            Self::Base32 { .. } => 5,
        }
    }

    /// The number of bytes before the value in its group.
    const fn behind(self) -> usize {
        match self {
            Self::Base64 { behind, .. } | Self::Base32 { behind } => behind,
            Self::Plain | Self::Hex | Self::Utf16 { .. } => 0,
        }
    }

    /// The number of characters before the first that the value alone determines.
    const fn skipped(self) -> usize {
        (self.behind() * 8).div_ceil(self.bits())
    }

    /// Returns the length of encoded text that contains this many bytes of a value.
    pub(super) const fn length_of(self, bytes: usize) -> usize {
        (bytes * 8).div_ceil(self.bits())
    }

    /// Returns the bytes of the value, as first and end, of which a part of the encoded text contains bits.
    pub(super) const fn source_of(self, from: usize, to: usize) -> (usize, usize) {
        let first = ((from + self.skipped()) * self.bits() / 8).saturating_sub(self.behind());
        let end = ((to + self.skipped()) * self.bits()).div_ceil(8).saturating_sub(self.behind());
        (first, end)
    }

    /// Returns a byte that is valid in the same encoding.
    pub(super) const fn filler(self) -> u8 {
        match self {
            Self::Hex => b'0',
            Self::Base64 { .. } | Self::Base32 { .. } => b'A',
            Self::Plain | Self::Utf16 { .. } => super::scrub::FILLER,
        }
    }
}

fn after(behind: usize, value: &[u8]) -> Vec<u8> {
    std::iter::repeat_n(0, behind).chain(value.iter().copied()).collect()
}

fn base32(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len() * 2);
    let (mut bits, mut count) = (0_u32, 0);
    let mut digit = |five: u32| text.extend(BASE32.get((five & 31) as usize));
    for byte in bytes {
        bits = (bits << 8) | u32::from(*byte);
        count += 8;
        while count >= 5 {
            count -= 5;
            digit(bits >> count);
        }
        bits &= 31;
    }
    if count > 0 {
        digit(bits << (5 - count));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base32_is_that_of_the_rfc() {
        for (text, expected) in [
            ("", ""),
            ("f", "MY"),
            ("fo", "MZXQ"),
            ("foo", "MZXW6"),
            ("foob", "MZXW6YQ"),
            ("foobar", "MZXW6YTBOI"),
        ] {
            assert_eq!(String::from_utf8(base32(text.as_bytes())).unwrap(), expected);
        }
    }

    /// Each encoded form occurs in the encoding of the value between other bytes.
    #[test]
    fn a_form_does_not_depend_on_its_surroundings() {
        let value = b"q7Zk2Vb9Lm4Wt8Rj3Hd6";
        for spelling in SPELLINGS {
            for around in [b'x', 0xff] {
                let whole: Vec<u8> = std::iter::repeat_n(around, spelling.behind())
                    .chain(value.iter().copied())
                    .chain([around; 7])
                    .collect();
                let text = match spelling {
                    Spelling::Base64 { .. } => STANDARD_NO_PAD.encode(&whole).into_bytes(),
                    Spelling::Base32 { .. } => base32(&whole),
                    other => other.of(&whole),
                };
                let form = spelling.of(value);
                assert_eq!(text.get(spelling.skipped()..spelling.skipped() + form.len()), Some(&*form));
                assert_eq!(spelling.source_of(0, form.len()), (0, value.len()), "{spelling:?}");
            }
        }
    }
}
