//! Kinds of bytes that the frequency model distinguishes.

/// Number of kinds of bytes.
pub(crate) const KINDS: usize = 115;

/// Returns the kind of a byte: each typed ASCII character has its own, the rest are grouped.
pub(crate) const fn kind(byte: u8) -> usize {
    (match byte {
        b'\t' => 1,
        b'\n' => 2,
        b'\r' => 3,
        0x00..=0x1f | 0x7f => 0,
        0x20..=0x7e => byte - 0x20 + 4,
        0x80..=0xbf => 99 + (byte >> 4 & 3),
        0xc0..=0xcf => 103,
        0xd0..=0xdf => 104,
        0xe0..=0xe3 => 105 + (byte - 0xe0),
        0xe4..=0xe9 => 109,
        0xea..=0xed => 110,
        0xee | 0xef => 111 + (byte - 0xee),
        0xf0 => 113,
        0xf1..=0xff => 114,
    }) as usize
}
