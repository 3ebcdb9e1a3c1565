//! Which shapes can possibly match a text, and where.

use std::ops::Range;

/// Shapes that are kept without a heap allocation: several times what the built-in rules need.
const INLINE_BITS: usize = 512;
const INLINE_WORDS: usize = INLINE_BITS / 64;

/// For how many shapes it is kept where their matches lie. A text with more candidates is searched whole for the rest.
const PLACED: usize = 32;

/// A set of shapes, by their number in table order, and whether the folded view of the text could matter.
///
/// The sieve fills it, and may say yes too often. A shape that it leaves out is never looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Candidates {
    inline: [u64; INLINE_WORDS],
    /// Bits from [`INLINE_BITS`] on; empty, and so not allocated, for the built-in rules.
    spilled: Vec<u64>,
    fold: bool,
    /// Where the matches of the first few shapes lie; those of others can be anywhere.
    placed: [Placed; PLACED],
    placed_len: usize,
}

/// Where the matches of a shape lie.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Placed {
    shape: usize,
    start: usize,
    end: usize,
}

impl Candidates {
    /// Returns the set of no shapes, without the folded view.
    #[must_use]
    pub(crate) fn none() -> Self {
        Self::default()
    }

    /// Returns the set of the first `shapes` shapes, with the folded view.
    #[must_use]
    pub(crate) fn all(shapes: usize) -> Self {
        let mut set = Self::none();
        (0..shapes).for_each(|shape| set.insert(shape));
        set.insert_fold();
        set
    }

    /// Adds a shape, whose matches can be anywhere.
    pub(crate) fn insert(&mut self, shape: usize) {
        self.insert_within(shape, 0..usize::MAX);
    }

    /// Adds a shape, whose matches all lie within a stretch of the text, or another that this is said of.
    pub(crate) fn insert_within(&mut self, shape: usize, within: Range<usize>) {
        let Range { start, end } = within;
        if let Some(placed) =
            self.placed.iter_mut().take(self.placed_len).find(|placed| placed.shape == shape)
        {
            (placed.start, placed.end) = (placed.start.min(start), placed.end.max(end));
        } else if !self.contains(shape)
            && let Some(placed) = self.placed.get_mut(self.placed_len)
        {
            *placed = Placed { shape, start, end };
            self.placed_len += 1;
        }
        self.mark(shape);
    }

    fn mark(&mut self, shape: usize) {
        let (word, bit) = (shape / 64, 1 << (shape % 64));
        if let Some(slot) = self.inline.get_mut(word) {
            *slot |= bit;
            return;
        }
        let word = word - INLINE_WORDS;
        if self.spilled.len() <= word {
            self.spilled.resize(word + 1, 0);
        }
        if let Some(slot) = self.spilled.get_mut(word) {
            *slot |= bit;
        }
    }

    /// Returns the stretch of a text of so many bytes in which the matches of a shape lie.
    #[must_use]
    pub(crate) fn within(&self, shape: usize, len: usize) -> Range<usize> {
        let placed = self.placed.iter().take(self.placed_len).find(|placed| placed.shape == shape);
        placed.map_or(0..len, |placed| placed.start.min(len)..placed.end.min(len))
    }

    /// Says that the folded view could show something that the text as it stands does not.
    pub(crate) fn insert_fold(&mut self) {
        self.fold = true;
    }

    /// Whether the folded view could matter.
    #[must_use]
    pub(crate) fn fold(&self) -> bool {
        self.fold
    }

    /// Whether `shape` is in the set.
    #[must_use]
    pub(crate) fn contains(&self, shape: usize) -> bool {
        let word = match shape / 64 {
            inline @ 0..INLINE_WORDS => self.inline.get(inline),
            spilled => self.spilled.get(spilled - INLINE_WORDS),
        };
        word.is_some_and(|word| word & (1 << (shape % 64)) != 0)
    }

    /// Returns the shapes in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        let words = self.inline.iter().chain(&self.spilled).enumerate();
        words.flat_map(|(index, &word)| Bits(word).map(move |bit| index * 64 + bit))
    }
}

/// The positions of the ones in a word, from the lowest.
struct Bits(u64);

impl Iterator for Bits {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_in_comes_out_in_order() {
        let mut set = Candidates::none();
        let shapes = [0, 1, 63, 64, 511, 512, 513, 700];
        shapes.iter().rev().for_each(|&shape| set.insert(shape));
        assert_eq!(set.iter().collect::<Vec<_>>(), shapes);
        assert!(shapes.iter().all(|&shape| set.contains(shape)));
        assert!(![2, 62, 65, 510, 514, 699, 701, 100_000].iter().any(|&shape| set.contains(shape)));
        assert!(!set.fold());
    }

    #[test]
    fn stretches_are_kept_for_some_shapes_and_the_rest_can_be_anywhere() {
        let mut set = Candidates::none();
        for (shape, within) in [(7, 20..25), (7, 10..12), (9, 5..90)] {
            set.insert_within(shape, within);
        }
        assert_eq!((set.within(7, 50), set.within(9, 50), set.within(8, 50)), (10..25, 5..50, 0..50));
        (100..140).for_each(|shape| set.insert_within(shape, 1..2));
        assert!(set.contains(139) && set.within(139, 50) == (0..50), "no room");
        set.insert_within(139, 1..2);
        set.insert(7);
        assert_eq!(
            (set.within(139, 50), set.within(7, 50)),
            (0..50, 0..50),
            "once anywhere, always anywhere"
        );
    }

    #[test]
    fn all_holds_just_the_first() {
        let set = Candidates::all(600);
        assert!(set.iter().eq(0..600));
        assert!(set.fold());
        assert_eq!(Candidates::none().iter().count(), 0);
    }
}
