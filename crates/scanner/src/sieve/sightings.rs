//! Where a text was seen to hold something that the matches of a shape contain.

use std::ops::Range;

use super::reach::Reach;

/// How many things are looked for on behalf of one shape, at most: a match contains one window of each.
pub(crate) const PARTS: usize = 2;

/// For how many shapes the places are kept. A text in which more are seen is searched whole for the rest.
const SHAPES: usize = 32;

/// How far matches extend around each thing that is looked for; where there are none, a match can be anywhere.
pub(crate) type Reaches = [Option<Reach>; PARTS];

/// What was seen of some shapes, without an allocation.
#[derive(Debug)]
pub(super) struct Sightings {
    shapes: [Sighting; SHAPES],
    len: usize,
}

/// What was seen of one shape: for each part, the stretch from the first place to the last.
#[derive(Debug, Clone, Copy, Default)]
struct Sighting {
    shape: usize,
    parts: [Stretch; PARTS],
}

/// A stretch of text; empty as long as nothing was seen.
#[derive(Debug, Clone, Copy, Default)]
struct Stretch {
    start: usize,
    end: usize,
}

impl Sightings {
    pub(super) fn none() -> Self {
        Self { shapes: [Sighting::default(); SHAPES], len: 0 }
    }

    /// Notes that a part of a shape was seen at `place`, or returns false if there is no room for one more shape.
    pub(super) fn add(&mut self, shape: usize, part: usize, place: usize) -> bool {
        let known = self.shapes.iter().take(self.len).position(|known| known.shape == shape);
        let index = known.unwrap_or(self.len);
        let Some(sighting) = self.shapes.get_mut(index) else { return false };
        if known.is_none() {
            *sighting = Sighting { shape, ..Sighting::default() };
            self.len += 1;
        }
        if let Some(stretch) = sighting.parts.get_mut(part) {
            let start = if stretch.end == 0 { place } else { stretch.start.min(place) };
            *stretch = Stretch { start, end: stretch.end.max(place + 1) };
        }
        true
    }

    /// Returns the shapes of which every part was seen, each with the stretch of `text` in which its matches lie.
    pub(super) fn matches<'s>(
        &'s self,
        text: &'s [u8],
        reaches: &'s [Reaches],
    ) -> impl Iterator<Item = (usize, Range<usize>)> + 's {
        self.shapes.iter().take(self.len).filter_map(|sighting| {
            let reaches = reaches.get(sighting.shape)?;
            let within = sighting.within(text, reaches)?;
            Some((sighting.shape, within))
        })
    }
}

impl Sighting {
    /// A match contains something of each part, so it lies within the reach of all that was seen of each.
    fn within(&self, text: &[u8], reaches: &Reaches) -> Option<Range<usize>> {
        let mut within = 0..text.len();
        for (stretch, reach) in self.parts.iter().zip(reaches) {
            let Some(reach) = reach else { continue };
            if stretch.end == 0 {
                return None;
            }
            let reached = reach.widen(text, stretch.start..stretch.end);
            within = within.start.max(reached.start)..within.end.min(reached.end);
        }
        Some(within).filter(|within| within.start < within.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = &[b'x'; 100];

    fn matches(sightings: &Sightings, reaches: &[Reaches]) -> Vec<(usize, Range<usize>)> {
        sightings.matches(TEXT, reaches).collect()
    }

    #[test]
    fn every_part_must_be_seen_within_reach_of_the_others() {
        let reaches = [[Some(Reach::bytes(2, 10)), Some(Reach::bytes(10, 2))]];
        let mut sightings = Sightings::none();
        sightings.add(0, 0, 20);
        assert_eq!(matches(&sightings, &reaches), [], "one part is missing");
        sightings.add(0, 1, 25);
        assert_eq!(matches(&sightings, &reaches), [(0, 18..28)]);
        let mut apart = Sightings::none();
        apart.add(0, 0, 20);
        apart.add(0, 1, 70);
        assert_eq!(matches(&apart, &reaches), [], "too far apart");
    }

    #[test]
    fn there_is_room_for_some_shapes_only() {
        let mut sightings = Sightings::none();
        assert!((0..SHAPES).all(|shape| sightings.add(shape, 0, 5) && sightings.add(shape, 0, 50)));
        assert!(!sightings.add(SHAPES, 0, 5));
        assert_eq!(matches(&sightings, &[[Some(Reach::bytes(1, 1)), None]]), [(0, 4..52)]);
    }
}
