//! Frequency of four-byte sequences in real skills, by counting.
//!
//! A model of pairs knows no words: by pairs, `kill` is rare, but in skills it is not. `fours.bin` contains the most
//! common sequences of four bytes, each followed by its frequency in quarters of a bit, as for pairs. Together they
//! cover four fifths of all text; pairs estimate the rest. Only the generators of the built-in tables use this model,
//! so no program has to include it. Tables made by it visit less than half as many positions, also in skills that
//! were not counted.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use super::byte_set::ByteSet;
use super::frequency::{frequency, rarer};
use super::gram::WIDTH;

const TABLE: &[u8] = include_bytes!("fours.bin");

struct Model {
    /// For each position and byte, the sequences that have the byte there, in order.
    having: [Vec<Vec<u32>>; WIDTH],
    /// The sequences with their frequencies.
    sequences: Vec<([u8; WIDTH], f64)>,
    /// Share of all text that none of them covers.
    rest: f64,
    /// Cache: unchanged buckets are queried again and again.
    answers: Mutex<HashMap<Vec<ByteSet>, f64>>,
}

/// Returns the expected frequency of a gram per byte of text.
pub(crate) fn frequency_of_four(gram: &[ByteSet]) -> f64 {
    static MODEL: LazyLock<Model> = LazyLock::new(|| Model::parse(TABLE));
    let answers = || MODEL.answers.lock().unwrap_or_else(PoisonError::into_inner);
    // The lock is not held while an answer is computed: computing it twice is harmless.
    let known = answers().get(gram).copied();
    known.unwrap_or_else(|| {
        // Text outside of the counted sequences follows the model of pairs.
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

    /// Returns the share of text covered by matching sequences: it scans the candidates of the most selective
    /// position.
    fn share(&self, gram: &[ByteSet]) -> f64 {
        let fit_at = |having: &[Vec<u32>], set: &ByteSet| -> Vec<u32> {
            set.bytes().filter_map(|byte| having.get(usize::from(byte))).flatten().copied().collect()
        };
        let places = self.having.iter().zip(gram);
        let count = |(having, set): &(&Vec<Vec<u32>>, &ByteSet)| -> usize {
            set.bytes().filter_map(|byte| having.get(usize::from(byte))).map(Vec::len).sum()
        };
        // Only sequences that fit at the most selective position are tested in full.
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
