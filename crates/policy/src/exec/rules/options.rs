//! Options in the words of a command, whatever way they are spelled.

use super::token::Token;
use crate::shell::{Arg, WordCount};

/// Whether an option or a word is among the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    There,
    /// It depends on words that are not known.
    Maybe,
    NotThere,
}

/// Returns whether a word is an option.
pub(super) fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && word != "--"
}

/// Returns whether `wanted` is among the arguments.
///
/// The options of a program are not known here, so the answer is rather *there* than not: `-o` is found in the cluster
/// `-uo` and in the value of `-xo`, `--output` in `--outp=f`, and both also after `--`.
pub(super) fn presence(wanted: &str, args: &[Arg<'_>], open_ended: bool) -> Presence {
    let mut may_be = open_ended;
    let mut letters = Letters::of(wanted);
    for arg in args {
        match arg {
            Arg::Known(word) => {
                if is_spelled(wanted, word) {
                    return Presence::There;
                }
                if let Some(letters) = &mut letters {
                    letters.take(word);
                    if letters.left == 0 {
                        return Presence::There;
                    }
                }
            }
            Arg::Unknown { prefix, count, .. } => {
                may_be |= *count == WordCount::Any
                    || wanted.starts_with(&**prefix)
                    || wanted.contains(['*', '?']) && !is_option(wanted)
                    || prefix.starts_with('-') && prefix.starts_with("--") == wanted.starts_with("--");
            }
        }
    }
    if may_be { Presence::Maybe } else { Presence::NotThere }
}

/// Returns whether one word spells the option: itself, with a value, or abbreviated.
fn is_spelled(wanted: &str, word: &str) -> bool {
    if word == wanted {
        return true;
    }
    if !is_option(wanted) {
        return wanted.contains(['*', '?']) && Token::read(wanted).fits(word);
    }
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    name == wanted || (wanted.starts_with("--") && name.len() > 2 && wanted.starts_with(name))
}

/// The letters of a short option that were not seen yet, as bits: `-rf` asks for both.
struct Letters {
    left: u128,
}

impl Letters {
    fn of(wanted: &str) -> Option<Self> {
        let letters = wanted.strip_prefix('-')?;
        let is_cluster =
            (1..=4).contains(&letters.len()) && letters.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_cluster.then(|| Self { left: bits(letters) })
    }

    fn take(&mut self, word: &str) {
        let Some(cluster) = word.strip_prefix('-').filter(|cluster| !cluster.starts_with('-')) else {
            return;
        };
        self.left &= !bits(cluster.split_once('=').map_or(cluster, |(name, _)| name));
    }
}

fn bits(letters: &str) -> u128 {
    letters.bytes().filter(u8::is_ascii).fold(0, |bits, byte| bits | 1 << byte)
}

/// Returns how many words are no options, and how many more there may be.
pub(super) fn operands(args: &[Arg<'_>]) -> (usize, usize) {
    args.iter().fold((0, 0), |(known, unknown), arg| match arg {
        Arg::Known(word) => (known + usize::from(!is_option(word) && word != "--"), unknown),
        Arg::Unknown { count: WordCount::Any, .. } => (known, usize::MAX / 2),
        Arg::Unknown { count: WordCount::One, .. } => (known, unknown.saturating_add(1)),
    })
}

/// Returns the place of the first word that may be an option and is not known.
pub(super) fn first_unseen(argv: &[Arg<'_>]) -> Option<usize> {
    for (index, arg) in argv.iter().enumerate() {
        match arg {
            Arg::Known(word) if word == "--" => return None,
            Arg::Unknown { prefix, count, .. } => {
                // Where it becomes several words, the first may begin harmlessly and the others not.
                if prefix.is_empty() || prefix.starts_with('-') || *count == WordCount::Any {
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
    }

    #[test]
    fn operands_are_counted() {
        assert_eq!(operands(&args(&["-a", "b", "--", "c", "…"])), (2, 1));
    }
}
