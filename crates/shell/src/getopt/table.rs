//! The options of a program, as a table writes them.

use std::sync::OnceLock;

/// The options of a program, read when they are first asked for.
///
/// Syntax as in a manual: `-x` and `--long` are flags, `-x:` and `--long=` take a value, `-x?` and `--long=?` take
/// one only if it is attached, `-x!` takes the last one, `-#` is a number like `-10`, and `--*` means that every long
/// option is known and has its value in the same word.
#[derive(Debug)]
pub struct OptionTable {
    written: &'static str,
    /// Whether long options may be abbreviated.
    abbreviates: bool,
    read: OnceLock<Known>,
}

/// Value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// The option is a flag without a value.
    Nothing,
    /// A value, in the same word or the next one.
    Value,
    /// A value, after which no other option is read.
    Last,
    /// A value only where one is attached.
    Attached,
}

#[derive(Debug, Default)]
struct Known {
    letters: Vec<(char, &'static str, Takes)>,
    /// Everything that is longer than a letter: `--long`, and `-long` of programs that write it so.
    words: Vec<(&'static str, Takes)>,
    any_long: bool,
    numbers: bool,
    dash: bool,
}

impl OptionTable {
    /// Creates a table from its text, which is parsed on first use. The syntax is described at [`OptionTable`].
    #[must_use]
    pub const fn new(written: &'static str) -> Self {
        Self { written, abbreviates: true, read: OnceLock::new() }
    }

    /// Same as [`Self::new`] for a table that does not list every option of its program. An abbreviation is not known then: the
    /// program may have another option of exactly that name, as git has `--output` beside `--output-indicator-new`.
    #[must_use]
    pub const fn unabbreviated(written: &'static str) -> Self {
        Self { written, abbreviates: false, read: OnceLock::new() }
    }

    /// Returns the text of the table.
    #[must_use]
    pub const fn written(&self) -> &'static str {
        self.written
    }

    fn known(&self) -> &Known {
        self.read.get_or_init(|| Known::read(self.written))
    }

    /// Whether a dash alone is an option.
    pub(super) fn has_dash(&self) -> bool {
        self.known().dash
    }

    /// Whether numbers are options: `-10`.
    pub(super) fn has_numbers(&self) -> bool {
        self.known().numbers
    }

    /// Finds an option of one letter.
    pub(super) fn letter(&self, letter: char) -> Option<(&'static str, Takes)> {
        let found = self.known().letters.iter().find(|(known, ..)| *known == letter);
        found.map(|(_, name, takes)| (*name, *takes))
    }

    /// Finds an option by its whole name.
    pub(super) fn word(&self, name: &str) -> Option<(&'static str, Takes)> {
        self.known().words.iter().find(|(word, _)| *word == name).copied()
    }

    /// Finds a long option that is abbreviated, as GNU programs allow, unless its beginnings mean different things.
    pub(super) fn abbreviated(&self, name: &str) -> Option<(&'static str, Takes)> {
        let begins = |word: &&(&str, Takes)| word.0.len() > name.len() && word.0.starts_with(name);
        let mut fits =
            self.known().words.iter().filter(begins).filter(|_| self.abbreviates && name.len() > 2);
        let first = fits.next()?;
        fits.all(|(_, takes)| *takes == first.1).then_some(*first)
    }

    /// Whether every long option is known.
    pub(super) fn has_any_long(&self) -> bool {
        self.known().any_long
    }
}

impl Known {
    fn read(written: &'static str) -> Self {
        let mut known = Self::default();
        for token in written.split_ascii_whitespace() {
            match token {
                "--*" => known.any_long = true,
                "-#" => known.numbers = true,
                _ => known.add(token),
            }
        }
        known
    }

    fn add(&mut self, token: &'static str) {
        self.dash |= token == "-";
        let (name, takes) = takes_of(token);
        let mut letters = name.chars().skip(1);
        match (letters.next(), letters.next()) {
            (Some(letter), None) => self.letters.push((letter, name, takes)),
            _ => self.words.push((name, takes)),
        }
    }
}

fn takes_of(token: &str) -> (&str, Takes) {
    const KINDS: [(&str, Takes); 5] = [
        ("=?", Takes::Attached),
        ("?", Takes::Attached),
        ("!", Takes::Last),
        (":", Takes::Value),
        ("=", Takes::Value),
    ];
    let takes = KINDS.iter().find_map(|(suffix, takes)| Some((token.strip_suffix(suffix)?, *takes)));
    takes.unwrap_or((token, Takes::Nothing))
}
