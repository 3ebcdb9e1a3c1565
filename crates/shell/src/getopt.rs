//! The options of a program, read as getopt(3) and `getopt_long` read them, by a table of those that it has.
//!
//! Clusters (`-xzf f`), attached values (`-of`), abbreviated long options and permutation are parsed like GNU's
//! `getopt_long`; [`OptionOrder::Strict`] is its `POSIXLY_CORRECT`. Cases that a table cannot decide are resolved
//! conservatively: [`ParsedOptions::unknown`].
//!
//! ```
//! use stockade_shell::getopt::{self, OptionOrder, OptionTable};
//! use stockade_shell::{ReadOptions, Script};
//!
//! static CURL: OptionTable = OptionTable::new("-s -o: --output=");
//! let script = Script::read("curl -so out.html https://x.example", &ReadOptions::default())?;
//! let actions = script.actions();
//! let options = getopt::parse(&actions.runs[0].argv, 1, &CURL, OptionOrder::Anywhere);
//! assert!(options.has("-s"));
//! assert_eq!(options.values[0].1.known(), Some("out.html"));
//! assert_eq!(options.rest, [3]);
//! # Ok::<(), stockade_shell::ReadError>(())
//! ```

mod table;

use std::borrow::Cow;

use crate::actions::Arg;

pub use table::OptionTable;
use table::Takes;

/// The name of an option: from the table, or as it is written when it is not there.
pub type OptionName = Cow<'static, str>;

/// The options of one command, as they were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParsedOptions<'t> {
    /// Index of the first word that is not an option.
    pub operands: usize,
    /// The options with a value, and the values.
    pub values: Vec<(OptionName, Arg<'t>)>,
    /// Indices of the words that are not options. Only set when options are permitted everywhere.
    pub rest: Vec<usize>,
    /// The flags, each on its own.
    pub flags: Vec<OptionName>,
    /// Whether an option is not in the table, or not certain.
    pub unknown: bool,
    /// Whether the option that was read last ends the options.
    ended: bool,
}

impl ParsedOptions<'_> {
    /// Returns whether this flag is set.
    #[must_use]
    pub fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|found| found == flag)
    }
}

/// Whether options may follow operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionOrder {
    /// The first operand ends the options.
    Strict,
    /// Options are permitted everywhere, as in GNU programs, also after an uncertain word.
    Anywhere,
}

/// Reads options from the word at `from` on.
#[must_use]
pub fn parse<'t>(argv: &[Arg<'t>], from: usize, spec: &OptionTable, order: OptionOrder) -> ParsedOptions<'t> {
    let mut options = ParsedOptions { operands: from, ..ParsedOptions::default() };
    let mut at = from;
    let mut first_operand = None;
    while let Some(arg) = argv.get(at).filter(|_| !options.ended) {
        match arg.known() {
            // POSIX.1, XBD 12.2, guideline 10: the following words are operands, whatever they look like.
            Some("--") => {
                at += 1;
                break;
            }
            Some(text) if text.starts_with("--") => at += long(argv, at, text, spec, &mut options),
            Some(text) if is_short(text, spec) => at += short(argv, at, text, spec, &mut options),
            // It may become an option with the next word as its value, so the start of the operands is a guess.
            None if starts_like_option(arg) && order == OptionOrder::Strict => {
                options.unknown = true;
                break;
            }
            _ if order == OptionOrder::Anywhere => {
                options.unknown |= arg.known().is_none() && starts_like_option(arg);
                if options.rest.is_empty() {
                    options.rest.reserve_exact(argv.len() - at);
                }
                options.rest.push(at);
                first_operand = first_operand.or(Some(at));
                at += 1;
            }
            _ => break,
        }
    }
    if order == OptionOrder::Anywhere {
        options.rest.extend(at..argv.len());
    }
    options.operands = first_operand.unwrap_or(at);
    options
}

fn is_short(text: &str, spec: &OptionTable) -> bool {
    (text.starts_with('-') && text.len() > 1) || (text == "-" && spec.has_dash())
}

fn starts_like_option(arg: &Arg<'_>) -> bool {
    match arg {
        Arg::Known(_) => false,
        Arg::Unknown { prefix, .. } => prefix.is_empty() || prefix.starts_with('-'),
    }
}

/// Reads a long option and returns how many words it is.
fn long<'t>(
    argv: &[Arg<'t>],
    at: usize,
    text: &str,
    spec: &OptionTable,
    options: &mut ParsedOptions<'t>,
) -> usize {
    let (name, attached) =
        text.split_once('=').map_or((text, None), |(name, _)| (name, Some(name.len() + 1)));
    let Some((name, takes)) = lookup_long(name, spec) else {
        options.unknown = true;
        // Kept under its own name: a rule may ask for an option that this table does not know.
        let value = attached.and_then(|length| Some(argv.get(at)?.without_prefix(length)));
        options.values.extend(value.map(|value| (Cow::Owned(name.to_owned()), value)));
        options.flags.push(Cow::Owned(name.to_owned()));
        return 1;
    };
    options.ended = takes == Takes::Last;
    match (takes, attached, argv.get(at), argv.get(at + 1)) {
        (Takes::Value | Takes::Last | Takes::Attached, Some(length), Some(arg), _) => {
            options.values.push((name, arg.without_prefix(length)));
            1
        }
        (Takes::Value | Takes::Last, None, _, Some(value)) => {
            options.values.push((name, value.clone()));
            2
        }
        _ => {
            options.flags.push(name);
            1
        }
    }
}

