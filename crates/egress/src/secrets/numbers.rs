//! Decoders for bytes that are written as numbers: `[103, 104, 112]`, `67:68:70`, `0x67 0x68`, hex dumps.
//!
//! This is how Node and Go print buffers, and how tools show certificates and memory.

use stockade_text::hex_digit;

use super::decoded::Decoded;

/// How the numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// Decimal numbers up to 255.
    Decimal,
    /// Pairs of hexadecimal digits, up to eight digits without a separator.
    Hex,
    /// Three octal digits, as `od -b` prints.
    Octal,
}

pub(super) const NUMBERS: [Numbers; 3] = [Numbers::Decimal, Numbers::Hex, Numbers::Octal];

/// Minimum number of digits in a list of eight bytes of a secret: none of them is below 10.
const MIN_DIGITS: usize = 16;

/// Each list contains so many bytes of numbers and separators at a multiple of [`STRIDE`].
const PROBE: usize = 4;

/// The distance between two probes, so that one lies completely within each list.
const STRIDE: usize = MIN_DIGITS - PROBE + 1;

/// Whether a byte can be a part of a list: a digit, the `x` of `0x`, or a separator.
const IS_IN_LIST: [bool; 256] = {
    let mut table = [false; 256];
    let (mut rest, mut byte) = (table.as_mut_slice(), 0_u8);
    while let [first, behind @ ..] = rest {
        *first = byte.is_ascii_hexdigit()
            || byte.is_ascii_punctuation()
            || byte.is_ascii_whitespace()
            || matches!(byte, b'x' | b'X');
        (rest, byte) = (behind, byte.wrapping_add(1));
    }
    table
};

fn is_in_list(byte: &u8) -> bool {
    IS_IN_LIST.get(usize::from(*byte)).copied().unwrap_or_default()
}

/// Decodes each list of numbers in a text, in each of the three ways.
pub(super) fn regions(text: &[u8], each: &mut dyn FnMut(&Decoded)) {
    let (mut done, mut decoded) = (0, Decoded::list());
    for at in (0..text.len()).step_by(STRIDE) {
        let probe = text.get(at..at + PROBE).unwrap_or_default();
        // Each printable byte has a digit in all three bases.
        let is_list = probe.iter().any(u8::is_ascii_digit) && probe.iter().all(is_in_list);
        if at < done || !is_list {
            continue;
        }
        let (before, rest) = text.split_at(at);
        let before = before.get(done..).unwrap_or_default();
        let from = at - before.iter().rev().take_while(|byte| is_in_list(byte)).count();
        done = at + rest.iter().take_while(|byte| is_in_list(byte)).count();
        let list = text.get(from..done).unwrap_or_default();
        // Indented lines and rules consist of separators.
        if list.len() >= MIN_DIGITS
            && list.iter().filter(|byte| byte.is_ascii_hexdigit()).count() >= MIN_DIGITS
        {
            for numbers in NUMBERS {
                decoded.clear();
                numbers.decode_into(list, from, &mut decoded);
                each(&decoded);
            }
        }
    }
}

impl Numbers {
    /// Decodes a text that begins at this position.
    pub(super) fn decode(self, text: &[u8], at: usize) -> Decoded {
        let mut decoded = Decoded::list();
        self.decode_into(text, at, &mut decoded);
        decoded
    }

    fn decode_into(self, text: &[u8], at: usize, decoded: &mut Decoded) {
        let mut from = at;
        for word in text.split(|byte| !byte.is_ascii_alphanumeric()) {
            self.number(word, from, decoded);
            from += word.len() + 1;
        }
    }

    /// Decodes a text that continues, so that its last number may not be complete.
    pub(super) fn decode_begun(self, text: &[u8], at: usize) -> Decoded {
        let last = text.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let left_out = match self {
            Self::Hex => last % 2,
            Self::Decimal | Self::Octal => last,
        };
        self.decode(text.get(..text.len() - left_out).unwrap_or_default(), at)
    }

    fn number(self, word: &[u8], at: usize, into: &mut Decoded) {
        if word.is_empty() {
            return;
        }
        let end = at + word.len();
        let digits = word.strip_prefix(b"0x").or_else(|| word.strip_prefix(b"0X"));
        let digits = digits.or_else(|| word.strip_prefix(b"x")).unwrap_or(word);
        let start = end - digits.len();
        match self {
            Self::Hex if digits.len() <= 8 && digits.len().is_multiple_of(2) => {
                for (pair, at) in digits.chunks(2).zip((start..).step_by(2)) {
                    into.byte(value_of(pair, 16).unwrap_or_default(), at, at + 2);
                }
            }
            Self::Decimal if digits.len() <= 3 => into.byte(value_of(word, 10).unwrap_or_default(), at, end),
            Self::Octal if digits.len() == 3 => into.byte(value_of(word, 8).unwrap_or_default(), at, end),
            // Separates what is before it from what follows.
            _ => into.byte(0, at, end),
        }
    }
}

fn value_of(digits: &[u8], radix: u16) -> Option<u8> {
    let value = digits.iter().try_fold(0_u16, |sum, digit| {
        let digit = u16::from(hex_digit(*digit)?);
        (digit < radix).then_some(sum * radix + digit)
    });
    u8::try_from(value?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_numbers_are_bytes() {
        for (text, expected) in [
            ("[103, 104, 112, 95, 82, 69, 65, 76]", "ghp_REAL"),
            ("<Buffer 67 68 70 5f 52 45 41 4c>", "ghp_REAL"),
            ("67:68:70:5F:52:45:41:4C", "ghp_REAL"),
            ("{0x67,0x68,0x70,0x5f,0x52,0x45,0x41,0x4c}", "ghp_REAL"),
            ("0000000 147 150 160 137 122 105 101 114\n", "ghp_REAL"),
            ("00000000: 6768 705f 5245 414c  ghp_REAL", "ghp_REAL"),
            ("words: 103\n104\n112\n95\n82\n69\n65\n76\n and more words", "ghp_REAL"),
        ] {
            let mut all = Vec::new();
            regions(text.as_bytes(), &mut |decoded| {
                all.push(String::from_utf8_lossy(decoded.bytes()).into_owned());
            });
            assert!(all.iter().any(|one| one.contains(expected)), "{text}: {all:?}");
        }
    }

    #[test]
    fn a_number_knows_its_place() {
        let decoded = Numbers::Hex.decode(b"0x67, 6870", 7);
        assert_eq!(decoded.bytes(), b"ghp");
        let places: Vec<_> =
            (0..3).map(|index| (decoded.start_of(index), decoded.end_before(index + 1))).collect();
        assert_eq!(places, [(9, 11), (13, 15), (15, 17)]);
    }
}
