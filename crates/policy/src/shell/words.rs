//! The options of a wrapper, read as `getopt` reads them.

use super::actions::Arg;

/// What the options of a command are.
#[derive(Debug, Default)]
pub(crate) struct Options<'t> {
    /// The index of the first word that is no option.
    pub(crate) operands: usize,
    /// The options that take a value, with it.
    pub(crate) values: Vec<(String, Arg<'t>)>,
    /// Where the words are that are no options. Only told when options are looked for everywhere.
    pub(crate) rest: Vec<usize>,
    /// The flags, each on its own.
    pub(crate) flags: Vec<String>,
    /// Whether an option is not in the table, or not certain.
    pub(crate) unknown: bool,
    /// Whether the option that was read last ends the options.
    ended: bool,
}

impl Options<'_> {
    /// Returns whether this flag is set.
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|found| found == flag)
    }
}

/// Whether options may follow operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The first operand ends the options.
    Strict,
    /// Options are looked for everywhere, as GNU programs do, also after a word that is not certain.
    Anywhere,
}

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Value,
    /// A value, after which no other option is read.
    Last,
    Attached,
}

/// Reads options from the word at `from` on. `spec` is written as in the table of wrappers.
pub(crate) fn read<'t>(argv: &[Arg<'t>], from: usize, spec: &str, order: Order) -> Options<'t> {
    let mut options = Options { operands: from, ..Options::default() };
    let mut at = from;
    let mut first_operand = None;
    while let Some(arg) = argv.get(at).filter(|_| !options.ended) {
        match arg.known() {
            Some("--") => {
                at += 1;
                break;
            }
            Some(text) if text.starts_with("--") => at += long(argv, at, text, spec, &mut options),
            Some(text) if is_short(text, spec) => at += short(argv, at, text, spec, &mut options),
            None if starts_like_option(arg) && order == Order::Strict => {
                options.unknown = true;
                break;
            }
            _ if order == Order::Anywhere => {
                options.unknown |= arg.known().is_none() && starts_like_option(arg);
                options.rest.push(at);
                first_operand = first_operand.or(Some(at));
                at += 1;
            }
            _ => break,
        }
    }
    if order == Order::Anywhere {
        options.rest.extend(at..argv.len());
    }
    options.operands = first_operand.unwrap_or(at);
    options
}

fn is_short(text: &str, spec: &str) -> bool {
    (text.starts_with('-') && text.len() > 1) || (text == "-" && tokens(spec).any(|token| token == "-"))
}

fn starts_like_option(arg: &Arg<'_>) -> bool {
    match arg {
        Arg::Known(_) => false,
        Arg::Unknown { prefix, .. } => prefix.is_empty() || prefix.starts_with('-'),
    }
}

/// Reads a long option and returns how many words it is.
fn long<'t>(argv: &[Arg<'t>], at: usize, text: &str, spec: &str, options: &mut Options<'t>) -> usize {
    let (name, attached) =
        text.split_once('=').map_or((text, None), |(name, _)| (name, Some(name.len() + 1)));
    let Some((name, takes)) = lookup_long(name, spec) else {
        options.unknown = true;
        options.flags.push(name.to_owned());
        let value = attached.and_then(|length| Some(argv.get(at)?.without_prefix(length)));
        options.values.extend(value.map(|value| (name.to_owned(), value)));
        return 1;
    };
    options.ended = takes == Takes::Last;
    match (takes, attached, argv.get(at), argv.get(at + 1)) {
        (Takes::Value | Takes::Last | Takes::Attached, Some(length), Some(arg), _) => {
            options.values.push((name.to_owned(), arg.without_prefix(length)));
            1
        }
        (Takes::Value | Takes::Last, None, _, Some(value)) => {
            options.values.push((name.to_owned(), value.clone()));
            2
        }
        _ => {
            options.flags.push(name.to_owned());
            1
        }
    }
}

/// Finds a long option, also when it is abbreviated as GNU programs allow.
fn lookup_long<'s>(name: &'s str, spec: &'s str) -> Option<(&'s str, Takes)> {
    let known = || tokens(spec).map(takes_of);
    if let Some(found) = known().find(|(option, _)| *option == name) {
        return Some(found);
    }
    if tokens(spec).any(|token| token == "--*") {
        return Some((name, Takes::Attached));
    }
    let mut fits =
        known().filter(|(option, _)| option.len() > name.len() && option.starts_with(name) && name.len() > 2);
    let first = fits.next()?;
    fits.all(|(_, takes)| takes == first.1).then_some(first)
}

/// Reads a cluster of short options and returns how many words it is.
fn short<'t>(argv: &[Arg<'t>], at: usize, text: &str, spec: &str, options: &mut Options<'t>) -> usize {
    if let Some((name, takes)) =
        tokens(spec).map(takes_of).find(|(option, _)| *option == text && option.len() != 2)
    {
        let value = argv.get(at + 1).filter(|_| takes == Takes::Value);
        match value {
            Some(value) => options.values.push((name.to_owned(), value.clone())),
            None => options.flags.push(name.to_owned()),
        }
        return if takes == Takes::Value { 2 } else { 1 };
    }
    if text.len() > 1
        && text.bytes().skip(1).all(|byte| byte.is_ascii_digit())
        && tokens(spec).any(|token| token == "-#")
    {
        return 1;
    }
    for (index, letter) in text.char_indices().skip(1) {
        let name = format!("-{letter}");
        let end = index + letter.len_utf8();
        match tokens(spec).map(takes_of).find(|(option, _)| *option == name) {
            None => {
                options.unknown = true;
                options.flags.push(name);
            }
            Some((_, Takes::Nothing)) => options.flags.push(name),
            Some((_, Takes::Attached)) => {
                if let (true, Some(arg)) = (end < text.len(), argv.get(at)) {
                    options.values.push((name, arg.without_prefix(end)));
                } else {
                    options.flags.push(name);
                }
                return 1;
            }
            Some((_, takes @ (Takes::Value | Takes::Last))) => {
                options.ended = takes == Takes::Last;
                let attached = end < text.len();
                let value = if attached {
                    argv.get(at).map(|arg| arg.without_prefix(end))
                } else {
                    argv.get(at + 1).cloned()
                };
                match value {
                    Some(value) => options.values.push((name, value)),
                    None => options.flags.push(name),
                }
                return if attached { 1 } else { 2 };
            }
        }
    }
    1
}

fn tokens(spec: &str) -> impl Iterator<Item = &str> {
    spec.split_ascii_whitespace()
}

fn takes_of(token: &str) -> (&str, Takes) {
    let kinds: [(&str, Takes); 5] = [
        ("=?", Takes::Attached),
        ("?", Takes::Attached),
        ("!", Takes::Last),
        (":", Takes::Value),
        ("=", Takes::Value),
    ];
    let takes = kinds.iter().find_map(|(suffix, takes)| Some((token.strip_suffix(suffix)?, *takes)));
    takes.unwrap_or((token, Takes::Nothing))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(words: &[&'static str]) -> Vec<Arg<'static>> {
        words.iter().map(|word| Arg::Known((*word).into())).collect()
    }

    #[test]
    fn options_end_where_getopt_ends_them() {
        let spec = "-a -b: -c? -# --flag --value= --maybe=? -arch:";
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
            let options = read(&known(words), 1, spec, Order::Strict);
            assert_eq!((options.operands, options.unknown), (*operands, *unknown), "{words:?}");
        }
    }
}
