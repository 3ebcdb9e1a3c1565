//! Fingerprint of a list of patterns: the 64-bit FNV-1a hash.

/// The fingerprint of no patterns.
pub(crate) const OF_NONE: u64 = 0xcbf2_9ce4_8422_2325;

const PRIME: u64 = 0x0000_0100_0000_01b3;

/// Returns the fingerprint of a list with one more pattern.
pub(crate) const fn add(mut hash: u64, pattern: &str) -> u64 {
    let mut bytes = pattern.as_bytes();
    while let [byte, more @ ..] = bytes {
        hash = (hash ^ *byte as u64).wrapping_mul(PRIME);
        bytes = more;
    }
    // No pattern contains this byte, so the boundaries between patterns are unambiguous.
    (hash ^ 0xff).wrapping_mul(PRIME)
}
