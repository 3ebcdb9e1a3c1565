//! How often four bytes follow each other in real skills, counted.
//!
//! Pairs know no words: by them `kill` is rare, and in skills it is not. `fours.bin` holds the commonest sequences of four
//! bytes, each followed by how common it is, in quarters of a bit like the pairs. Together they are four fifths of all text;
//! the rest goes by pairs. Only the makers of the built-in tables ask this model, so no program has to carry it. Made by it, the
//! tables take less than half as many places for something to look at, in skills that were not counted too.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use super::{frequency, rarer};
use crate::sieve::byte_set::{ByteSet, ones};
use crate::sieve::window::WIDTH;

const TABLE: &[u8] = include_bytes!("fours.bin");

/// Some of the sequences, a bit each.
type Subset = Vec<u64>;

struct Model {
    /// The sequences that have a byte at a place.
    having: [Vec<Subset>; WIDTH],
    shares: Vec<f64>,
    /// How much of all text none of them is.
    rest: f64,
    /// What was asked before: buckets that stay the same are asked for again and again.
    answers: Mutex<HashMap<Vec<ByteSet>, f64>>,
}

/// Returns how often bytes of `window` are expected to follow each other, per byte of text.
pub(crate) fn frequency_of_four(window: &[ByteSet]) -> f64 {
    static MODEL: LazyLock<Model> = LazyLock::new(|| Model::parse(TABLE));
    let known = MODEL.answers.lock().unwrap().get(window).copied();
    known.unwrap_or_else(|| {
        let answer = MODEL.share(window) + MODEL.rest * frequency(window);
        MODEL.answers.lock().unwrap().insert(window.to_vec(), answer);
        answer
    })
}

impl Model {
    fn parse(table: &[u8]) -> Self {
        let (records, _) = table.as_chunks::<{ WIDTH + 1 }>();
        let none = vec![0; records.len().div_ceil(64)];
        let mut having = [(); WIDTH].map(|()| vec![none.clone(); 256]);
        let mut shares = Vec::new();
        for (number, &[ref bytes @ .., symbol]) in records.iter().enumerate() {
            for (having, &byte) in having.iter_mut().zip(bytes) {
                having[usize::from(byte)][number / 64] |= 1 << (number % 64);
            }
            shares.push(rarer(symbol - b'!'));
        }
        let rest = 1.0 - shares.iter().sum::<f64>();
        Self { having, shares, rest, answers: Mutex::default() }
    }

    /// How much of all text the sequences are that fit.
    fn share(&self, window: &[ByteSet]) -> f64 {
        let mut fitting = vec![u64::MAX; self.shares.len().div_ceil(64)];
        for (having, set) in self.having.iter().zip(window) {
            let mut any = vec![0; fitting.len()];
            set.bytes().for_each(|byte| each(&mut any, &having[usize::from(byte)], |any, one| any | one));
            each(&mut fitting, &any, |all, any| all & any);
        }
        let shares = fitting.iter().zip(self.shares.chunks(64));
        shares.flat_map(|(&fitting, shares)| ones(fitting).map(|one| shares[usize::from(one)])).sum()
    }
}

fn each(bits: &mut Subset, other: &Subset, join: impl Fn(u64, u64) -> u64) {
    bits.iter_mut().zip(other).for_each(|(bits, &other)| *bits = join(*bits, other));
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
