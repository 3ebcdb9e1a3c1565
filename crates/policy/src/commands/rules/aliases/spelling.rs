//! One spelling of a row, and the words of rules that it fits.

use crate::commands::rules::token::{Token, alternatives};

/// The words of a pattern, each with its alternatives.
pub(crate) type Words = Vec<Vec<String>>;

/// Stands for any word of a rule, which every spelling of the row keeps, and for a part of a word beside letters.
const ANY: char = '%';

/// Says that nothing but options follows.
const ALONE: &str = "!";

/// The words of one spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spelling {
    pub(super) words: Words,
    pub(super) is_alone: bool,
}

/// What a rule has beyond a spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rest<'r> {
    kept: Vec<String>,
    after: &'r [Vec<String>],
}

impl Spelling {
    /// Reads `program sub|other %`, with a space between words and a bar between alternatives.
    pub(super) fn read(text: &str) -> Self {
        let is_alone = text.ends_with(ALONE);
        let words = text.trim_end_matches(ALONE).split_whitespace();
        Self { words: words.map(|word| word.split('|').map(str::to_owned).collect()).collect(), is_alone }
    }

    /// The programs that it begins with.
    pub(super) fn programs(&self) -> &[String] {
        self.words.first().map_or(&[], Vec::as_slice)
    }

    /// Returns what a rule has beyond this spelling, when it begins with it; or, where it may be shorter, when this spelling
    /// begins with the words of the rule.
    pub(super) fn rest_of<'r>(&self, rule: &'r [Vec<String>], may_be_shorter: bool) -> Option<Rest<'r>> {
        if rule.len() < self.words.len() && !may_be_shorter {
            return None;
        }
        let mut kept = Vec::new();
        for (own, word) in self.words.iter().zip(rule) {
            let fits = fitting(own, word)?;
            kept = if fits.is_empty() { kept } else { fits };
        }
        let unfilled: Vec<&Vec<String>> = self.words.iter().skip(rule.len()).collect();
        if let [[last]] =
            unfilled.as_slice().iter().map(|word| word.as_slice()).collect::<Vec<_>>().as_slice()
            && *last == ANY.to_string()
        {
            kept = vec!["*".to_owned()];
        } else if unfilled.into_iter().flatten().any(|word| word.contains(ANY)) {
            return None;
        }
        if self.is_alone && rule.len() > self.words.len() {
            return None;
        }
        Some(Rest { kept, after: rule.get(self.words.len()..).unwrap_or_default() })
    }

    /// Returns this spelling with what a rule has beyond another.
    pub(super) fn with(&self, rest: &Rest<'_>) -> Words {
        let filled = |word: &Vec<String>| -> Vec<String> {
            let of = |one: &String| -> Vec<String> {
                match one.split_once(ANY) {
                    Some((before, after)) => {
                        rest.kept.iter().map(|kept| format!("{before}{kept}{after}")).collect()
                    }
                    None => vec![one.clone()],
                }
            };
            word.iter().flat_map(of).collect()
        };
        self.words.iter().map(filled).chain(rest.after.iter().cloned()).collect()
    }
}

/// Whether a word of a rule fits one of a spelling, and what of it is kept.
fn fitting(own: &[String], word: &[String]) -> Option<Vec<String>> {
    let mut kept = Vec::new();
    let mut any = false;
    for one in word.iter().flat_map(|one| alternatives(one)) {
        let token = Token::read(&one);
        for text in own {
            match text.split_once(ANY) {
                Some((before, after)) => {
                    let inner = one.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
                    kept.extend(inner.filter(|inner| !inner.is_empty()).map(str::to_owned));
                }
                // A star alone is no word of this program: whatever it is, it is matched as it is written.
                None => any |= token.fits(text),
            }
        }
    }
    (any || !kept.is_empty()).then_some(kept)
}

/// Whether every command that begins with `longer` begins with `words` as well.
pub(super) fn has_all(words: &[Vec<String>], longer: &[Vec<String>]) -> bool {
    let covers = |(word, other): (&Vec<String>, &Vec<String>)| {
        let tokens: Vec<Token> =
            word.iter().flat_map(|one| alternatives(one)).map(|one| Token::read(&one)).collect();
        other.iter().all(|text| tokens.iter().any(|token| token.fits(text)))
    };
    words.len() <= longer.len() && words.iter().zip(longer).all(covers)
}
