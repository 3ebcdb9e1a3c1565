//! A running program as a shape sees it: its name, its options, and the words that are no options.

use crate::shell::{Arg, Run};

/// A program with its words sorted.
pub(super) struct Command<'r, 't> {
    /// The name without its folder.
    pub(super) name: &'r str,
    pub(super) run: &'r Run<'t>,
}

impl<'r, 't> Command<'r, 't> {
    /// Returns the command of a run whose program is certain.
    pub(super) fn of(run: &'r Run<'t>) -> Option<Self> {
        let name = run.program()?;
        Some(Self { name: name.rsplit('/').next().unwrap_or(name), run })
    }

    /// The words after the name.
    pub(super) fn words(&self) -> impl Iterator<Item = &'r Arg<'t>> {
        self.run.argv.iter().skip(1)
    }

    /// Whether an option is set: alone, in a cluster, or as any beginning of its long name.
    pub(super) fn has(&self, short: Option<char>, long: &str) -> bool {
        let options = self.words().filter_map(Arg::known).take_while(|word| *word != "--");
        let is_long = |word: &str| {
            let name = word.split_once('=').map_or(word, |(name, _)| name);
            name.len() > 2 && name.starts_with("--") && long.starts_with(name)
        };
        let is_short = |word: &str| {
            let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
            short.is_some_and(|short| letters.is_some_and(|letters| letters.contains(short)))
        };
        options.into_iter().any(|word| is_long(word) || is_short(word))
    }
}
