//! Finds options in the words of a command, in all their notations.

use super::harmless::{self, Harmlessness};
use super::token::Token;
use stockade_shell::{Arg, Run, WordCount};

/// Whether the arguments contain an option or a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    There,
    /// It depends on words that are only known at run time.
    Maybe,
    NotThere,
}

/// Returns whether a word is an option.
pub(super) fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && word != "--"
}

/// An option or a word of a condition, compiled.
///
/// The options of a program are unknown here, so the result is *present* in doubt: `-o` is found in the cluster `-uo` and in the
/// value of `-xo`, `--output` in `--outp=f`, and both also after `--`.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    text: String,
    kind: Kind,
    /// Other names of the same option.
    also: Vec<Self>,
}

#[derive(Debug, Clone)]
enum Kind {
    /// An option, and its letters as bits if it is a cluster: `-rf` requires both.
    Option { letters: Option<u128> },
    /// A word that matches this pattern.
    Pattern(Token),
    /// A word that is equal to the rule's.
    Word,
}

/// The words that are searched.
pub(super) struct Words<'w, 't> {
    args: &'w [Arg<'t>],
    open_ended: bool,
    /// Whether any of them may be an option. Often none is, and the search ends here.
    has_options: bool,
    /// The letters of all words that may be clusters of short options.
    letters: u128,
    /// The position of the first word that may be an option and is only known at run time.
    pub(super) first_unseen: Option<usize>,
}

impl<'w, 't> Words<'w, 't> {
    /// The words after the name of a command.
    pub(super) fn after_name(run: &'w Run<'t>) -> Self {
        let mut words = Self::of(run.argv.get(1..).unwrap_or_default(), run.open_ended);
        words.first_unseen = first_unseen(run);
        words
    }

    pub(super) fn of(args: &'w [Arg<'t>], open_ended: bool) -> Self {
        let may_be_option = |arg: &Arg<'_>| match arg {
            Arg::Known(word) => word.starts_with('-'),
            Arg::Unknown { .. } => true,
        };
        let has_options = open_ended || args.iter().any(may_be_option);
        let known = || args.iter().filter_map(Arg::known);
        let letters =
            if has_options { known().fold(0, |letters, word| letters | letters_in(word)) } else { 0 };
        Self { args, open_ended, has_options, letters, first_unseen: None }
    }
}

impl Wanted {
    pub(super) fn new(text: &str) -> Self {
        let kind = match text {
            option if is_option(option) => Kind::Option { letters: letters_of(option) },
            pattern if pattern.contains(['*', '?']) => Kind::Pattern(Token::read(pattern)),
            _ => Kind::Word,
        };
        Self { text: text.to_owned(), kind, also: Vec::new() }
    }

    /// Any of these names. The first one is that of the rule.
    pub(super) fn any_of(names: &[String]) -> Self {
        let mut names = names.iter().map(|name| Self::new(name));
        let first = names.next().unwrap_or_else(|| Self::new(""));
        Self { also: names.collect(), ..first }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether the words contain it.
    #[inline]
    pub(super) fn presence(&self, words: &Words<'_, '_>) -> Presence {
        let of_others = self.also.iter().map(|other| other.presence(words));
        of_others.fold(self.presence_of_name(words), |found, other| match (found, other) {
            (Presence::There, _) | (_, Presence::There) => Presence::There,
            (Presence::Maybe, _) | (_, Presence::Maybe) => Presence::Maybe,
            _ => Presence::NotThere,
        })
    }

    fn presence_of_name(&self, words: &Words<'_, '_>) -> Presence {
        match self.kind {
            Kind::Option { .. } if !words.has_options => Presence::NotThere,
            _ => self.looked_for(words),
        }
    }

    fn looked_for(&self, words: &Words<'_, '_>) -> Presence {
        let is_there = match &self.kind {
            // Every notation of a cluster contains its letters.
            Kind::Option { letters: Some(letters) } => letters & !words.letters == 0,
            _ => words.args.iter().filter_map(Arg::known).any(|word| self.is_spelled_by(word)),
        };
        let may_be = |arg: &Arg<'_>| match arg {
            Arg::Known(_) => false,
            Arg::Unknown { prefix, spelling, .. } if harmless::is_only_pattern(spelling) => {
                self.may_begin_with(prefix, WordCount::One)
            }
            Arg::Unknown { prefix, count, .. } => self.may_begin_with(prefix, *count),
        };
        if is_there {
            Presence::There
        } else if words.open_ended || words.args.iter().any(may_be) {
            Presence::Maybe
        } else {
            Presence::NotThere
        }
    }

    /// Returns whether a word is this option: itself, with a value, or abbreviated.
    fn is_spelled_by(&self, word: &str) -> bool {
        match &self.kind {
            Kind::Word => word == self.text,
            Kind::Pattern(pattern) => word == self.text || pattern.fits(word),
            // The dash and the letter after it exclude nearly all words.
            Kind::Option { .. } if word.as_bytes().get(..2) != self.text.as_bytes().get(..2) => false,
            Kind::Option { .. } => {
                let name = without_value(word);
                let is_abbreviated =
                    || self.text.starts_with("--") && name.len() > 2 && self.text.starts_with(name);
                word == self.text || name == self.text || is_abbreviated()
            }
        }
    }

