//! Long runs of bytes of one set, such as `[A-Za-z0-9+/]{80,}`: no window of such a pattern is rare.

use std::ops::Range;

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use super::byte_set::ByteSet;
use super::reach::Reach;

/// A shorter run than this is everywhere.
const SHORTEST: u32 = 32;

/// How many bytes are looked at together.
const LAST: usize = 8;

/// A run which every match of a pattern contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) bytes: ByteSet,
    /// The fewest bytes of it.
    pub(crate) shortest: u32,
    /// How far a match can extend around the run.
    pub(crate) reach: Reach,
}

/// Returns the longest run which every match of a pattern contains, if it is long enough to be rare.
pub(super) fn of(hir: &Hir) -> Option<Run> {
    match hir.kind() {
        HirKind::Capture(capture) => of(&capture.sub),
        HirKind::Repetition(repetition) => of_repetition(repetition),
        HirKind::Concat(parts) => of_concat(parts),
        _ => None,
    }
}

fn of_repetition(repetition: &Repetition) -> Option<Run> {
    if repetition.min >= SHORTEST
        && let HirKind::Class(Class::Bytes(class)) = repetition.sub.kind()
    {
        let ranges = class.ranges().iter().map(|range| ByteSet::range(range.start(), range.end()));
        let bytes = ranges.fold(ByteSet::default(), |all, range| all | range);
        let reach = Reach::bytes(0, 0);
        return Some(Run { bytes, shortest: repetition.min, reach });
    }
    let run = of(&repetition.sub).filter(|_| repetition.min > 0)?;
    Some(Run { reach: Reach::bytes(u32::MAX, u32::MAX), ..run })
}

fn of_concat(parts: &[Hir]) -> Option<Run> {
    let length = |parts: &[Hir]| {
        let lengths = parts.iter().map(|part| part.properties().maximum_len());
        let sum = lengths.sum::<Option<usize>>().and_then(|sum| u32::try_from(sum).ok());
        sum.unwrap_or(u32::MAX)
    };
    let runs = parts.iter().enumerate().filter_map(|(index, part)| {
        let run = of(part)?;
        let (before, after) = parts.split_at_checked(index)?;
        let reach = Reach::bytes(
            run.reach.before.most.saturating_add(length(before)),
            run.reach.after.most.saturating_add(length(after.get(1..)?)),
        );
        Some(Run { reach, ..run })
    });
    runs.max_by_key(|run| run.shortest)
}

impl Run {
    /// Returns the first place from `from` on where the run can be, as far as it goes on both sides. It skips most bytes:
    /// if the byte that would end the shortest run is not of the set, no run ends before it, and so on backwards, as
    /// Boyer and Moore do with words. The last few bytes are looked at together, since where words end is hard to
    /// predict; but for those it looks at no byte twice.
    pub(super) fn find(&self, text: &[u8], from: usize) -> Option<Range<usize>> {
        let shortest = self.shortest as usize;
        let (mut start, mut known) = (from, from);
        loop {
            let end = start.checked_add(shortest)?;
            let outside = self.outside(text.get(end - LAST..end)?.first_chunk()?);
            if outside != 0 {
                (start, known) = (end - outside.leading_zeros() as usize, end);
                continue;
            }
            let unknown = text.get(known..end)?;
            match unknown.iter().rposition(|&byte| !self.bytes.contains(byte)) {
                // Everything after that byte was found to be of the set.
                Some(outside) => (start, known) = (known + outside + 1, end),
                None => {
                    let rest = text.get(end..)?;
                    let more = rest.iter().position(|&byte| !self.bytes.contains(byte)).unwrap_or(rest.len());
                    return Some(start..end + more);
                }
            }
        }
    }
}

impl Run {
    /// Which of these bytes are not of the set, as bits.
    #[inline]
    fn outside(&self, bytes: &[u8; LAST]) -> u8 {
        let bit = |(place, &byte): (usize, &u8)| u8::from(!self.bytes.contains(byte)) << place;
        bytes.iter().enumerate().map(bit).fold(0, |outside, bit| outside | bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(pattern: &str) -> Option<Run> {
        let mut parser = regex_syntax::ParserBuilder::new().unicode(false).utf8(false).build();
        of(&parser.parse(pattern).unwrap())
    }

    #[test]
    fn a_run_is_found_with_how_far_the_rest_extends() {
        let found = run("data:[a-z]{0,8};([0-9]{40,})={0,2}").unwrap();
        assert_eq!((found.bytes, found.shortest), (ByteSet::range(b'0', b'9'), 40));
        assert_eq!((found.reach.before.most, found.reach.after.most), (14, 2));
        assert_eq!(run("(?:[0-9]{40}\n){2,}").unwrap().reach, Reach::bytes(u32::MAX, u32::MAX));
        assert_eq!(run("[0-9]{40}.*").unwrap().reach.after.most, u32::MAX);
    }

    #[test]
    fn what_need_not_be_there_is_no_run() {
        for pattern in ["[0-9]{20}", "(?:[0-9]{40})?", "[0-9]{40}|x", "(?:[0-9]{40})*"] {
            assert_eq!(run(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn every_run_is_found_and_nothing_else() {
        let run = run("[0-9]{32,}").unwrap();
        for (before, length, after) in
            [(0, 32, 0), (1, 32, 9), (31, 33, 1), (50, 100, 50), (0, 31, 0), (40, 31, 40)]
        {
            let text = [vec![b' '; before], vec![b'7'; length], vec![b' '; after]].concat();
            let expected = (length >= 32).then_some(before..before + length);
            assert_eq!(run.find(&text, 0), expected, "{before} {length} {after}");
        }
        let two = [vec![b'1'; 32], vec![b' '], vec![b'1'; 31], vec![b' '], vec![b'1'; 40]].concat();
        assert_eq!(run.find(&two, 0), Some(0..32));
        assert_eq!(run.find(&two, 32), Some(65..105));
        assert_eq!(run.find(&two, 66), Some(66..105));
    }
}
