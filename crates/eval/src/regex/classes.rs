//! Classes of characters: `\d` and its like, properties, and capitals beside small letters.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use super::names::{self, Property};
use super::node::range;
use crate::{ErrorKind, EvalError};

const SPACES: &[(u32, u32)] = &[
    (0x09, 0x0d),
    (0x20, 0x20),
    (0xa0, 0xa0),
    (0x1680, 0x1680),
    (0x2000, 0x200a),
    (0x2028, 0x2029),
    (0x202f, 0x202f),
    (0x205f, 0x205f),
    (0x3000, 0x3000),
    (0xfeff, 0xfeff),
];
const DIGITS: &[(u32, u32)] = &[(0x30, 0x39)];
const WORD: &[(u32, u32)] = &[(0x30, 0x39), (0x41, 0x5a), (0x5f, 0x5f), (0x61, 0x7a)];
const LINE_ENDS: &[(u32, u32)] = &[(0x0a, 0x0a), (0x0d, 0x0d), (0x2028, 0x2029)];

fn of(ranges: &[(u32, u32)]) -> ClassUnicode {
    let mut class = ClassUnicode::empty();
    ranges.iter().for_each(|(low, high)| class.union(&range(*low, *high)));
    class
}

pub(super) fn all() -> ClassUnicode {
    range(0, 0x10_ffff)
}

pub(super) fn no_line_end() -> ClassUnicode {
    negated(of(LINE_ENDS))
}

pub(super) fn negated(mut class: ClassUnicode) -> ClassUnicode {
    class.negate();
    compact(&class)
}

/// Shrinks a class to the memory that it needs: folding or negating takes room for many ranges that then merge.
fn compact(class: &ClassUnicode) -> ClassUnicode {
    class.clone()
}

/// How letters are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Kept,
    /// The flag i alone: by the capital of a letter.
    Capitals,
    /// The flags i and u: as Unicode folds letters.
    Folded,
}

/// Returns the class of word characters.
pub(super) fn word(case: Case) -> ClassUnicode {
    let mut class = of(WORD);
    if case == Case::Folded {
        class.union(&of(&[(0x17f, 0x17f), (0x212a, 0x212a)]));
    }
    class
}

/// `\d`, `\s`, `\w` and their opposites.
pub(super) fn escape(letter: char, case: Case) -> Option<ClassUnicode> {
    let class = match letter.to_ascii_lowercase() {
        'd' => of(DIGITS),
        's' => of(SPACES),
        'w' => word(case),
        _ => return None,
    };
    Some(if letter.is_ascii_uppercase() { negated(class) } else { class })
}

/// `\p{…}`.
pub(super) fn property(written: &str) -> Result<ClassUnicode, EvalError> {
    let name = match names::property(written) {
        Property::Known(name) => name,
        Property::Absent(name) => {
            let message = format!("the property `{name}` of characters does not exist here");
            return Err(EvalError::new(ErrorKind::Forbidden, message));
        }
        Property::Unknown => return Err(super::parse::wrong("unknown character property")),
    };
    parsed(&name).ok_or_else(|| {
        let message = format!("the property `{written}` of characters does not exist here");
        EvalError::new(ErrorKind::Forbidden, message)
    })
}

/// The characters with a property, as the engine's reader knows it.
fn parsed(name: &str) -> Option<ClassUnicode> {
    match regex_syntax::Parser::new().parse(&format!("\\p{{{name}}}")).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        _ => None,
    }
}

/// Maximum size of a class of which every character is folded. In larger classes, only characters with a case variant
/// are: looking up all others would be pointless work over up to a million characters.
const FEW: usize = 64;

/// The characters that have another case. None but these is folded.
static CASED: LazyLock<ClassUnicode> =
    LazyLock::new(|| parsed("Changes_When_Casemapped").unwrap_or_else(all));

/// How many characters a class has.
fn count(class: &ClassUnicode) -> usize {
    class.iter().map(|range| u32::from(range.end()) - u32::from(range.start()) + 1).sum::<u32>() as usize
}

