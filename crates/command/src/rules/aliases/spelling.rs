//! One form of a row, and how it matches the words of rules.

use crate::rules::token::{Token, alternatives};

/// The words of a pattern, each with its alternatives.
pub(crate) type Words = Vec<Vec<String>>;

/// Matches any word of a rule, or a part of a word, which every form of the row preserves.
const ANY: char = '%';

/// Marks that only options may follow.
const ALONE: &str = "!";

/// The words of one form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spelling {
    pub(super) words: Words,
    pub(super) is_alone: bool,
}

/// The words of a rule that follow a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rest<'r> {
    kept: Vec<String>,
    after: &'r [Vec<String>],
}

impl Spelling {
    /// Parses `program sub|other %`, with a space between words and a bar between alternatives.
    pub(super) fn read(text: &str) -> Self {
        let is_alone = text.ends_with(ALONE);
        let words = text.trim_end_matches(ALONE).split_whitespace();
        Self { words: words.map(|word| word.split('|').map(str::to_owned).collect()).collect(), is_alone }
    }

    /// Returns its programs.
    pub(super) fn programs(&self) -> &[String] {
        self.words.first().map_or(&[], Vec::as_slice)
    }

    /// Returns the words of a rule that follow this form, if the rule starts with it; or, if the rule may be shorter, if this
    /// form starts with the words of the rule.
    pub(super) fn rest_of<'r>(&self, rule: &ReadWords<'r>, may_be_shorter: bool) -> Option<Rest<'r>> {
        let (rule, read) = (rule.words, &rule.read);
        if rule.len() < self.words.len() && !may_be_shorter {
            return None;
        }
        let mut kept = Vec::new();
        for (own, word) in self.words.iter().zip(read) {
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

    /// Returns this form followed by the remaining words of a rule.
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

/// The words of a rule, compiled once because they are compared with many rows.
pub(super) struct ReadWords<'r> {
    words: &'r [Vec<String>],
    read: Vec<Vec<(String, Token)>>,
}

impl<'r> ReadWords<'r> {
    pub(super) fn new(words: &'r [Vec<String>]) -> Self {
        let one = |text: String| {
            let token = Token::read(&text);
            (text, token)
        };
        let read = |word: &Vec<String>| word.iter().flat_map(|word| alternatives(word)).map(one).collect();
        Self { words, read: words.iter().map(read).collect() }
    }

    /// Returns whether every command that starts with `longer` also starts with these words.
    pub(super) fn has_all(&self, longer: &[Vec<String>]) -> bool {
        let covers = |(word, other): (&Vec<(String, Token)>, &Vec<String>)| {
            other.iter().all(|text| word.iter().any(|(_, token)| token.fits(text)))
        };
        self.read.len() <= longer.len() && self.read.iter().zip(longer).all(covers)
    }
}

/// Returns whether a word of a rule matches one of a form, and which part of it is preserved.
fn fitting(own: &[String], word: &[(String, Token)]) -> Option<Vec<String>> {
    let mut kept = Vec::new();
    let mut any = false;
    for (one, token) in word {
        for text in own {
            match text.split_once(ANY) {
                Some((before, after)) => {
                    let inner = one.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
                    kept.extend(inner.filter(|inner| !inner.is_empty()).map(str::to_owned));
                }
                // A lone `*` is not a word of this program, so it is matched as written.
                None => any |= token.fits(text),
            }
        }
    }
    (any || !kept.is_empty()).then_some(kept)
}
