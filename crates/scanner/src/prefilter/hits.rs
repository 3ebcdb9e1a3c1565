//! Positions at which substrings of possible matches were found.

use std::ops::Range;

use super::extent::{MatchExtent, WIDE_PATIENCE};
use crate::by_pattern::ByPattern;
use crate::candidates::HitSpans;

/// Number of bytes that are inspected for the bounds of the matches of each pattern, per byte of text and in any text.
const INSPECTED_PER_BYTE: usize = 2;
const INSPECTED_IN_ANY_TEXT: usize = 8 * WIDE_PATIENCE;

/// Number of text bytes for which there is room for one more stretch of any pattern, beyond those that each pattern
/// has in any text.
const BYTES_PER_ROOM: usize = 32;

/// Hits closer than this are joined: searching between them costs less than starting again.
const APART: usize = 256;

/// Hits of some patterns; no allocation if they are few and the text is short.
#[derive(Debug)]
pub(super) struct Hits {
    /// Stretches with hits. A hit near another one joins its stretch, and so does every hit once there is no room for
    /// more stretches.
    patterns: ByPattern<HitSpans>,
    /// Remaining room for stretches on the heap.
    room: usize,
}

impl Hits {
    /// Creates an empty collection for a text of `len` bytes.
    pub(super) fn none(len: usize) -> Self {
        Self { patterns: ByPattern::default(), room: len / BYTES_PER_ROOM }
    }

    /// Records a hit of a pattern at `place`.
    pub(super) fn add(&mut self, pattern: usize, place: Range<usize>) {
        let Some(stretches) = self.patterns.entry(pattern) else { return };
        let needs_room = stretches.is_full_inline();
        let is_full = needs_room && self.room == 0;
        match stretches.last_mut() {
            // Hits come in the order of the text, so only the last stretch can be near. Without room for another, the
            // last one grows instead: too much is searched then, but nothing is missed.
            Some(last) if is_full || place.start < last.1 + APART => {
                *last = (last.0.min(place.start), last.1.max(place.end));
            }
            _ => {
                self.room -= usize::from(needs_room);
                stretches.push(place);
            }
        }
    }

    /// Returns the patterns with hits, each with the stretches of `text` that contain its matches.
    pub(super) fn matches<'s>(
        &'s self,
        text: &'s [u8],
        extents: &'s [Option<MatchExtent>],
    ) -> impl Iterator<Item = (usize, HitSpans)> + 's {
        self.patterns.iter().map(|(pattern, stretches)| {
            // Without a bound on its extent, a match may begin and end anywhere.
            let Some(extent) = extents.get(pattern).and_then(Option::as_ref) else {
                return (pattern, HitSpans::all_of(text.len()));
            };
            (pattern, HitSpans::joining(widened(text, stretches, extent)))
        })
    }
}

/// Returns the stretches that contain the matches around hits. Once many bytes were inspected, all that are left become
/// one.
fn widened<'s>(
    text: &'s [u8],
    stretches: &'s HitSpans,
    extent: &'s MatchExtent,
) -> impl Iterator<Item = Range<usize>> + 's {
    let mut left = INSPECTED_IN_ANY_TEXT + INSPECTED_PER_BYTE * text.len();
    let mut seen = stretches.iter();
    std::iter::from_fn(move || {
        let mut stretch = seen.next()?;
        if left == 0 {
            stretch.end = seen.by_ref().last().map_or(stretch.end, |last| last.end);
        }
        let wide = extent.widen(text, stretch.clone());
        let inspected = [stretch.start.saturating_sub(wide.start), wide.end.saturating_sub(stretch.end)];
        left = left.saturating_sub(inspected.into_iter().map(|side| side.min(WIDE_PATIENCE)).sum());
        Some(wide)
    })
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
        let mut hits = Hits::none(5_000);
        places.iter().for_each(|&place| hits.add(0, place..place + 1));
        let extents = [Some(MatchExtent::bytes(5, 5))];
        let (_, found) = hits.matches(&[b'x'; 5_000], &extents).next().unwrap();
        assert_eq!(list(&found), [(5, 56), (395, 406), (995, 1_006), (1_995, 2_006), (2_995, 3_006)]);
        let wide = [Some(MatchExtent::bytes(400, 5))];
        let (_, found) = hits.matches(&[b'x'; 5_000], &wide).next().unwrap();
        assert_eq!(
            list(&found),
            [(0, 406), (600, 1_006), (1_600, 2_006), (2_600, 3_006)],
            "no match is split"
        );
    }

    #[test]
    fn there_is_room_for_any_number_of_patterns() {
        let mut hits = Hits::none(TEXT.len());
        let mut both = |pattern| [5..6, 50..51].into_iter().for_each(|place| hits.add(pattern, place));
        (0..200).for_each(&mut both);
        let extents = [Some(MatchExtent::bytes(1, 1)); 200];
        assert!(matches(&hits, &extents).into_iter().eq((0..200).map(|pattern| (pattern, vec![(4, 52)]))));
        assert_eq!(matches(&hits, &[]).last(), Some(&(199, vec![(0, 100)])), "anywhere");
    }

    #[test]
    fn what_finds_no_room_is_within_the_last_stretch() {
        let text = vec![b'x'; 40 << 12];
        let room = text.len() / BYTES_PER_ROOM;
        for (patterns, seen) in [(1, 40), (1, 41), (room, 40)] {
            let places = || (0..seen).map(|nth| 1_000 * nth..1_000 * nth + 1);
            let mut hits = Hits::none(text.len());
            (0..patterns).for_each(|pattern| places().for_each(|place| hits.add(pattern, place)));
            let extents = vec![Some(MatchExtent::bytes(0, 0)); patterns];
            let found: Vec<HitSpans> = hits.matches(&text, &extents).map(|(_, places)| places).collect();
            assert_eq!(found.first().unwrap().len(), seen);
            let inside = |found: &HitSpans, place: &Range<usize>| {
                found.iter().any(|stretch| stretch.start <= place.start && place.end <= stretch.end)
            };
            assert!(found.iter().all(|found| places().all(|place| inside(found, &place))), "{patterns}");
            let on_the_heap: usize = found.iter().map(|found| found.len() - STRETCHES).sum();
            assert_eq!(
                on_the_heap,
                room.min(patterns * (seen - STRETCHES)),
                "{patterns} patterns at {seen} places"
            );
        }
    }

    /// Stretches without an allocation.
    const STRETCHES: usize = 4;

    #[test]
    fn bounds_are_looked_for_in_a_few_times_the_text_at_most() {
        let text = vec![b'x'; 1 << 20];
        let mut hits = Hits::none(text.len());
        (0..text.len() / 300).for_each(|nth| hits.add(0, 300 * nth..300 * nth + 1));
        let stretches = hits.patterns.get(0).unwrap();
        // Each may reach far, so that looking for its bounds costs as much as is allowed.
        let extent = MatchExtent::bytes(9_000, 9_000);
        let asked = widened(&text, stretches, &extent).count();
        assert!((256..300).contains(&asked), "{asked} of {}", stretches.len());
        let (_, found) = hits.matches(&text, &[Some(extent)]).next().unwrap();
        assert_eq!(list(&found), [(0, text.len())]);
    }
}