/// Returns the characters of a class to fold.
fn foldable(class: &ClassUnicode) -> ClassUnicode {
    let mut folded = class.clone();
    if count(class) > FEW {
        folded.intersect(&CASED);
    }
    folded
}

/// Returns the maximum number of steps to fold a class: its characters are looked up and sorted, its ranges copied.
pub(super) fn cost(class: &ClassUnicode, case: Case) -> usize {
    let letters = count(class).min(MAX_CASED);
    class.ranges().len() / 4
        + match case {
            Case::Kept => 0,
            Case::Folded => letters / 2,
            Case::Capitals => letters,
        }
}

/// The most letters that are folded of a class.
const MAX_CASED: usize = 3_000;

/// Returns a class with all characters that are equal to one of its own.
pub(super) fn closed(class: ClassUnicode, case: Case) -> ClassUnicode {
    if case == Case::Kept {
        return class;
    }
    let mut folded = foldable(&class);
    if folded.try_case_fold_simple().is_err() {
        return class;
    }
    if case == Case::Folded {
        folded.union(&class);
        return compact(&folded);
    }
    // Fewer letters are the same by their capitals than by Unicode's folding.
    folded.difference(&class);
    let letters = folded.iter().flat_map(|range| range.start()..=range.end());
    let new = letters.filter(|c| has_capital_of(&class, *c)).map(|c| ClassUnicodeRange::new(c, c));
    ClassUnicode::new(class.iter().copied().chain(new))
}

/// Whether a class contains a character with the same upper case.
fn has_capital_of(class: &ClassUnicode, c: char) -> bool {
    let mut same = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
    same.try_case_fold_simple().is_ok()
        && same
            .iter()
            .flat_map(|range| range.start()..=range.end())
            .any(|member| has(class, member) && capital(member) == capital(c))
}

/// Whether a class contains a character.
pub(super) fn has(class: &ClassUnicode, c: char) -> bool {
    let ranges = class.ranges();
    let place = ranges.partition_point(|range| range.end() < c);
    ranges.get(place).is_some_and(|range| range.start() <= c)
}

/// Whether two characters are equal.
pub(super) fn are_same(one: char, two: char, case: Case) -> bool {
    match case {
        _ if one == two => true,
        Case::Kept => false,
        Case::Capitals => capital(one) == capital(two),
        Case::Folded => {
            let mut same = ClassUnicode::new([ClassUnicodeRange::new(one, one)]);
            same.try_case_fold_simple().is_ok()
                && same.iter().any(|range| (range.start()..=range.end()).contains(&two))
        }
    }
}

/// Returns the upper case of a character, if it is a single character, and not ASCII for a non-ASCII one.
fn capital(c: char) -> char {
    let mut capitals = c.to_uppercase();
    match (capitals.next(), capitals.next()) {
        (Some(capital), None) if c.is_ascii() || !capital.is_ascii() => capital,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_one_case_is_not_folded() {
        let rest = negated(CASED.clone());
        let mut folded = rest.clone();
        folded.try_case_fold_simple().unwrap();
        assert_eq!(folded, rest);
        assert!((1_000..MAX_CASED).contains(&count(&CASED)), "{}", count(&CASED));
    }

    #[test]
    fn classes_are_closed_as_when_all_of_them_is_folded() {
        let classes = [
            range(0, 0x10_ffff),
            range(0x61, 0x7a),
            negated(range(0x61, 0x61)),
            word(Case::Kept),
            negated(word(Case::Kept)),
        ];
        for class in classes {
            let mut folded = class.clone();
            folded.try_case_fold_simple().unwrap();
            assert_eq!(closed(class.clone(), Case::Folded), folded);
            assert_eq!(closed(class.clone(), Case::Kept), class);
        }
        // The Kelvin sign is a k where Unicode folds, and not by its capital.
        assert!(has(&closed(range(0x6b, 0x6b), Case::Folded), '\u{212a}'));
        assert!(!has(&closed(range(0x6b, 0x6b), Case::Capitals), '\u{212a}'));
        assert!(has(&closed(range(0x6b, 0x6b), Case::Capitals), 'K'));
    }
}
