//! Brace expansion, and conversion of words to arguments.
//!
//! The recursion is that of bash's `braces.c`: everything before the first brace, times its alternatives, times the
//! expansion of the rest. A product doubles with every pair of braces, so a budget is checked before each is built,
//! and a word beyond it becomes an unknown argument.

use std::borrow::Cow;

use crate::actions::{Arg, WordCount};
use crate::groups;
use crate::options::Shell;
use crate::tree::{Expansion, ExpansionKind, Marks, Piece, Word};

/// More alternatives than this are not listed one by one.
const MAX_ALTERNATIVES: usize = 256;

/// Adds the expansion of `word` to the arguments of a command.
pub(crate) fn arguments<'t>(word: &Word<'t>, shell: Shell, argv: &mut Vec<Arg<'t>>) {
    if !word.marks.has(Marks::BRACE) {
        if word.marks.has(Marks::GROUP) {
            return argv.extend(grouped(word, shell));
        }
        argv.push(argument(word));
        return;
    }
    if word.marks.has(Marks::TANGLED) {
        return argv.push(Arg::any());
    }
    let units = units(word.pieces());
    // zsh expands braces last, so that a value can bring the dots of a sequence.
    if shell == Shell::Zsh && holds_expansion_in_braces(&units) {
        return argv.push(Arg::any());
    }
    // dash has no braces, so for `sh` they are certain only where every shell leaves them as they are.
    let stays = |alternatives: &Vec<Vec<_>>| match alternatives.as_slice() {
        [only] => only.len() == units.len(),
        _ => false,
    };
    // Filter after the expansion: only the expansion shows whether the braces are literal.
    let alternatives =
        expand(&units, MAX_ALTERNATIVES).filter(|alternatives| shell != Shell::Sh || stays(alternatives));
    match alternatives {
        // An alternative that is completely empty, without even quotes, is no word, except in zsh.
        Some(alternatives) => {
            let is_word = |units: &&Vec<_>| !units.is_empty() || shell == Shell::Zsh;
            argv.extend(alternatives.iter().filter(is_word).map(|units| joined(units)));
        }
        None => argv.push(Arg::any()),
    }
}

/// Returns the argument of a word without braces.
fn argument<'t>(word: &Word<'t>) -> Arg<'t> {
    let is_certain = !word.marks.has(Marks::GLOB) || word.bare().is_some_and(|text| !is_pattern(text));
    let text = if is_certain { plain(word.pieces()) } else { None };
    text.map_or_else(|| joined(&units(word.pieces())), Arg::Known)
}

/// Returns the possible arguments of a word with groups.
fn grouped<'t>(word: &Word<'t>, shell: Shell) -> Vec<Arg<'t>> {
    let Arg::Unknown { prefix, spelling, .. } = joined(&units(word.pieces())) else {
        return vec![Arg::any()];
    };
    let Some(words) = groups::covering(&spelling, shell) else { return vec![Arg::any()] };
    let unknown = |spelling| Arg::Unknown {
        prefix: prefix.clone(),
        count: WordCount::Any,
        spelling: Cow::Owned(spelling),
    };
    words.into_iter().map(unknown).collect()
}

/// Returns the value of a word where it is neither split nor matched against files: in an assignment, in a
/// here-document or after a redirection operator.
pub(crate) fn single<'t>(pieces: &[Piece<'t>]) -> Arg<'t> {
    if let Some(text) = plain(pieces) {
        return Arg::Known(text);
    }
    let before = pieces.iter().map_while(|piece| match piece {
        Piece::Bare(part) | Piece::Quoted(part) => Some(&**part),
        Piece::Expansion(_) => None,
    });
    let spelling = Cow::Owned(spelled(&units(pieces)));
    Arg::Unknown { prefix: Cow::Owned(before.collect()), count: WordCount::One, spelling }
}

/// Returns the text of pieces, if it contains no expansion.
fn plain<'t>(pieces: &[Piece<'t>]) -> Option<Cow<'t, str>> {
    if let [Piece::Bare(text) | Piece::Quoted(text)] = pieces {
        return Some(text.clone());
    }
    let mut text = Cow::Borrowed("");
    for piece in pieces {
        match piece {
            Piece::Bare(part) | Piece::Quoted(part) if text.is_empty() => text.clone_from(part),
            Piece::Bare(part) | Piece::Quoted(part) => text.to_mut().push_str(part),
            Piece::Expansion(_) => return None,
        }
    }
    Some(text)
}

/// Returns whether unquoted text is matched against file names. In the words of a command only patterns have parentheses.
fn is_pattern(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'('))
        || text.split_once('[').is_some_and(|(_, rest)| rest.contains(']'))
}

