//! Frequency of byte sequences in the text of real skills.
//!
//! `pairs.txt` contains a model: line `a`, column `b` is the probability that two neighbouring bytes of a skill
//! belong to the kinds `a` and `b`, as a character in quarters of a bit: `!` is certain, `)` one in four, and each
//! further character a quarter of a bit rarer. `cargo run --example frequencies` counts it again. The model only
//! decides which grams are cheap to search; a wrong one costs time but never a match. The tables of the built-in
//! rules are made with a better model, `fours`.

use std::sync::OnceLock;

use arrayvec::ArrayVec;

use super::byte_kind::{KINDS, kind};
use super::byte_set::ByteSet;

const TABLE: &str = include_str!("pairs.txt");

/// A model: returns the expected frequency of a gram per byte of text.
pub(crate) type Frequency = fn(&[ByteSet]) -> f64;

/// A distribution over the kinds of bytes.
type PerKind = [f64; KINDS];

/// Returns the expected frequency of a gram per byte of text, estimated from pairs.
pub(crate) fn frequency(gram: &[ByteSet]) -> f64 {
    let model = model();
    let mut sets = gram.iter().map(|&set| model.share(set));
    let Some(first) = sets.next() else { return 1.0 };
    let begin = first.iter().map(|&(kind, share)| (kind, share * at(&model.single, kind))).collect();
    let reached: Share = sets.fold(begin, |reached, set| model.step(&reached, &set));
    reached.iter().map(|&(_, weight)| weight).sum()
}

/// Returns a rougher estimate, as if every byte were independent of the one before it, in a fraction of the time: for the
/// rules of a user, whose tables are made when a program starts.
pub(crate) fn independent(gram: &[ByteSet]) -> f64 {
    gram.iter().map(|&set| weight(set)).product()
}

/// Returns the share of a text that belongs to a set.
fn weight(set: ByteSet) -> f64 {
    let Weights { bytes, fours } = weights();
    if set.len() <= FEW {
        return set.bytes().map(|byte| bytes.get(usize::from(byte)).copied().unwrap_or(0.0)).sum();
    }
    let words = set.0.into_iter().zip(fours).filter(|(word, _)| *word != 0);
    let weight = |(mut word, fours): (u64, &[[f64; 16]; 16])| {
        let fours = fours.iter().map(|four| {
            let bits = word & 15;
            word >>= 4;
            four.get(bits as usize).copied().unwrap_or(0.0)
        });
        fours.sum::<f64>()
    };
    words.map(weight).sum()
}

/// The bytes of so small a set are added one by one.
const FEW: usize = 8;

/// The share of a text of each byte, and for every four bytes of each of the bits of those that are in a set, word by word.
#[derive(Debug)]
struct Weights {
    bytes: [f64; 256],
    fours: [[[f64; 16]; 16]; 4],
}

fn weights() -> &'static Weights {
    static WEIGHTS: OnceLock<Weights> = OnceLock::new();
    WEIGHTS.get_or_init(|| {
        let model = model();
        let mut weights = Weights { bytes: [0.0; 256], fours: [[[0.0; 16]; 16]; 4] };
        for (weight, byte) in weights.bytes.iter_mut().zip(0..=u8::MAX) {
            *weight = at(&model.single, kind(byte)) / at(&model.sizes, kind(byte));
        }
        for (four, bytes) in weights.fours.as_flattened_mut().iter_mut().zip(weights.bytes.as_chunks().0) {
            for (weight, bits) in four.iter_mut().zip(0_u8..) {
                let [a, b, c, d]: [f64; 4] = std::array::from_fn(|place| f64::from(bits >> place & 1));
                let [p, q, r, s]: [f64; 4] = *bytes;
                *weight = a * p + b * q + c * r + d * s;
            }
        }
        weights
    })
}

/// Some kinds of bytes, with the share of each. Without an allocation, since a pattern has hundreds of grams to choose
/// from.
type Share = ArrayVec<(usize, f64), KINDS>;

#[derive(Debug)]
struct Model {
    /// The probability of each kind.
    single: PerKind,
    /// The probability of each kind after another.
    after: Vec<PerKind>,
    /// The number of bytes of each kind.
    sizes: PerKind,
}

fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| Model::parse(TABLE))
}

impl Model {
    fn parse(table: &str) -> Self {
        let pairs: Vec<PerKind> = table.lines().map(parse_line).collect();
        let mut single = [0.0; KINDS];
        for (kind, line) in single.iter_mut().zip(&pairs) {
            // The marginal probability of the first byte of a pair.
            *kind = line.iter().sum();
        }
        let after = pairs.iter().zip(&single).map(|(line, total)| line.map(|pair| pair / total)).collect();
        let sizes = Self::count(ByteSet::ANY);
        Self { single, after, sizes }
    }

