//! The rules about one program, found by the second word of a command.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};

use stockade_shell::{Arg, Run};

/// The numbers of the rules about one program. `W` is a word, owned for rules that were read and static for built-in ones.
#[derive(Debug, Clone)]
pub(super) struct About<W, S = RandomState> {
    pub(super) all: Vec<usize>,
    /// Those that say nothing of a second word, or give a pattern for it.
    any_word: Vec<usize>,
    /// The others, by that word.
    by_word: HashMap<W, Vec<usize>, S>,
}

impl<W, S: Default> Default for About<W, S> {
    fn default() -> Self {
        Self { all: Vec::new(), any_word: Vec::new(), by_word: HashMap::default() }
    }
}

impl<W: Hash + Eq + Borrow<str>, S: BuildHasher> About<W, S> {
    /// Adds a rule with its second words, when those are words and no patterns.
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

    /// Returns the rules that may match: a second word that is not among the words of a command is not matched, unless it
    /// is only known when the command runs. A rule may come more than once.
    pub(super) fn likely(&self, run: &Run<'_>) -> impl Iterator<Item = usize> {
        /// With more words than this, all rules are asked, once.
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