/// Finds a long option, also when it is abbreviated.
fn lookup_long(name: &str, spec: &OptionTable) -> Option<(OptionName, Takes)> {
    let table = |(name, takes): (&'static str, Takes)| (Cow::Borrowed(name), takes);
    if let Some(found) = spec.word(name) {
        return Some(table(found));
    }
    if spec.has_any_long() {
        return Some((Cow::Owned(name.to_owned()), Takes::Attached));
    }
    spec.abbreviated(name).map(table)
}

/// Reads a cluster of short options and returns how many words it is.
fn short<'t>(
    argv: &[Arg<'t>],
    at: usize,
    text: &str,
    spec: &OptionTable,
    options: &mut ParsedOptions<'t>,
) -> usize {
    // Options of several letters with one dash, as in `arch -x86_64`, are not clusters.
    if let Some((name, takes)) = spec.word(text) {
        let value = argv.get(at + 1).filter(|_| takes == Takes::Value);
        match value {
            Some(value) => options.values.push((name.into(), value.clone())),
            None => options.flags.push(name.into()),
        }
        return if takes == Takes::Value { 2 } else { 1 };
    }
    // POSIX calls `nice -5` obsolescent, but programs still accept it.
    if text.len() > 1 && spec.has_numbers() && text.bytes().skip(1).all(|byte| byte.is_ascii_digit()) {
        return 1;
    }
    for (index, letter) in text.char_indices().skip(1) {
        let end = index + letter.len_utf8();
        match spec.letter(letter) {
            None => {
                options.unknown = true;
                options.flags.push(named(letter));
            }
            Some((name, Takes::Nothing)) => options.flags.push(name.into()),
            Some((name, Takes::Attached)) => {
                if let (true, Some(arg)) = (end < text.len(), argv.get(at)) {
                    options.values.push((name.into(), arg.without_prefix(end)));
                } else {
                    options.flags.push(name.into());
                }
                return 1;
            }
            Some((name, takes @ (Takes::Value | Takes::Last))) => {
                options.ended = takes == Takes::Last;
                let attached = end < text.len();
                let value = if attached {
                    argv.get(at).map(|arg| arg.without_prefix(end))
                } else {
                    argv.get(at + 1).cloned()
                };
                match value {
                    Some(value) => options.values.push((name.into(), value)),
                    None => options.flags.push(name.into()),
                }
                return if attached { 1 } else { 2 };
            }
        }
    }
    1
}

/// The name of an option that is in no table: nearly always one of these.
fn named(letter: char) -> OptionName {
    const LETTERS: &str = "-0-1-2-3-4-5-6-7-8-9-A-B-C-D-E-F-G-H-I-J-K-L-M-N-O-P-Q-R-S-T-U-V-W-X-Y-Z-a-b-c-d-e-f-g-h-i-j-k-l-m-n-o\
                           -p-q-r-s-t-u-v-w-x-y-z";
    let row = match letter {
        '0'..='9' => Some(letter as usize - '0' as usize),
        'A'..='Z' => Some(letter as usize - 'A' as usize + 10),
        'a'..='z' => Some(letter as usize - 'a' as usize + 36),
        _ => None,
    };
    let known = row.and_then(|row| LETTERS.get(2 * row..2 * row + 2));
    known.map_or_else(|| Cow::Owned(format!("-{letter}")), Cow::Borrowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(words: &[&'static str]) -> Vec<Arg<'static>> {
        words.iter().map(|word| Arg::Known((*word).into())).collect()
    }

    #[test]
    fn letters_have_names() {
        for letter in ['0', '9', 'A', 'Z', 'a', 'o', 'p', 'z', 'ä', '-', '='] {
            assert_eq!(named(letter), format!("-{letter}"));
        }
    }

    #[test]
    fn options_end_where_getopt_ends_them() {
        let spec = OptionTable::new("-a -b: -c? -# --flag --value= --maybe=? -arch:");
        let rows: &[(&[&str], usize, bool)] = &[
            (&["x", "rm"], 1, false),
            (&["x", "-a", "rm"], 2, false),
            (&["x", "-ab", "1", "rm"], 3, false),
            (&["x", "-ab1", "rm"], 2, false),
            (&["x", "-c", "rm"], 2, false),
            (&["x", "-c1", "rm"], 2, false),
            (&["x", "-10", "rm"], 2, false),
            (&["x", "--value", "1", "rm"], 3, false),
            (&["x", "--value=1", "rm"], 2, false),
            (&["x", "--val", "1", "rm"], 3, false),
            (&["x", "--maybe", "rm"], 2, false),
            (&["x", "--", "-a"], 2, false),
            (&["x", "-arch", "arm64", "rm"], 3, false),
            (&["x", "-z", "rm"], 2, true),
            (&["x", "--odd", "rm"], 2, true),
        ];
        for (words, operands, unknown) in rows {
            let options = parse(&known(words), 1, &spec, OptionOrder::Strict);
            assert_eq!((options.operands, options.unknown), (*operands, *unknown), "{words:?}");
        }
    }
}
