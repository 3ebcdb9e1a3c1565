//! Where a text was seen to hold something that the matches of a pattern contain.

use std::ops::Range;

use arrayvec::ArrayVec;

use super::extent::MatchExtent;
use crate::candidates::HitSpans;

/// For how many patterns the places are kept. A text in which more are seen is searched whole for the rest.
const MAX_PATTERNS: usize = 32;

/// How many stretches of a text are told apart for each pattern.
const MAX_STRETCHES: usize = 4;

/// Hits that are nearer than this belong together: to search between them costs less than to begin anew.
const APART: usize = 256;

/// What was seen of some patterns, without an allocation.
#[derive(Debug)]
pub(super) struct Hits {
    patterns: ArrayVec<PatternHits, MAX_PATTERNS>,
}

/// What was seen of one pattern.
#[derive(Debug, Clone, Copy, Default)]
struct PatternHits {
    pattern: usize,
    stretches: Stretches,
}

/// The stretches of a text in which something was seen. What is near another hit belongs to its stretch, and so does
/// everything once there is no room for more stretches.
#[derive(Debug, Clone, Copy, Default)]
struct Stretches {
    list: [Stretch; MAX_STRETCHES],
    len: usize,
}

/// A stretch of text.
#[derive(Debug, Clone, Copy, Default)]
struct Stretch {
    start: usize,
    end: usize,
}

impl Hits {
    pub(super) fn none() -> Self {
        Self { patterns: ArrayVec::new() }
    }

    /// Notes that a pattern was seen at `place`, or returns false if there is no room for one more pattern.
    pub(super) fn add(&mut self, pattern: usize, place: Range<usize>) -> bool {
        if !self.patterns.iter().any(|known| known.pattern == pattern)
            && self.patterns.try_push(PatternHits { pattern, ..PatternHits::default() }).is_err()
        {
            return false;
        }
        if let Some(hit) = self.patterns.iter_mut().find(|known| known.pattern == pattern) {
            hit.stretches.add(place);
        }
        true
    }

    /// Returns the patterns that were seen, each with the stretches of `text` in which its matches lie.
    pub(super) fn matches<'s>(
        &'s self,
        text: &'s [u8],
        extents: &'s [Option<MatchExtent>],
    ) -> impl Iterator<Item = (usize, HitSpans)> + 's {
        self.patterns.iter().map(|hit| {
            // Without a bound on how far a match extends, it may begin and end anywhere.
            let Some(extent) = extents.get(hit.pattern).and_then(Option::as_ref) else {
                return (hit.pattern, HitSpans::all_of(text.len()));
            };
            let stretches = hit.stretches.iter().map(|stretch| extent.widen(text, stretch));
            (hit.pattern, HitSpans::joining(stretches))
        })
    }
}

impl Stretches {
    fn add(&mut self, place: Range<usize>) {
        let is_last = self.len == MAX_STRETCHES;
        match self.len.checked_sub(1).and_then(|last| self.list.get_mut(last)) {
            // Hits come in the order of the text, so only the last stretch can be near; when there is no room for another, the last
            // one grows instead: too much is searched then, and nothing is missed.
            Some(last) if is_last || place.start < last.end + APART => {
                (last.start, last.end) = (last.start.min(place.start), last.end.max(place.end));
            }
            _ => {
                if let Some(free) = self.list.get_mut(self.len) {
                    *free = Stretch { start: place.start, end: place.end };
                    self.len += 1;
                }
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = Range<usize>> {
        self.list.iter().take(self.len).map(|stretch| stretch.start..stretch.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = &[b'x'; 100];

    fn matches(hits: &Hits, extents: &[Option<MatchExtent>]) -> Vec<(usize, Vec<(usize, usize)>)> {
        hits.matches(TEXT, extents).map(|(pattern, places)| (pattern, list(&places))).collect()
    }

    fn list(places: &HitSpans) -> Vec<(usize, usize)> {
        places.iter().map(|stretch| (stretch.start, stretch.end)).collect()
    }

    #[test]
    fn what_is_seen_far_apart_is_searched_apart() {
        let places = [10, 50, 400, 1_000, 2_000, 3_000];
        let mut hits = Hits::none();
        assert!(places.iter().all(|&place| hits.add(0, place..place + 1)));
        let extents = [Some(MatchExtent::bytes(5, 5))];
        let (_, found) = hits.matches(&[b'x'; 5_000], &extents).next().unwrap();
        assert_eq!(list(&found), [(5, 56), (395, 406), (995, 1_006), (1_995, 3_006)]);
        let wide = [Some(MatchExtent::bytes(400, 5))];
        let (_, found) = hits.matches(&[b'x'; 5_000], &wide).next().unwrap();
        assert_eq!(list(&found), [(0, 406), (600, 1_006), (1_600, 3_006)], "no match is split");
    }

    #[test]
    fn there_is_room_for_some_patterns_only() {
        let mut hits = Hits::none();
        let mut both = |pattern| hits.add(pattern, 5..6) && hits.add(pattern, 50..51);
        assert!((0..MAX_PATTERNS).all(&mut both));
        assert!(!hits.add(MAX_PATTERNS, 5..6));
        let extents = [Some(MatchExtent::bytes(1, 1)); MAX_PATTERNS];
        assert_eq!(matches(&hits, &extents).last(), Some(&(MAX_PATTERNS - 1, vec![(4, 52)])));
        assert_eq!(matches(&hits, &[]).last(), Some(&(MAX_PATTERNS - 1, vec![(0, 100)])), "anywhere");
    }
}
