//! The first bytes of what a part of a pattern matches, as a test that most places of a text fail.
//!
//! Known as a nibble or shuffle filter: Teddy (Hyperscan, `aho-corasick`) looks up the halves of each byte in small
//! tables, whose entries are sets of groups of literals. Here the groups are of sequences of byte sets, and one place is
//! asked at a time.

/// Number of bytes that are looked at.
pub(crate) const LENGTH: usize = 3;

/// Tables that tell whether a match can begin with the next bytes. There are false positives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Prefix {
    /// For each position and each lower half of a byte, the groups that accept it.
    pub(crate) low: [[u8; 16]; LENGTH],
    /// The same for the upper half.
    pub(crate) high: [[u8; 16]; LENGTH],
    /// For each position, the groups with sequences that end before it, which accept the end of the text.
    pub(crate) ended: [u8; LENGTH],
}

impl Prefix {
    /// Whether a match can begin with these bytes, which are all that is left of the text.
    #[inline]
    pub(crate) fn may_begin(&self, rest: &[u8]) -> bool {
        let ([first, second, third], ended) = (self.halves(), self.ended);
        let at = |tables: Halves<'_>, byte: u8| half(tables.0, byte) & half(tables.1, byte >> 4);
        let groups = match rest {
            [a, b, c, ..] => match at(first, *a) {
                // Most bytes begin nothing.
                0 => 0,
                groups => groups & at(second, *b) & at(third, *c),
            },
            [a, b] => at(first, *a) & at(second, *b) & ended[2],
            [a] => at(first, *a) & ended[1] & ended[2],
            [] => ended[0] & ended[1] & ended[2],
        };
        groups != 0
    }

    const fn halves(&self) -> [Halves<'_>; LENGTH] {
        let ([a, b, c], [p, q, r]) = (&self.low, &self.high);
        [(a, p), (b, q), (c, r)]
    }
}

/// The tables of the lower and the upper half of a byte.
type Halves<'p> = (&'p [u8; 16], &'p [u8; 16]);

#[inline]
#[expect(clippy::indexing_slicing, reason = "four bits are below sixteen")]
const fn half(table: &[u8; 16], byte: u8) -> u8 {
    table[(byte & 15) as usize]
}
