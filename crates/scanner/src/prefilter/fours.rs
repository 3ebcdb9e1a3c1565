//! How often four bytes follow each other in real skills, counted.
//!
//! Pairs know no words: by them `kill` is rare, and in skills it is not. `fours.bin` holds the commonest sequences of four
//! bytes, each followed by how common it is, in quarters of a bit like the pairs. Together they are four fifths of all text;
//! the rest goes by pairs. Only the makers of the built-in tables ask this model, so no program has to carry it. Made by it, the
//! tables take less than half as many places for something to look at, in skills that were not counted too.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use super::byte_set::ByteSet;
use super::frequency::{frequency, rarer};
use super::gram::WIDTH;

const TABLE: &[u8] = include_bytes!("fours.bin");

struct Model {
    /// The numbers of the sequences that have a byte at a place, in their order.
    having: [Vec<Vec<u32>>; WIDTH],
    /// The sequences, and how common each is.
    sequences: Vec<([u8; WIDTH], f64)>,
    /// How much of all text none of them is.
    rest: f64,
    /// What was asked before: buckets that stay the same are asked for again and again.
    answers: Mutex<HashMap<Vec<ByteSet>, f64>>,
}

/// Returns how often bytes of `gram` are expected to follow each other, per byte of text.
pub(crate) fn frequency_of_four(gram: &[ByteSet]) -> f64 {
    static MODEL: LazyLock<Model> = LazyLock::new(|| Model::parse(TABLE));
    let answers = || MODEL.answers.lock().unwrap_or_else(PoisonError::into_inner);
    let known = answers().get(gram).copied();
    known.unwrap_or_else(|| {
        let answer = MODEL.share(gram) + MODEL.rest * frequency(gram);
        answers().insert(gram.to_vec(), answer);
        answer
    })
}

impl Model {
    fn parse(table: &[u8]) -> Self {
        let (records, _) = table.as_chunks::<{ WIDTH + 1 }>();
        let mut having = [(); WIDTH].map(|()| vec![Vec::new(); 256]);
        let mut sequences = Vec::new();
        for (&[ref bytes @ .., symbol], number) in records.iter().zip(0..) {
            for (having, &byte) in having.iter_mut().zip(bytes) {
                having.get_mut(usize::from(byte)).into_iter().for_each(|having| having.push(number));
            }
            sequences.push((*bytes, rarer(symbol.saturating_sub(b'!'))));
        }
        let rest = 1.0 - sequences.iter().map(|(_, share)| share).sum::<f64>();
        Self { having, sequences, rest, answers: Mutex::default() }
    }

    /// How much of all text the sequences are that fit: of those that fit at the place where fewest do, the ones that fit at all.
    fn share(&self, gram: &[ByteSet]) -> f64 {
        let fit_at = |having: &[Vec<u32>], set: &ByteSet| -> Vec<u32> {
            set.bytes().filter_map(|byte| having.get(usize::from(byte))).flatten().copied().collect()
        };
        let places = self.having.iter().zip(gram);
        let count = |(having, set): &(&Vec<Vec<u32>>, &ByteSet)| -> usize {
            set.bytes().filter_map(|byte| having.get(usize::from(byte))).map(Vec::len).sum()
        };
        let fewest = places.min_by_key(count);
        let mut some = fewest.map_or_else(Vec::new, |(having, set)| fit_at(having, set));
        some.sort_unstable();
        let sequences = some.iter().filter_map(|&number| self.sequences.get(number as usize));
        let fitting =
            sequences.filter(|(bytes, _)| bytes.iter().zip(gram).all(|(&byte, set)| set.contains(byte)));
        fitting.map(|(_, share)| share).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> f64 {
        frequency_of_four(&text.bytes().map(|byte| ByteSet::range(byte, byte)).collect::<Vec<_>>())
    }

    #[test]
    fn words_are_known() {
        assert!(of("kill") > 20.0 * of("llik"));
        assert!(of("bash") > of("hsab"));
    }

    #[test]
    fn probabilities_add_up() {
        let all = frequency_of_four(&[ByteSet::ANY; WIDTH]);
        assert!((0.9..1.1).contains(&all), "{all}");
        let halves = [ByteSet::range(0, b'h'), ByteSet::range(b'i', u8::MAX)];
        let parts: f64 = halves.map(|half| frequency_of_four(&[ByteSet::ANY, half])).iter().sum();
        assert!((parts - all).abs() < 0.02, "{parts}");
    }
}
