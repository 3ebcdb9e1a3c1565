//! A search for many short words that costs little to build.
//!
//! An Aho–Corasick automaton searches faster. But a hook redacts a few short texts and ends, and to build the automata of all tables took
//! fifty times as many instructions as to search with them. The search compares pairs of bytes first and is linear in the text: how many words
//! begin alike depends only on the table.

/// Words to search for.
pub(crate) struct Literals {
    case: Case,
    /// The words with their indices, by first byte; of those, the shortest first.
    words: Vec<(&'static [u8], usize)>,
    /// From where to where the words of each first byte are in `words`.
    alike: [(usize, usize); ASCII],
    /// A bit for each pair of bytes with which a word begins.
    pairs: [u64; ASCII * ASCII / 64],
}

/// Whether upper and lower case are distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    Sensitive,
    #[cfg_attr(
        not(any(feature = "redact", test)),
        expect(dead_code, reason = "hints of forms and commands ignore case")
    )]
    Ignored,
}

/// The number of ASCII characters. Other bytes share their entries, which causes comparisons but no hits.
const ASCII: usize = 128;

/// A word in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The index of the word in the list that the search was built from.
    pub(crate) word: usize,
}

impl Case {
    const fn fold(self, byte: u8) -> u8 {
        match self {
            Self::Sensitive => byte,
            Self::Ignored => byte.to_ascii_lowercase(),
        }
    }

    /// The entry of a first byte.
    const fn entry(self, first: u8) -> usize {
        self.fold(first) as usize % ASCII
    }

    /// The bit of a pair of bytes.
    const fn pair(self, first: u8, second: u8) -> usize {
        self.entry(first) * ASCII + self.entry(second)
    }
}

impl Literals {
    /// Builds a search for words of ASCII. Empty words are never found.
    pub(crate) fn new(case: Case, words: impl IntoIterator<Item = &'static str>) -> Self {
        let words = words.into_iter().enumerate().map(|(index, word)| (word.as_bytes(), index));
        let mut words: Vec<(&[u8], usize)> = words.filter(|(word, _)| !word.is_empty()).collect();
        words.sort_by_key(|(word, _)| (word.first().map(|byte| case.entry(*byte)), word.len()));
        let mut alike = [(0, 0); ASCII];
        let mut pairs = [0; ASCII * ASCII / 64];
        for (place, (word, _)) in words.iter().enumerate() {
            let Some(first) = word.first() else { continue };
            if let Some((start, end)) = alike.get_mut(case.entry(*first)) {
                *start = if *end == 0 { place } else { *start };
                *end = place + 1;
            }
            // Any byte may follow a word of one byte.
            let seconds = word.get(1).map_or(0..=u8::MAX, |second| *second..=*second);
            for pair in seconds.map(|second| case.pair(*first, second)) {
                pairs.get_mut(pair / 64).into_iter().for_each(|bits| *bits |= 1_u64 << (pair % 64));
            }
        }
        Self { case, words, alike, pairs }
    }

    /// Finds every word wherever it begins, in the order of the text; of words at one place, the shortest first.
    pub(crate) fn find<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Hit> + 'a {
        let bytes = text.as_bytes();
        // A word of one byte may be the last one of the text.
        let seconds = bytes.iter().skip(1).chain(std::iter::once(&0));
        let pairs = bytes.iter().zip(seconds).enumerate();
        let places = pairs.filter(|(at, (first, second))| {
            self.may_begin(**first, **second) || (at + 1 == bytes.len() && !self.beside(**first).is_empty())
        });
        places.flat_map(move |(at, (first, _))| self.at(bytes, at, *first))
    }

    /// Returns whether one of the words is in the text.
    #[cfg(any(feature = "redact", test))]
    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.find(text).next().is_some()
    }

    fn may_begin(&self, first: u8, second: u8) -> bool {
        let pair = self.case.pair(first, second);
        self.pairs.get(pair / 64).is_some_and(|bits| bits >> (pair % 64) & 1 == 1)
    }

    /// The words that begin with this byte, or share its entry.
    fn beside(&self, first: u8) -> &[(&'static [u8], usize)] {
        let (start, end) = self.alike.get(self.case.entry(first)).copied().unwrap_or_default();
        self.words.get(start..end).unwrap_or_default()
    }

    fn at<'a>(&'a self, bytes: &'a [u8], start: usize, first: u8) -> impl Iterator<Item = Hit> + 'a {
        self.beside(first).iter().filter_map(move |(word, index)| {
            let end = start + word.len();
            let mut found = bytes.get(start..end)?.iter().zip(*word);
            let is_same = found.all(|(byte, of_word)| self.case.fold(*byte) == self.case.fold(*of_word));
            is_same.then_some(Hit { start, end, word: *index })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_found_wherever_they_begin() {
        let words = Literals::new(Case::Ignored, ["token", "to", "@", "PsExec", ""]);
        let found = |text: &str| -> Vec<(usize, usize)> {
            words.find(text).map(|hit| (hit.start, hit.word)).collect()
        };
        assert_eq!(found("Tokens to @"), [(0, 1), (0, 0), (7, 1), (10, 2)]);
        assert_eq!(found("psexec"), [(0, 3)]);
        assert_eq!(found("tö\u{c0}t"), []);
        assert!(!Literals::new(Case::Sensitive, ["AKIA"]).is_in("akia"));
    }

    proptest! {
        #[test]
        fn it_finds_what_a_naive_search_finds(text in "[abAB@é]{0,30}") {
            const WORDS: [&str; 5] = ["a", "ab", "ABBA", "b@", "@"];
            for (case, fold) in [(Case::Sensitive, false), (Case::Ignored, true)] {
                let lower = |text: &str| if fold { text.to_ascii_lowercase() } else { text.to_owned() };
                let mut naive: Vec<_> = WORDS
                    .iter()
                    .enumerate()
                    .flat_map(|(word, of)| {
                        let found: Vec<_> = (0..text.len())
                            .filter(|at| lower(&text).as_bytes()[*at..].starts_with(lower(of).as_bytes()))
                            .map(|start| Hit { start, end: start + of.len(), word })
                            .collect();
                        found
                    })
                    .collect();
                naive.sort_by_key(|hit| (hit.start, hit.end));
                let found: Vec<_> = Literals::new(case, WORDS).find(&text).collect();
                prop_assert_eq!(found, naive);
            }
        }
    }
}