    fn count(set: ByteSet) -> PerKind {
        let mut counts = [0.0; KINDS];
        for byte in set.bytes() {
            if let Some(count) = counts.get_mut(kind(byte)) {
                *count += 1.0;
            }
        }
        counts
    }

    /// Returns the share of each kind that belongs to `set`, omitting zeros.
    fn share(&self, set: ByteSet) -> Share {
        let mut shares = Share::new();
        for byte in set.bytes() {
            let kind = kind(byte);
            // Bytes of one kind are assumed to be equally frequent. They are neighbours, but for control characters,
            // whose kind comes first.
            let part = at(&self.sizes, kind).recip();
            let is_first = shares.first().is_some_and(|(first, _)| *first == kind);
            let known = if is_first { shares.first_mut() } else { shares.last_mut() };
            match known.filter(|(known, _)| *known == kind) {
                Some((_, share)) => *share += part,
                // There is room for every kind.
                None => drop(shares.try_push((kind, part))),
            }
        }
        shares
    }

    /// Returns the distribution one byte further, over the kinds of `set`.
    fn step(&self, reached: &Share, set: &Share) -> Share {
        // A Markov chain of first order: the next byte depends only on the current one.
        let weight = |to: usize| {
            let from = reached
                .iter()
                .map(|&(from, weight)| weight * self.after.get(from).map_or(0.0, |line| at(line, to)));
            from.sum::<f64>()
        };
        set.iter().map(|&(kind, share)| (kind, share * weight(kind))).collect()
    }
}

fn at(table: &PerKind, kind: usize) -> f64 {
    table.get(kind).copied().unwrap_or(0.0)
}

fn parse_line(line: &str) -> PerKind {
    let mut pairs = [0.0; KINDS];
    for (pair, character) in pairs.iter_mut().zip(line.bytes()) {
        *pair = rarer(character.saturating_sub(b'!'));
    }
    pairs
}

/// Returns two to the power of minus `quarters`/4. Written by hand, since `exp2` would make every program load the
/// math library.
#[expect(clippy::indexing_slicing, reason = "one of four quarters")]
pub(super) fn rarer(quarters: u8) -> f64 {
    const QUARTERS: [f64; 4] =
        [1.0, 0.840_896_415_253_714_5, std::f64::consts::FRAC_1_SQRT_2, 0.594_603_557_501_360_5];
    (0..quarters / 4).fold(QUARTERS[usize::from(quarters % 4)], |probability, _| probability / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quarters_of_a_bit_add_up() {
        assert!(
            (0..=255_u8)
                .all(|quarters| (rarer(quarters) - (f64::from(quarters) / -4.0).exp2()).abs() < 1e-15)
        );
    }

    fn of(text: &str) -> f64 {
        frequency(&text.bytes().map(|byte| ByteSet::range(byte, byte)).collect::<Vec<_>>())
    }

    #[test]
    fn the_table_covers_every_pair_of_kinds() {
        assert_eq!(TABLE.lines().count(), KINDS);
        assert!(TABLE.lines().all(|line| line.len() == KINDS && line.is_ascii()));
        assert!((0..=u8::MAX).all(|byte| kind(byte) < KINDS));
    }

    #[test]
    fn probabilities_add_up() {
        let all = frequency(&[ByteSet::ANY]);
        assert!((0.9..1.1).contains(&all), "{all}");
        assert!((frequency(&[ByteSet::ANY; 4]) - all).abs() < 0.1);
    }

    #[test]
    fn every_kind_has_its_share() {
        let sets = [ByteSet::ANY, ByteSet::WORD, ByteSet::range(0, 0x7f), ByteSet::range(b'\r', b'z').not()];
        for set in sets {
            let (counts, share) = (Model::count(set), model().share(set));
            for (kind, count) in counts.iter().enumerate() {
                let of_kind: Vec<f64> =
                    share.iter().filter(|(known, _)| *known == kind).map(|(_, share)| *share).collect();
                let expected = count / at(&model().sizes, kind);
                assert!(of_kind.len() == usize::from(*count > 0.0), "{kind}");
                assert!((of_kind.iter().sum::<f64>() - expected).abs() < 1e-9, "{kind}");
            }
        }
    }

    #[test]
    fn independent_bytes_are_about_as_frequent() {
        let letters = |text: &str| {
            independent(&text.bytes().map(|byte| ByteSet::range(byte, byte)).collect::<Vec<_>>())
        };
        assert!(letters("the ") > 10.0 * letters("$(sh"));
        assert!((independent(&[ByteSet::ANY; 4]) - 1.0).abs() < 0.2);
    }

    #[test]
    fn common_letters_are_common() {
        assert!(of("the ") > 10.0 * of("$(sh"));
        assert!(of("e") > of("q"));
        assert!(of("\x00\x00") < 1e-5);
    }
}
