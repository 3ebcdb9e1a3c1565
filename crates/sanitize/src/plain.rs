//! Plain text, which no step changes, is skipped at memory speed; and offsets counted in characters.

/// Bytes inspected per step; small enough that texts with a few symbols are not inspected twice too often.
const CHUNK: usize = 32;

/// Returns the offset, starting at `at`, of the first byte that is not plain: not printable ASCII, tab or line feed.
/// Returns the length of `bytes` if all of it is plain.
pub(crate) fn skip_plain(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let (chunks, tail) = rest.as_chunks::<CHUNK>();
    for (nth, chunk) in chunks.iter().enumerate() {
        if !all_plain(chunk) {
            return at + nth * CHUNK + plain_len(chunk);
        }
    }
    at + chunks.len() * CHUNK + plain_len(tail)
}

/// No early exit, so that it compiles to a few vector instructions.
fn all_plain(chunk: &[u8; CHUNK]) -> bool {
    chunk.iter().fold(true, |plain, &byte| plain & is_plain(byte))
}

/// Returns the number of plain bytes at the start, eight at a time.
fn plain_len(bytes: &[u8]) -> usize {
    let (words, tail) = bytes.as_chunks::<8>();
    for (nth, word) in words.iter().enumerate() {
        let odd = odd_bytes(u64::from_le_bytes(*word));
        if odd != 0 {
            return nth * 8 + odd.trailing_zeros() as usize / 8;
        }
    }
    let within = tail.iter().position(|&byte| !is_plain(byte));
    words.len() * 8 + within.unwrap_or(tail.len())
}

/// Sets the top bit of each byte of `word` that is not plain. No operation carries from one byte into the next.
const fn odd_bytes(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x80 * ONES;
    const LOWS: u64 = !TOPS;
    const fn equal_to(word: u64, byte: u8) -> u64 {
        let differing = word ^ (byte as u64 * ONES);
        !(((differing & LOWS) + LOWS) | differing) & TOPS
    }
    let control = !((word | TOPS) - 0x20 * ONES) & TOPS;
    let line_end_or_tab = equal_to(word, b'\n') | equal_to(word, b'\t');
    let delete = (word & LOWS) + ONES;
    (word | delete | (control & !line_end_or_tab)) & TOPS
}

/// Printable ASCII, tab and line feed. A printable byte plus one is greater than a space as a signed number, and no
/// other byte is: one comparison instead of two limits.
const fn is_plain(byte: u8) -> bool {
    const SPACE: i8 = b' '.cast_signed();
    (byte.wrapping_add(1).cast_signed() > SPACE) | (byte == b'\t') | (byte == b'\n')
}

/// Returns the offset of character number `nth`, counted from 0; `None` if there are at most `nth` characters.
pub(crate) fn char_offset(text: &str, nth: usize) -> Option<usize> {
    let begins_char = |byte: u8| byte & 0xC0 != 0x80;
    let (mut skipped, mut left) = (0, nth);
    // Whole blocks without an early exit, for the same reason as above.
    let (blocks, _) = text.as_bytes().as_chunks::<64>();
    for block in blocks {
        let chars = block.iter().fold(0_u8, |chars, &byte| chars.wrapping_add(u8::from(begins_char(byte))));
        let Some(rest) = left.checked_sub(usize::from(chars)) else { break };
        (skipped, left) = (skipped + block.len(), rest);
    }
    let rest = text.as_bytes().get(skipped..)?.iter();
    let mut starts = rest.enumerate().filter(|(_, byte)| begins_char(**byte));
    starts.nth(left).map(|(at, _)| skipped + at)
}

#[cfg(test)]
mod tests {
    use super::{char_offset, is_plain, skip_plain};

    #[test]
    fn every_byte_is_told_apart_at_every_place() {
        for len in 0..100 {
            assert_eq!(skip_plain(&vec![b'a'; len], 0), len);
            for odd in (0..=255).filter(|&byte| !is_plain(byte)) {
                let mut bytes = vec![b'~'; 100];
                bytes[len] = odd;
                assert_eq!(skip_plain(&bytes, len / 2), len);
            }
        }
    }

    #[test]
    fn past_the_end_there_is_nothing_to_skip() {
        assert_eq!(skip_plain(b"abc", 3), 3);
    }

    #[test]
    fn characters_are_counted() {
        let text = "aé漢😀";
        let offsets: Vec<_> = (0..6).map(|nth| char_offset(text, nth)).collect();
        assert_eq!(offsets, [Some(0), Some(1), Some(3), Some(6), None, None]);
        assert_eq!(char_offset("", 0), None);
        let long = text.repeat(200);
        for (nth, (at, _)) in long.char_indices().enumerate() {
            assert_eq!(char_offset(&long, nth), Some(at));
        }
        assert_eq!(char_offset(&long, 800), None);
    }

    #[test]
    fn plain_is_printable_ascii_tab_and_line_feed() {
        for byte in 0..=255 {
            assert_eq!(is_plain(byte), matches!(byte, b' '..=b'~' | b'\t' | b'\n'), "{byte}");
        }
    }
}