/// A character of a word, or something that is replaced.
#[derive(Debug, Clone, Copy)]
enum Unit<'a, 't> {
    Bare(char),
    Quoted(char),
    /// Empty quotes, which make an empty word.
    Empty,
    Expansion(&'a Expansion<'t>),
}

fn units<'a, 't>(pieces: &'a [Piece<'t>]) -> Vec<Unit<'a, 't>> {
    let mut units = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Bare(text) => units.extend(text.chars().map(Unit::Bare)),
            Piece::Quoted(text) if text.is_empty() => units.push(Unit::Empty),
            Piece::Quoted(text) => units.extend(text.chars().map(Unit::Quoted)),
            Piece::Expansion(expansion) => units.push(Unit::Expansion(expansion)),
        }
    }
    units
}

/// Returns the argument of these units.
fn joined<'t>(units: &[Unit<'_, 't>]) -> Arg<'t> {
    let mut text = String::new();
    let mut count = None;
    let bare: String = units.iter().map(|unit| if let Unit::Bare(c) = unit { *c } else { ' ' }).collect();
    if is_pattern(&bare) {
        count = Some(WordCount::Any);
    }
    let mut following = units.iter().skip(1);
    for unit in units {
        let begins_group = matches!(following.next(), Some(Unit::Bare('(')));
        match unit {
            // A word with a pattern is known up to the pattern: any file name may follow.
            Unit::Bare('*' | '?' | '[' | '(') if count.is_some() => break,
            Unit::Bare('@' | '!' | '+') if begins_group => break,
            Unit::Bare(character) | Unit::Quoted(character) => text.push(*character),
            Unit::Empty => {}
            Unit::Expansion(expansion) => {
                count = Some(count.unwrap_or(WordCount::One).max(words_of(expansion)));
                break;
            }
        }
    }
    let several =
        units.iter().any(|unit| matches!(unit, Unit::Expansion(e) if words_of(e) == WordCount::Any));
    match count {
        None => Arg::Known(Cow::Owned(text)),
        Some(count) => {
            let count = if several { WordCount::Any } else { count };
            Arg::Unknown { prefix: Cow::Owned(text), count, spelling: Cow::Owned(spelled(units)) }
        }
    }
}

/// Returns the spelling of a word without its quotes.
fn spelled(units: &[Unit<'_, '_>]) -> String {
    let mut spelling = String::new();
    for unit in units {
        match unit {
            Unit::Bare('$') => spelling.push_str("\\$"),
            Unit::Bare(character) => spelling.push(*character),
            Unit::Quoted(character) => {
                // Rules that compare spellings must distinguish `\*`, a literal star, from `*`, any file.
                if matches!(character, '$' | '*' | '?' | '[' | ']' | '~' | '\\') {
                    spelling.push('\\');
                }
                spelling.push(*character);
            }
            Unit::Empty => {}
            Unit::Expansion(expansion) => match &expansion.kind {
                ExpansionKind::Parameter { name, .. } => {
                    spelling.push_str("${");
                    spelling.push_str(name);
                    spelling.push('}');
                }
                _ => spelling.push_str("$()"),
            },
        }
    }
    spelling
}

/// Returns how many words an expansion may become.
fn words_of(expansion: &Expansion<'_>) -> WordCount {
    match &expansion.kind {
        // `"$@"` is as many words as there are arguments, quoted or not.
        ExpansionKind::Parameter { name, inside, .. } if name == "@" || !inside.is_empty() => WordCount::Any,
        ExpansionKind::Parameter { action, .. } if *action != super::tree::Action::Value => WordCount::Any,
        ExpansionKind::Process(_) => WordCount::One,
        _ if expansion.quoted => WordCount::One,
        _ => WordCount::Any,
    }
}

