//! Makes automata that are as small as can be.

use std::collections::HashMap;
use std::hash::Hash;

use super::walk::Before;

/// An automaton of more states than this is too large, even if most of them turn out to be the same.
const MOST_STATES: usize = 20_000;

/// One of more numbers than this is made smaller: it then takes more, or is cut into several.
pub(super) const MOST_WORDS: usize = 1 << 16;

/// The end of a match.
pub(super) const END: usize = 0;

/// What stands before a byte, by one of each kind; last the beginning of the text.
pub(super) const BEFORE: [Option<u8>; 4] = [Some(b' '), Some(b'a'), Some(b'\n'), None];

/// An automaton that takes all texts in which a match ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Made {
    /// Where nothing has begun, by what stands before. These states stand first, after the end of a match.
    pub(super) idle: [usize; 4],
    /// Where the bytes of each column lead.
    pub(super) rows: Vec<Vec<usize>>,
    /// The column of each byte and of the end of the text, where a match may begin and where none may.
    pub(super) columns: [Vec<usize>; 2],
}

/// What an automaton is made from.
pub(super) trait Source {
    type State: Clone + Eq + Hash;
    type Kind: Clone + Eq + Hash;

    /// The states in which nothing has begun, after each of [`BEFORE`].
    fn idle(&self) -> [Self::State; 4];

    /// What a byte or the end of the text is, as far as it matters.
    fn kind(&self, letter: Option<u8>) -> Self::Kind;

    /// Where a byte or the end of the text leads if a match `may_begin` there, or nothing if one has ended.
    fn step(&self, state: &Self::State, letter: Option<u8>, may_begin: bool) -> Option<Self::State>;
}

impl Made {
    /// Makes an automaton, unless it is too large. Where matches may begin `anywhere`, it is not told whether one may.
    pub(super) fn of(source: &impl Source, anywhere: bool) -> Option<Self> {
        let all: Vec<Option<u8>> = (0..=u8::MAX).map(Some).chain([None]).collect();
        let kinds = Numbers::of(all.iter().copied(), |letter| source.kind(letter));
        let letters: Vec<Option<u8>> = kinds.firsts().into_iter().map(|first| all[first]).collect();
        let may_begin: &[bool] = if anywhere { &[true] } else { &[true, false] };
        let group = |&may_begin| letters.iter().map(move |&letter| (letter, may_begin));
        let (idle, rows) = rows(source, &may_begin.iter().flat_map(group).collect::<Vec<_>>())?;
        let states = merged(&rows);
        let mut rows: Vec<Vec<usize>> =
            states.firsts().into_iter().map(|state| states.through(&rows[state])).collect();
        let alike = Numbers::of(0..may_begin.len() * letters.len(), |letter| {
            rows.iter().map(|row| row[letter]).collect::<Vec<_>>()
        });
        let kept = alike.firsts();
        rows.iter_mut().for_each(|row| *row = kept.iter().map(|&letter| row[letter]).collect());
        let column = |kind: &usize, group: usize| alike.of[group * letters.len() + kind];
        let columns = |group: usize| kinds.of.iter().map(|kind| column(kind, group)).collect();
        let columns = [0, may_begin.len() - 1].map(columns);
        Some(Self { idle: idle.map(|state| states.of[state]), rows, columns })
    }

    /// How many numbers its rows hold.
    pub(super) fn size(&self) -> usize {
        self.rows.iter().map(Vec::len).sum()
    }

    /// The state in which nothing has begun after a byte.
    pub(super) fn idle_after(&self, byte: u8) -> usize {
        let [other, word, line_end, _] = self.idle;
        match Before::of(byte) {
            Before::Other => other,
            Before::Word => word,
            Before::LineEnd => line_end,
        }
    }

    /// The states that a byte leads to where a match may begin, and where none may.
    pub(super) fn steps(&self, state: usize, byte: u8) -> [usize; 2] {
        [0, 1].map(|group| self.rows[state][self.columns[group][usize::from(byte)]])
    }
}

/// The states in which nothing has begun, and where each state leads. The first is the end of a match, then come those.
fn rows<S: Source>(source: &S, letters: &[(Option<u8>, bool)]) -> Option<([usize; 4], Vec<Vec<usize>>)> {
    let mut states = Numbers::of(source.idle(), |state| state);
    let idle = [0, 1, 2, 3].map(|before| 1 + states.of[before]);
    let mut rows = vec![vec![END; letters.len()]];
    while let Some(state) = states.items.get(rows.len() - 1).cloned() {
        let to = letters.iter().map(|&(letter, may_begin)| source.step(&state, letter, may_begin));
        rows.push(to.map(|to| to.map_or(END, |to| 1 + states.number(to))).collect());
        if rows.len() > MOST_STATES {
            return None;
        }
    }
    Some((idle, rows))
}

/// Which states are the same: Moore's way, who takes all for the same but the end, and tells states apart that lead to
/// such as were told apart, until there are none.
fn merged(rows: &[Vec<usize>]) -> Numbers<Vec<usize>> {
    let mut states = Numbers::of(0..rows.len(), |state| vec![usize::from(state != END)]);
    loop {
        let look = |state: usize| [vec![states.of[state]], states.through(&rows[state])].concat();
        let finer = Numbers::of(0..rows.len(), look);
        if finer.items.len() == states.items.len() {
            return states;
        }
        states = finer;
    }
}

/// Things that have been given the same number if they look the same, in the order of their first.
#[derive(Debug)]
struct Numbers<L> {
    /// The number of each thing.
    of: Vec<usize>,
    /// How the things of each number look.
    items: Vec<L>,
    known: HashMap<L, usize>,
}

impl<L: Hash + Eq + Clone> Numbers<L> {
    fn of<T>(things: impl IntoIterator<Item = T>, look: impl Fn(T) -> L) -> Self {
        let mut numbers = Self { of: Vec::new(), items: Vec::new(), known: HashMap::new() };
        for thing in things {
            let number = numbers.number(look(thing));
            numbers.of.push(number);
        }
        numbers
    }

    fn number(&mut self, look: L) -> usize {
        *self.known.entry(look).or_insert_with_key(|look| {
            self.items.push(look.clone());
            self.items.len() - 1
        })
    }

    /// The first thing of each number.
    fn firsts(&self) -> Vec<usize> {
        let mut firsts = Vec::new();
        for (thing, &number) in self.of.iter().enumerate() {
            if number == firsts.len() {
                firsts.push(thing);
            }
        }
        firsts
    }

    /// The numbers of things.
    fn through(&self, things: &[usize]) -> Vec<usize> {
        things.iter().map(|&thing| self.of[thing]).collect()
    }
}
