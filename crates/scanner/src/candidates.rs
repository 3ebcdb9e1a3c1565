//! Candidate patterns: those that can match a text, and where.

use std::borrow::Cow;
use std::ops::Range;

use arrayvec::ArrayVec;

use crate::by_pattern::ByPattern;
use crate::deobfuscate::{Obfuscation, Obfuscations};

/// Patterns kept without a heap allocation: several times the number of built-in patterns.
const INLINE_BITS: usize = 512;
const INLINE_WORDS: usize = INLINE_BITS / 64;

/// Number of stretches kept without a heap allocation.
const INLINE_SPANS: usize = 4;

/// Candidate patterns by their number in table order, and possible obfuscations of the text.
///
/// The prefilter fills it and may add too many. A pattern that it omits is never searched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Candidates {
    inline: [u64; INLINE_WORDS],
    /// Bits from [`INLINE_BITS`] on; empty, and so not allocated, for the built-in rules.
    spilled: Vec<u64>,
    obfuscations: Obfuscations,
    /// The stretches that contain the matches of a pattern; patterns without an entry, or without stretches, may
    /// match anywhere.
    placed: ByPattern<Option<HitSpans>>,
}

/// Disjoint stretches of a text in ascending order. No match spans two of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HitSpans {
    few: ArrayVec<(usize, usize), INLINE_SPANS>,
    /// The stretches that do not fit inline.
    more: Vec<(usize, usize)>,
}

impl Candidates {
    /// Returns the empty set.
    #[must_use]
    pub(crate) fn none() -> Self {
        Self::default()
    }

    /// Returns the first `count` patterns, with every obfuscation.
    #[must_use]
    pub(crate) fn all(count: usize) -> Self {
        let mut set = Self::none();
        (0..count).for_each(|pattern| set.insert(pattern));
        set.obfuscations = Obfuscations::ALL;
        set
    }

    /// Adds a pattern whose matches can be anywhere.
    pub(crate) fn insert(&mut self, pattern: usize) {
        // Known stretches would now exclude matches.
        if let Some(places) = self.placed.get_mut(pattern) {
            *places = None;
        }
        self.mark(pattern);
    }

    /// Adds a pattern whose matches all lie within these stretches; if it is in the set already, they can be
    /// anywhere.
    pub(crate) fn insert_within(&mut self, pattern: usize, places: HitSpans) {
        if self.contains(pattern) {
            return self.insert(pattern);
        }
        if let Some(placed) = self.placed.entry(pattern) {
            *placed = Some(places);
        }
        self.mark(pattern);
    }

    fn mark(&mut self, pattern: usize) {
        let (word, bit) = (pattern / 64, 1 << (pattern % 64));
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

    /// Returns the stretches, in a text of `len` bytes, that contain the matches of a pattern.
    #[must_use]
    pub(crate) fn within(&self, pattern: usize, len: usize) -> Cow<'_, HitSpans> {
        let placed = self.placed.get(pattern).and_then(Option::as_ref);
        placed.map_or_else(|| Cow::Owned(HitSpans::all_of(len)), Cow::Borrowed)
    }

    /// Records that the text may be obfuscated in this way.
    pub(crate) fn insert_obfuscation(&mut self, obfuscation: Obfuscation) {
        self.obfuscations.insert(obfuscation);
    }

    /// Returns the possible obfuscations of the text.
    #[must_use]
    pub(crate) fn obfuscations(&self) -> Obfuscations {
        self.obfuscations
    }

    /// Whether `pattern` is in the set.
    #[must_use]
    pub(crate) fn contains(&self, pattern: usize) -> bool {
        let word = match pattern / 64 {
            inline @ 0..INLINE_WORDS => self.inline.get(inline),
            spilled => self.spilled.get(spilled - INLINE_WORDS),
        };
        word.is_some_and(|word| word & (1 << (pattern % 64)) != 0)
    }

    /// Returns the patterns in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        let words = self.inline.iter().chain(&self.spilled).enumerate();
        words.flat_map(|(index, &word)| Bits(word).map(move |bit| index * 64 + bit))
    }
}

impl HitSpans {
    /// Returns a stretch over a whole text of `len` bytes.
    pub(crate) fn all_of(len: usize) -> Self {
        Self::joining(std::iter::once(0..len))
    }

