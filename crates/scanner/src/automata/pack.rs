//! Writes the automata of the built-in shapes, and holds that `builtin.bin` is what it writes.

#![expect(clippy::disallowed_methods, reason = "compares and writes a file of this crate")]

use std::{env, fs};

use super::condition::conditions;
use super::make::Made;
use super::outline::outline;
use super::wait::Wait;
use super::walk::UNIT_WORDS;
use super::{Automaton, Role, SET_WORDS, Words};
use crate::exact::expand;
use crate::rule::{Regions, Shape, Unless};
use crate::rules;
use crate::sieve::ByteSet;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/automata/builtin.bin");

/// Behind the columns of so many bytes stands that of the end of a text.
const BYTES: usize = 256;

/// What is written.
#[derive(Default)]
struct Packer {
    /// The automata of each role of each shape, by number.
    lists: Vec<Vec<usize>>,
    automata: Vec<Vec<u16>>,
}

impl Packer {
    /// Adds a role.
    fn add(&mut self, automata: Vec<Made>) {
        let number = |made: Made| {
            let words = words(&made);
            self.automata.iter().position(|known| *known == words).unwrap_or_else(|| {
                self.automata.push(words);
                self.automata.len() - 1
            })
        };
        self.lists.push(automata.into_iter().map(number).collect());
    }

    fn finish(self) -> Vec<u8> {
        let mut words = vec![word(self.lists.len())];
        words.extend(borders(0, self.lists.iter().map(Vec::len)).map(word));
        words.extend(self.lists.iter().flatten().copied().map(word));
        let first = words.len() + 2 * (self.automata.len() + 1);
        let long = |border| {
            let border = u32::try_from(border).expect("a long word");
            [border as u16, (border >> 16) as u16]
        };
        words.extend(borders(first, self.automata.iter().map(Vec::len)).flat_map(long));
        words.extend(self.automata.into_iter().flatten());
        words.into_iter().flat_map(u16::to_le_bytes).collect()
    }
}

/// Where things of these lengths begin that stand behind each other, and where the last one ends.
fn borders(first: usize, lengths: impl Iterator<Item = usize>) -> impl Iterator<Item = usize> {
    let ends = lengths.scan(first, |end, length| {
        *end += length;
        Some(*end)
    });
    std::iter::once(first).chain(ends)
}

/// Returns an automaton as it is written.
fn words(made: &Made) -> Vec<u16> {
    let units = made.rows.first().map_or(1, |row| row.len().div_ceil(UNIT_WORDS));
    let state = |state: usize| word(state * units);
    let wait = Wait::of(made);
    let mut words: Vec<u16> = made.idle.into_iter().chain([wait.last]).map(state).collect();
    let [_, between] = &made.columns;
    words.push(word(between[BYTES]));
    words.push(wait.are_pairs.into());
    words.extend((0..SET_WORDS).map(|word| set_word(wait.signs, word)));
    for columns in &made.columns {
        let pair = |pair: &[usize]| pair.iter().rev().fold(0, |pair, &column| pair << 8 | column);
        words.extend(columns[..BYTES].chunks(2).map(pair).map(word));
    }
    for row in &made.rows {
        let row = row.iter().copied().chain(std::iter::repeat(0)).take(units * UNIT_WORDS);
        words.extend(row.map(state));
    }
    words
}

fn set_word(set: ByteSet, word: usize) -> u16 {
    (0..16).filter(|bit| set.contains((16 * word + bit) as u8)).fold(0, |bits, bit| bits | 1 << bit)
}

fn word(number: usize) -> u16 {
    u16::try_from(number).expect("a word")
}

pub(super) fn shapes() -> impl Iterator<Item = &'static Shape<'static>> {
    rules::all().flat_map(|rule| rule.shapes)
}

/// The patterns of a shape's conditions of a kind.
pub(super) fn excuses(shape: &Shape<'_>, role: Role) -> Vec<String> {
    let pattern = |unless: &Unless<'_>| match (*unless, role) {
        (Unless::Match(pattern), Role::Match)
        | (Unless::Before(pattern), Role::Before)
        | (Unless::After(pattern), Role::After) => Some(expand(pattern).expect("known fragments")),
        _ => None,
    };
    shape.unless.iter().filter_map(pattern).collect()
}

fn builtin() -> Vec<u8> {
    let mut packer = Packer::default();
    for shape in shapes() {
        for role in Role::ALL {
            packer.add(match role {
                Role::Outline => {
                    let pattern = expand(shape.pattern).expect("known fragments");
                    vec![outline(&pattern, shape.regions == Regions::ANY)]
                }
                _ => conditions(&excuses(shape, role)),
            });
        }
    }
    packer.finish()
}

#[test]
fn automata_are_fresh() {
    let wanted = builtin();
    if env::var_os("STOCKADE_BLESS").is_some_and(|value| value == "1") {
        fs::write(PATH, &wanted).unwrap();
    }
    assert!(
        fs::read(PATH).unwrap() == wanted,
        "automata/builtin.bin is not fresh: run `cargo xtask generate`"
    );
}

/// Returns the first of these automata as it is read again.
pub(super) fn read(automata: Vec<Made>) -> Automaton {
    let file = written(automata);
    file.automata(0).and_then(|mut automata| automata.next()).expect("an automaton")
}

/// Returns a file of these automata, for as long as the tests run.
pub(super) fn written(automata: Vec<Made>) -> Words {
    let mut packer = Packer::default();
    packer.add(automata);
    Words(packer.finish().leak().as_chunks().0)
}
