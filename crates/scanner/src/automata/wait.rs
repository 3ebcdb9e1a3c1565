//! Where nothing has begun, and what begins is rare, it pays to look ahead for it: to walk takes longer.

use super::make::{END, Made};
use super::walk::pair;
use crate::sieve::ByteSet;
use crate::sieve::frequency::frequency;

/// To look ahead for what is more common than this takes longer than to walk.
const RARE: f64 = 0.04;

/// Up to which of the first states it pays, and for what to look there.
#[derive(Debug, Default)]
pub(super) struct Wait {
    pub(super) last: usize,
    /// The bytes, or the pairs of them, that lead elsewhere than back to those states.
    pub(super) signs: ByteSet,
    pub(super) are_pairs: bool,
}

impl Wait {
    /// Returns where it pays in an automaton. What begins with a line begins rarely within one.
    pub(super) fn of(made: &Made) -> Self {
        let [other, word, ..] = made.idle;
        let groups = [&made.idle[..], &[other, word]];
        let by_bytes = groups.iter().map(|states| Self::for_bytes(made, states));
        let by_pairs = groups.iter().map(|states| Self::for_pairs(made, states));
        by_bytes.chain(by_pairs).flatten().next().unwrap_or_default()
    }

    fn for_bytes(made: &Made, states: &[usize]) -> Option<Self> {
        let leads_back = |byte: u8| {
            let after = made.idle_after(byte);
            states.contains(&after) && states.iter().all(|&state| made.steps(state, byte) == [after; 2])
        };
        let signs = set(all().filter(|&byte| !leads_back(byte)));
        let last = states.iter().copied().max()?;
        (frequency(&[signs]) < RARE).then_some(Self { last, signs, are_pairs: false })
    }

    /// The first byte of a pair can be passed over if the second one leads where it would have led if nothing had begun.
    fn for_pairs(made: &Made, states: &[usize]) -> Option<Self> {
        let is_nothing = |first: u8, second: u8| {
            let after = made.idle_after(first);
            let reached = || states.iter().flat_map(|&state| made.steps(state, first));
            states.contains(&after)
                && reached()
                    .all(|state| state != END && made.steps(state, second) == made.steps(after, second))
        };
        let pairs = all().flat_map(|first| all().map(move |second| (first, second)));
        let begins = pairs.filter(|&(first, second)| !is_nothing(first, second));
        let signs = set(begins.map(|(first, second)| pair(first, second)));
        let seconds = |first: u8| set(all().filter(|&second| signs.contains(pair(first, second))));
        let share: f64 = all().map(|first| frequency(&[ByteSet::range(first, first), seconds(first)])).sum();
        let last = states.iter().copied().max()?;
        (share < RARE).then_some(Self { last, signs, are_pairs: true })
    }
}

fn all() -> impl Iterator<Item = u8> {
    0..=u8::MAX
}

fn set(bytes: impl Iterator<Item = u8>) -> ByteSet {
    bytes.fold(ByteSet::default(), |set, byte| set | ByteSet::range(byte, byte))
}