    /// Joins stretches, which come in the order of their hits, where they touch.
    pub(crate) fn joining(stretches: impl Iterator<Item = Range<usize>>) -> Self {
        let mut places = Self::default();
        for Range { mut start, mut end } in stretches.filter(|stretch| !stretch.is_empty()) {
            // A stretch can extend over several earlier ones.
            while let Some(last) = places.last_mut().filter(|last| start <= last.1) {
                (start, end) = (last.0.min(start), last.1.max(end));
                places.pop();
            }
            places.push(start..end);
        }
        places
    }

    /// Returns the number of stretches.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.few.len() + self.more.len()
    }

    /// Whether another stretch would need the heap.
    pub(crate) fn is_full_inline(&self) -> bool {
        self.few.is_full()
    }

    /// Returns the start and end of the last stretch.
    pub(crate) fn last_mut(&mut self) -> Option<&mut (usize, usize)> {
        self.more.last_mut().or_else(|| self.few.last_mut())
    }

    /// Appends a stretch.
    pub(crate) fn push(&mut self, stretch: Range<usize>) {
        if let Err(full) = self.few.try_push((stretch.start, stretch.end)) {
            self.more.push(full.element());
        }
    }

    fn pop(&mut self) {
        if self.more.pop().is_none() {
            self.few.pop();
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.few.iter().chain(&self.more).map(|&(start, end)| start..end)
    }
}

/// Iterator over the positions of the set bits of a word, lowest first.
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
        let patterns = [0, 1, 63, 64, 511, 512, 513, 700];
        patterns.iter().rev().for_each(|&pattern| set.insert(pattern));
        assert_eq!(set.iter().collect::<Vec<_>>(), patterns);
        assert!(patterns.iter().all(|&pattern| set.contains(pattern)));
        assert!(![2, 62, 65, 510, 514, 699, 701, 100_000].iter().any(|&pattern| set.contains(pattern)));
        assert!(set.obfuscations().is_empty());
    }

    fn places(stretches: &[(usize, usize)]) -> HitSpans {
        HitSpans::joining(stretches.iter().map(|&(start, end)| start..end))
    }

    fn list(places: &HitSpans) -> Vec<(usize, usize)> {
        places.iter().map(|stretch| (stretch.start, stretch.end)).collect()
    }

    #[test]
    fn stretches_are_kept_for_any_number_of_patterns_and_the_rest_can_be_anywhere() {
        let mut set = Candidates::none();
        let within = |set: &Candidates, pattern| list(&set.within(pattern, 50));
        set.insert_within(7, places(&[(10, 12), (20, 25)]));
        set.insert_within(9, places(&[(5, 45)]));
        assert_eq!(within(&set, 7), [(10, 12), (20, 25)]);
        assert_eq!(within(&set, 9), [(5, 45)]);
        assert_eq!(within(&set, 8), [(0, 50)]);
        (100..140).for_each(|pattern| set.insert_within(pattern, places(&[(1, 2)])));
        assert!((100..140).all(|pattern| set.contains(pattern) && within(&set, pattern) == [(1, 2)]));
        set.insert(150);
        for (pattern, why) in
            [(150, "once anywhere, always anywhere"), (9, "said twice"), (139, "said twice")]
        {
            set.insert_within(pattern, places(&[(1, 2)]));
            assert_eq!(within(&set, pattern), [(0, 50)], "{why}");
        }
        set.insert(7);
        assert_eq!(within(&set, 7), [(0, 50)]);
    }

    #[test]
    fn stretches_are_joined_where_they_touch_however_many_there_are() {
        let joined = |stretches: &[(usize, usize)]| list(&places(stretches));
        assert_eq!(joined(&[(1, 3), (3, 5), (4, 6), (9, 9)]), [(1, 6)]);
        let many: Vec<(usize, usize)> = (0..50).map(|nth| (3 * nth, 3 * nth + 2)).collect();
        assert_eq!(joined(&many), many);
        let one_over_most = [many.as_slice(), &[(4, 151), (200, 201)]].concat();
        assert_eq!(joined(&one_over_most), [(0, 2), (3, 151), (200, 201)]);
    }

    #[test]
    fn all_holds_just_the_first() {
        let set = Candidates::all(600);
        assert!(set.iter().eq(0..600));
        assert_eq!(set.obfuscations(), Obfuscations::ALL);
        assert_eq!(Candidates::none().iter().count(), 0);
    }
}