/// Returns the alternatives of braces, or `None` if there are too many, or if shells disagree.
fn expand<'a, 't>(units: &[Unit<'a, 't>], budget: usize) -> Option<Vec<Vec<Unit<'a, 't>>>> {
    let Some(open) = units.iter().position(|unit| matches!(unit, Unit::Bare('{'))) else {
        return Some(vec![units.to_vec()]);
    };
    let (before, from_open) = units.split_at_checked(open)?;
    let Some(close) = matching_brace(from_open) else {
        // An unclosed brace is literal, but the shell's treatment of later braces is uncertain.
        let has_more = from_open.iter().any(|unit| matches!(unit, Unit::Bare(',' | '}')));
        return (!has_more).then(|| vec![units.to_vec()]);
    };
    let inside = from_open.get(1..close)?;
    // From the right, as bash does, so that the last brace changes fastest: `{a,b}{1,2}` is `a1 a2 b1 b2`.
    let after = expand(from_open.get(close + 1..)?, budget)?;
    let mut middles = Vec::new();
    match alternatives(inside) {
        Some(parts) => {
            for part in parts {
                middles.extend(expand(part, budget)?);
            }
        }
        None => match sequence(inside)? {
            Some(values) => middles = values,
            // `{b}a,c}`: if a closing brace does not end the group, bash tries the next one.
            None if from_open.iter().skip(close + 1).any(|unit| matches!(unit, Unit::Bare('}'))) => {
                return None;
            }
            None => {
                for part in expand(inside, budget)? {
                    let mut kept = vec![Unit::Bare('{')];
                    kept.extend(part);
                    kept.push(Unit::Bare('}'));
                    middles.push(kept);
                }
            }
        },
    }
    // Asked before the product is built: sixteen pairs of braces would already be 65,536 words.
    if middles.len().saturating_mul(after.len()) > budget {
        return None;
    }
    let combine = |middle: &Vec<Unit<'a, 't>>, end: &Vec<Unit<'a, 't>>| [before, middle, end].concat();
    Some(middles.iter().flat_map(|middle| after.iter().map(move |end| combine(middle, end))).collect())
}

/// Whether something is replaced between the first brace that opens and the last that closes.
fn holds_expansion_in_braces(units: &[Unit<'_, '_>]) -> bool {
    let open = units.iter().position(|unit| matches!(unit, Unit::Bare('{')));
    let close = units.iter().rposition(|unit| matches!(unit, Unit::Bare('}')));
    let inside = open.zip(close).and_then(|(open, close)| units.get(open..close));
    inside.is_some_and(|inside| inside.iter().any(|unit| matches!(unit, Unit::Expansion(_))))
}

/// Returns where the brace at the start is closed.
fn matching_brace(units: &[Unit<'_, '_>]) -> Option<usize> {
    let mut depth = 0_usize;
    units.iter().position(|unit| {
        match unit {
            Unit::Bare('{') => depth += 1,
            Unit::Bare('}') => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}

/// Splits at the commas between braces, when there are any.
fn alternatives<'u, 'a, 't>(units: &'u [Unit<'a, 't>]) -> Option<Vec<&'u [Unit<'a, 't>]>> {
    let mut depth = 0_usize;
    let parts: Vec<_> = units
        .split(|unit| {
            match unit {
                Unit::Bare('{') => depth += 1,
                Unit::Bare('}') => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && matches!(unit, Unit::Bare(','))
        })
        .collect();
    (parts.len() > 1).then_some(parts)
}

/// Returns the values of `a..b`: `None` if they cannot be listed, and an inner `None` if it is not a sequence.
#[expect(clippy::option_option, reason = "not to be listed, no sequence, or its values")]
fn sequence<'a, 't>(units: &[Unit<'a, 't>]) -> Option<Option<Vec<Vec<Unit<'a, 't>>>>> {
    let text: Option<String> =
        units.iter().map(|unit| if let Unit::Bare(c) = unit { Some(*c) } else { None }).collect();
    let Some(text) = text else {
        // zsh also counts where a dot is quoted, be there empty quotes between two.
        let is_dot = |unit: &&Unit<'_, '_>| matches!(unit, Unit::Bare('.') | Unit::Quoted('.'));
        let spelled = || units.iter().filter(|unit| !matches!(unit, Unit::Empty));
        let dots = spelled().zip(spelled().skip(1)).any(|(one, next)| is_dot(&one) && is_dot(&next));
        return (!dots).then_some(None);
    };
    let Some((first, last)) = text.split_once("..") else { return Some(None) };
    let spell = |value: String| value.chars().map(Unit::Bare).collect::<Vec<_>>();
    if let (Some(first), Some(last)) = (plain_number(first), plain_number(last)) {
        let (low, high) = (first.min(last), first.max(last));
        if high - low >= MAX_ALTERNATIVES {
            return None;
        }
        let mut values: Vec<_> = (low..=high).map(|number| spell(number.to_string())).collect();
        if first > last {
            values.reverse();
        }
        return Some(Some(values));
    }
    None
}

/// Parses a number without a sign and without leading zeros, which bash would keep.
fn plain_number(text: &str) -> Option<usize> {
    // Seven digits fit every integer; a longer sequence is beyond the limit of alternatives anyway.
    let is_plain = !text.is_empty() && text.len() < 8 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_plain || (text.len() > 1 && text.starts_with('0')) {
        return None;
    }
    text.parse().ok()
}
