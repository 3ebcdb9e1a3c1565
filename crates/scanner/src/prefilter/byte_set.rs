//! A set of bytes.

use std::ops::{BitAnd, BitOr};

/// A set of bytes, as 256 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct ByteSet(pub(crate) [u64; 4]);

impl ByteSet {
    pub(crate) const ANY: Self = Self([u64::MAX; 4]);
    pub(crate) const LINE_END: Self = Self::range(b'\n', b'\n');
    /// The word bytes of `\w` and `\b`.
    pub(crate) const WORD: Self = Self::range(b'0', b'9')
        .or(Self::range(b'A', b'Z'))
        .or(Self::range(b'a', b'z'))
        .or(Self::range(b'_', b'_'));

    /// Returns the set of the bytes from `first` to `last`.
    pub(crate) const fn range(first: u8, last: u8) -> Self {
        let up_to = Self::below(last as usize + 1);
        let before = Self::below(first as usize);
        let ([a, b, c, d], [p, q, r, s]) = (up_to, before);
        Self([a & !p, b & !q, c & !r, d & !s])
    }

    /// The bits of all bytes smaller than `end`.
    const fn below(end: usize) -> [u64; 4] {
        const fn word(end: usize, index: usize) -> u64 {
            match end.saturating_sub(index * 64) {
                0 => 0,
                bits if bits >= 64 => u64::MAX,
                bits => (1 << bits) - 1,
            }
        }
        [word(end, 0), word(end, 1), word(end, 2), word(end, 3)]
    }

    pub(crate) const fn or(self, other: Self) -> Self {
        let (Self([a, b, c, d]), Self([p, q, r, s])) = (self, other);
        Self([a | p, b | q, c | r, d | s])
    }

    pub(crate) const fn not(self) -> Self {
        let Self([a, b, c, d]) = self;
        Self([!a, !b, !c, !d])
    }

    #[inline]
    #[expect(clippy::indexing_slicing, reason = "a byte shifted by six is below four")]
    pub(crate) const fn contains(&self, byte: u8) -> bool {
        self.0[(byte >> 6) as usize] >> (byte & 63) & 1 != 0
    }

    pub(crate) fn len(self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(crate) fn is_empty(self) -> bool {
        self == Self::default()
    }

    pub(crate) fn is_subset(self, of: Self) -> bool {
        self & of == self
    }

    pub(crate) fn bytes(self) -> impl Iterator<Item = u8> {
        let words = [0, 64, 128, 192].into_iter().zip(self.0);
        words.flat_map(|(first, word)| ones(word).map(move |bit| first + bit))
    }
}

/// Iterates over the positions of the set bits of a word.
pub(super) fn ones(word: u64) -> impl Iterator<Item = u8> {
    let clear_lowest = |&word: &u64| Some(word & (word - 1)).filter(|&rest| rest != 0);
    std::iter::successors(Some(word).filter(|&word| word != 0), clear_lowest)
        .map(|word| word.trailing_zeros().to_le_bytes()[0])
}

impl BitAnd for ByteSet {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        self.not().or(other.not()).not()
    }
}

impl BitOr for ByteSet {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.or(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_their_ends_and_nothing_else() {
        for (first, last) in [(0, 0), (0, 255), (63, 64), (b'a', b'z'), (128, 191), (255, 255)] {
            let set = ByteSet::range(first, last);
            assert!((0..=u8::MAX).all(|byte| set.contains(byte) == (first..=last).contains(&byte)));
            assert_eq!(set.bytes().collect::<Vec<_>>(), (first..=last).collect::<Vec<_>>());
            assert_eq!(set.len(), usize::from(last - first) + 1);
        }
    }

    #[test]
    fn sets_combine() {
        let (low, high) = (ByteSet::range(0, 99), ByteSet::range(50, 255));
        assert_eq!(low & high, ByteSet::range(50, 99));
        assert_eq!(low | high, ByteSet::ANY);
        assert!((low & high).is_subset(low) && !low.is_subset(high));
        assert!((low & low.not()).is_empty());
    }
}
