//! The rules for one program, indexed by the second word of a command.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};

use stockade_shell::{Arg, Run};

/// Indices of the rules for one program. The type `W` of a word is owned for rules from files, and static for built-in ones.
#[derive(Debug, Clone)]
pub(super) struct About<W, S = RandomState> {
    pub(super) all: Vec<usize>,
    /// Rules without a second word, or with a pattern for it.
    any_word: Vec<usize>,
    /// Rules with a literal second word, by that word.
    by_word: HashMap<W, Vec<usize>, S>,
}

impl<W, S: Default> Default for About<W, S> {
    fn default() -> Self {
        Self { all: Vec::new(), any_word: Vec::new(), by_word: HashMap::default() }
    }
}

impl<W: Hash + Eq + Borrow<str>, S: BuildHasher> About<W, S> {
    /// Adds a rule with its second words, if they are literal and not patterns.
    pub(super) fn add(&mut self, number: usize, second_words: Option<impl Iterator<Item = W>>) {
        if self.all.last() == Some(&number) {
            return;
        }
        self.all.push(number);
        match second_words {
            Some(words) => words.for_each(|word| self.by_word.entry(word).or_default().push(number)),
            None => self.any_word.push(number),
        }
    }

    /// Returns the rules that may match a command. Rules whose second word does not occur in the command are left out, unless the
    /// command has words that are only known at run time. A rule may be returned more than once.
    pub(super) fn likely(&self, run: &Run<'_>) -> impl Iterator<Item = usize> {
        /// With more words than this, returning all rules once is cheaper than a lookup for each word.
        const FEW: usize = 16;
        let words = run.argv.get(1..).unwrap_or_default();
        let is_plain =
            !run.open_ended && words.len() <= FEW && words.iter().all(|word| word.known().is_some());
        let (rules, words) = if is_plain { (&self.any_word, words) } else { (&self.all, &[][..]) };
        let words = if self.by_word.is_empty() { &[][..] } else { words };
        let by_word = words.iter().filter_map(|word: &Arg<'_>| self.by_word.get(word.known()?)).flatten();
        rules.iter().chain(by_word).copied()
    }
}
