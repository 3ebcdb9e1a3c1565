//! Long runs of bytes of one set, such as `[A-Za-z0-9+/]{80,}`: no gram of such a pattern is rare.

use std::ops::Range;

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use super::byte_set::ByteSet;
use super::input::PatternId;

/// Number of consecutive bytes that are tested at once for runs. A run covers at least one whole lane.
pub(super) const LANE: usize = 16;

/// A shorter run than this is too common.
const SHORTEST: u32 = 32;
const _: () = assert!(SHORTEST as usize >= 2 * LANE - 1);

/// A run that every match of a pattern contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) bytes: ByteSet,
    /// Its minimum length.
    pub(crate) shortest: u32,
}

/// Returns a run that is present wherever one of these is. It must be short: possible starts are reported every few
/// bytes, and each time as many bytes are inspected as its length.
pub(super) fn any_of(runs: &[(PatternId, Run)]) -> Option<Run> {
    let bytes = runs.iter().map(|(_, run)| run.bytes).reduce(|any, bytes| any | bytes)?;
    let shortest = runs.iter().map(|(_, run)| run.shortest).fold(2 * SHORTEST, u32::min);
    Some(Run { bytes, shortest })
}

/// Returns the longest run that every match of a pattern contains, if it is long enough to be rare.
pub(super) fn of(hir: &Hir) -> Option<Run> {
    match hir.kind() {
        HirKind::Capture(capture) => of(&capture.sub),
        HirKind::Repetition(repetition) => {
            Run::of_repetition(repetition).or_else(|| of(&repetition.sub).filter(|_| repetition.min > 0))
        }
        // Every part of a concatenation is in every match. An alternative may be missing, so alternations have
        // no run.
        HirKind::Concat(parts) => parts.iter().filter_map(of).max_by_key(|run| run.shortest),
        _ => None,
    }
}

impl Run {
    /// Returns a repetition as a run, if it repeats bytes of one set often enough.
    pub(crate) fn of_repetition(repetition: &Repetition) -> Option<Self> {
        let HirKind::Class(Class::Bytes(class)) = repetition.sub.kind() else { return None };
        let ranges = class.ranges().iter().map(|range| ByteSet::range(range.start(), range.end()));
        let bytes = ranges.fold(ByteSet::default(), |all, range| all | range);
        Some(Self { bytes, shortest: repetition.min }).filter(|run| run.shortest >= SHORTEST)
    }

    /// Returns the first run that begins in `begins`, as far as it extends. It skips most bytes: if the byte at the
    /// end of the shortest possible run is not in the set, no run covers it, and so on backwards, as in Boyer–Moore.
    /// Nearly always there is a blank among the last few bytes, and those are tested together, since the ends of
    /// words are hard to predict. Few bytes are inspected twice, and none three times.
    pub(crate) fn find(&self, text: &[u8], begins: Range<usize>) -> Option<Range<usize>> {
        let shortest = self.shortest as usize;
        let holds_blanks = self.bytes.contains(b' ');
        let (mut start, mut known) = (begins.start, begins.start);
        while start < begins.end {
            let end = start.checked_add(shortest)?;
            let last = text.get(end - BLANKS..end)?.first_chunk()?;
            // No run of these bytes extends over a blank, so the search continues behind it.
            if let Some(blank) = last_blank(last).filter(|_| !holds_blanks) {
                start = end - BLANKS + blank + 1;
                known = start.max(known);
                continue;
            }
            let unknown = text.get(known..end)?;
            match unknown.iter().rposition(|&byte| !self.bytes.contains(byte)) {
                // All bytes between that one and the end are known to be in the set.
                Some(outside) => (start, known) = (known + outside + 1, end),
                None => {
                    let rest = text.get(end..)?;
                    let more = rest.iter().position(|&byte| !self.bytes.contains(byte)).unwrap_or(rest.len());
                    return Some(start..end + more);
                }
            }
        }
        None
    }
}

/// Number of bytes that are tested together for a blank.
const BLANKS: usize = 16;

/// Returns the position of the last blank. The difference of a byte from a blank, and the top bit of its carry, are
/// all zero only for a blank.
#[inline]
fn last_blank(bytes: &[u8; BLANKS]) -> Option<usize> {
    const LOW: u128 = u128::from_ne_bytes([0x7f; BLANKS]);
    let differ = u128::from_le_bytes(*bytes) ^ u128::from_ne_bytes([b' '; BLANKS]);
    // The sum of two seven-bit numbers carries into the top bit of its own byte only.
    let blanks = !(((differ & LOW) + LOW) | differ | LOW);
    // Little-endian: the last byte is the most significant one.
    let after = blanks.leading_zeros() as usize / 8;
    (BLANKS - 1).checked_sub(after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deobfuscate::Obfuscation::Letters;

    fn run(pattern: &str) -> Option<Run> {
        let mut parser = regex_syntax::ParserBuilder::new().unicode(false).utf8(false).build();
        of(&parser.parse(pattern).unwrap())
    }

    #[test]
    fn the_longest_run_of_a_pattern_is_found() {
        let digits = |shortest| Some(Run { bytes: ByteSet::range(b'0', b'9'), shortest });
        assert_eq!(run("data:[a-z]{0,8};([0-9]{40,})={0,2}"), digits(40));
        assert_eq!(run("(?:[0-9]{33}\n){2,}[0-9]{40}.*"), digits(40));
    }

    #[test]
    fn one_run_is_wherever_one_of_several_is() {
        let run = |first, last, shortest| Run { bytes: ByteSet::range(first, last), shortest };
        let runs =
            [(PatternId::Rule(1), run(b'0', b'4', 80)), (PatternId::Trigger(Letters), run(b'3', b'9', 40))];
        assert_eq!(any_of(&runs), Some(run(b'0', b'9', 40)));
        assert_eq!(any_of(&runs[..1]), Some(run(b'0', b'4', 64)), "a short one");
        assert_eq!(any_of(&[]), None);
    }

    #[test]
    fn blanks_are_told_from_their_neighbours() {
        for byte in 0..=u8::MAX {
            for place in 0..BLANKS {
                let mut bytes = [0xa0; BLANKS];
                bytes[place] = byte;
                assert_eq!(last_blank(&bytes), (byte == b' ').then_some(place), "{byte} at {place}");
            }
        }
        assert_eq!(last_blank(b" a a!!\x1f\x21 aaaaaaa"), Some(8));
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
            assert_eq!(run.find(&text, 0..text.len()), expected, "{before} {length} {after}");
        }
        let two = [vec![b'1'; 32], vec![b' '], vec![b'1'; 31], vec![b' '], vec![b'1'; 40]].concat();
        assert_eq!(run.find(&two, 0..200), Some(0..32));
        assert_eq!(run.find(&two, 32..200), Some(65..105));
        assert_eq!(run.find(&two, 66..200), Some(66..105));
        assert_eq!(run.find(&two, 1..65), None, "none begins there");
    }
}