    fn may_begin_with(&self, prefix: &str, count: WordCount) -> bool {
        count == WordCount::Any
            || self.text.starts_with(prefix)
            || matches!(self.kind, Kind::Pattern(_))
            || prefix.starts_with('-') && prefix.starts_with("--") == self.text.starts_with("--")
    }
}

/// The letters of a short option.
fn letters_of(option: &str) -> Option<u128> {
    let letters = option.strip_prefix('-')?;
    let is_cluster =
        (1..=4).contains(&letters.len()) && letters.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_cluster.then(|| bits(letters))
}

/// The letters of a word that may be a cluster of short options.
fn letters_in(word: &str) -> u128 {
    let cluster = word.strip_prefix('-').filter(|cluster| !cluster.starts_with('-'));
    cluster.map_or(0, |cluster| bits(without_value(cluster)))
}

/// Returns the part of a word before its `=`.
fn without_value(word: &str) -> &str {
    let end = word.bytes().position(|byte| byte == b'=');
    end.and_then(|end| word.get(..end)).unwrap_or(word)
}

fn bits(letters: &str) -> u128 {
    letters.bytes().filter(u8::is_ascii).fold(0, |bits, byte| bits | 1 << byte)
}

/// Returns the number of operands, and the maximum at run time.
pub(super) fn operands(args: &[Arg<'_>]) -> (usize, usize) {
    args.iter().fold((0, 0), |(known, unknown), arg| match arg {
        Arg::Known(word) => (known + usize::from(!is_option(word) && word != "--"), unknown),
        Arg::Unknown { count: WordCount::Any, .. } => (known, usize::MAX / 2),
        Arg::Unknown { count: WordCount::One, .. } => (known, unknown.saturating_add(1)),
    })
}

/// Returns the position of the first word that may be an unknown option. Programs without dangerous options have none if such
/// words only expand to file names: a file name that starts with a dash is harmless there.
fn first_unseen(run: &Run<'_>) -> Option<usize> {
    let mut harmlessness = None;
    for (index, arg) in run.argv.iter().enumerate() {
        match arg {
            Arg::Known(word) if word == "--" => return None,
            Arg::Unknown { prefix, count, spelling } => {
                let is_pattern = harmless::is_only_pattern(spelling);
                // If it expands to several words, only the first is known to start harmlessly, unless all are file names with the
                // prefix of the glob.
                let varies =
                    prefix.is_empty() || prefix.starts_with('-') || (*count == WordCount::Any && !is_pattern);
                let is_harmless = match *harmlessness.get_or_insert_with(|| harmless::of(run)) {
                    Harmlessness::None => false,
                    Harmlessness::Options => is_pattern,
                    Harmlessness::Words => true,
                };
                if varies && !is_harmless {
                    return Some(index);
                }
            }
            Arg::Known(_) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn args<'w>(words: &[&'w str]) -> Vec<Arg<'w>> {
        let arg = |word: &&'w str| match word.strip_suffix('…') {
            Some(prefix) => Arg::Unknown {
                prefix: Cow::Borrowed(prefix),
                count: WordCount::One,
                spelling: Cow::Borrowed(""),
            },
            None => Arg::Known(Cow::Borrowed(*word)),
        };
        words.iter().map(arg).collect()
    }

    fn presence(wanted: &str, args: &[Arg<'_>], open_ended: bool) -> Presence {
        Wanted::new(wanted).presence(&Words::of(args, open_ended))
    }

    #[test]
    fn options_are_found_however_they_are_spelled() {
        let rows: &[(&str, &[&str], Presence)] = &[
            ("-o", &["-uo", "f"], Presence::There),
            ("-o", &["-u", "o"], Presence::NotThere),
            ("--output", &["--outp=f"], Presence::There),
            ("--output", &["--o"], Presence::There),
            ("--output", &["--other"], Presence::NotThere),
            ("--output", &["--"], Presence::NotThere),
            ("-rf", &["-r", "x", "-f"], Presence::There),
            ("-rf", &["-r", "x"], Presence::NotThere),
            ("-delete", &[".", "-delete"], Presence::There),
            ("-delete", &["-del"], Presence::NotThere),
            ("prod", &["prod"], Presence::There),
            ("prod", &["product"], Presence::NotThere),
            ("*env*", &["-n", "env.X"], Presence::There),
            ("*env*", &["x…"], Presence::Maybe),
            ("-o", &["…"], Presence::Maybe),
            ("-o", &["x…"], Presence::NotThere),
            ("-o", &["-u…"], Presence::Maybe),
            ("--output", &["-u…"], Presence::NotThere),
        ];
        for (wanted, words, expected) in rows {
            assert_eq!(presence(wanted, &args(words), false), *expected, "{wanted} {words:?}");
        }
        assert_eq!(presence("-o", &[], true), Presence::Maybe);
        assert_eq!(presence("prod", &[], true), Presence::Maybe);
    }

    #[test]
    fn operands_are_counted() {
        assert_eq!(operands(&args(&["-a", "b", "--", "c", "…"])), (2, 1));
    }
}
