//! Literals that every match of a custom pattern contains, and a fast search for all of them at once.
//!
//! To derive the grams of a pattern takes longer than to scan most texts, and most texts match no custom rule. So the tables of the
//! prefilter get a custom pattern once a text contains one of its literals. Letters are compared without their case, which finds
//! too much and never too little.

use std::collections::HashMap;

use regex_syntax::hir::{Class, Hir, HirKind};

/// Number of bytes of a literal that are looked up.
const WINDOW: usize = 4;

/// A longer literal is cut: a part of what is required is required as well.
const MAX_LITERAL: usize = 32;

/// Maximum number of alternatives, one of which must be in a match.
const MAX_ALTERNATIVES: usize = 16;

type Window = [u8; WINDOW];

/// The literals of some patterns.
#[derive(Debug, Default)]
pub(crate) struct RequiredLiterals {
    /// Where a window may be found: one bit for each hash of four bytes.
    hashes: Vec<u64>,
    windows: HashMap<Window, Vec<PatternLiteral>>,
}

/// A literal of a pattern, found by a window of it.
#[derive(Debug)]
struct PatternLiteral {
    pattern: usize,
    /// In lower case.
    bytes: Box<[u8]>,
    /// The position of the window.
    offset: usize,
}

impl RequiredLiterals {
    /// Adds a pattern. Returns whether it has such literals.
    pub(crate) fn add(&mut self, pattern: usize, parsed: &Hir) -> bool {
        let Some(literals) = required(parsed) else { return false };
        literals.into_iter().for_each(|bytes| self.add_literal(pattern, bytes.into()));
        true
    }

    fn add_literal(&mut self, pattern: usize, bytes: Box<[u8]>) {
        // The window that fewest literals were found by: rules of one file often differ in a few bytes.
        let windows = bytes.array_windows::<WINDOW>().enumerate();
        let rarest = windows.min_by_key(|(_, window)| self.windows.get(*window).map_or(0, Vec::len));
        let Some((offset, window)) = rarest.map(|(offset, window)| (offset, *window)) else { return };
        self.hashes.resize(HASHES / 64, 0);
        let (word, bit) = place(hash(u32::from_be_bytes(window)));
        if let Some(word) = self.hashes.get_mut(word) {
            *word |= bit;
        }
        self.windows.entry(window).or_default().push(PatternLiteral { pattern, bytes, offset });
    }

    /// Calls a function with each pattern that has a literal in a text, possibly more than once.
    pub(crate) fn patterns_in(&self, text: &[u8], mut see: impl FnMut(usize)) {
        if self.hashes.is_empty() {
            return;
        }
        let mut window = 0;
        for (end, byte) in (1..).zip(text) {
            window = window << 8 | u32::from(byte.to_ascii_lowercase());
            let (word, bit) = place(hash(window));
            if end >= WINDOW && self.hashes.get(word).is_some_and(|word| word & bit != 0) {
                let literals = self.windows.get(&window.to_be_bytes()).into_iter().flatten();
                let found = literals.filter(|literal| literal.ends_window_at(text, end));
                found.for_each(|literal| see(literal.pattern));
            }
        }
    }
}

impl PatternLiteral {
    /// Whether the literal is in the text, with its window ending at this position.
    fn ends_window_at(&self, text: &[u8], end: usize) -> bool {
        let start = end.checked_sub(self.offset + WINDOW);
        let part = start.and_then(|start| text.get(start..)?.get(..self.bytes.len()));
        part.is_some_and(|part| part.eq_ignore_ascii_case(&self.bytes))
    }
}

/// Number of hashes: with a thousand literals, one position in sixty is looked up in vain.
const HASHES: usize = 1 << 16;

const fn hash(window: u32) -> usize {
    (window.wrapping_mul(0x9e37_79b1) >> 16) as usize
}

const fn place(hash: usize) -> (usize, u64) {
    (hash / 64, 1 << (hash % 64))
}

/// Returns literals in lower case, one of which every match contains.
fn required(hir: &Hir) -> Option<Vec<Vec<u8>>> {
    let whole = match hir.kind() {
        HirKind::Concat(parts) => return of_parts(parts),
        HirKind::Capture(capture) => return required(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => return required(&repetition.sub),
        HirKind::Alternation(alternatives) => {
            let each: Option<Vec<_>> = alternatives.iter().map(required).collect();
            each?.concat()
        }
        HirKind::Literal(_) => vec![letters(hir)?],
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) | HirKind::Repetition(_) => return None,
    };
    let fits = whole.len() <= MAX_ALTERNATIVES && whole.iter().all(|literal| literal.len() >= WINDOW);
    fits.then_some(whole)
}

/// Returns the longest literal of consecutive parts, or the literals of one part.
fn of_parts(parts: &[Hir]) -> Option<Vec<Vec<u8>>> {
    let shortest = |literals: &Vec<Vec<u8>>| literals.iter().map(Vec::len).min().unwrap_or(0);
    let mut best: Option<Vec<Vec<u8>>> = None;
    let mut offer = |literals: Vec<Vec<u8>>| {
        if shortest(&literals) >= WINDOW.max(best.as_ref().map_or(0, |best| shortest(best) + 1)) {
            best = Some(literals);
        }
    };
    let mut run = Vec::new();
    for part in parts {
        match letters(part) {
            Some(more) => run.extend(more),
            None => {
                offer(vec![cut(std::mem::take(&mut run))]);
                required(part).into_iter().for_each(&mut offer);
            }
        }
    }
    offer(vec![cut(run)]);
    best
}

fn cut(mut literal: Vec<u8>) -> Vec<u8> {
    literal.truncate(MAX_LITERAL);
    literal
}

/// Returns the bytes of a literal, or of a letter in either case, in lower case.
fn letters(hir: &Hir) -> Option<Vec<u8>> {
    let letter = |one: u32, other: u32| {
        let (one, other) = (u8::try_from(one).ok()?, u8::try_from(other).ok()?);
        (one.is_ascii_uppercase() && one.to_ascii_lowercase() == other).then(|| vec![other])
    };
    match hir.kind() {
        HirKind::Literal(literal) => Some(cut(literal.0.to_ascii_lowercase())),
        HirKind::Class(Class::Bytes(class)) => match class.ranges() {
            [one, other] if one.len() == 1 && other.len() == 1 => {
                letter(one.start().into(), other.start().into())
            }
            _ => None,
        },
        HirKind::Class(Class::Unicode(class)) => match class.ranges() {
            [one, other] if one.len() == 1 && other.len() == 1 => {
                letter(one.start().into(), other.start().into())
            }
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::{compile, parse_one};

    fn literals(pattern: &str) -> Vec<String> {
        let found = required(&parse_one(pattern)).unwrap_or_default();
        found.into_iter().map(|literal| String::from_utf8(literal).unwrap()).collect()
    }

    #[test]
    fn what_every_match_contains() {
        for (pattern, expected) in [
            ("[a-z0-9-]{1,40}[.]corp7[.]example", &[".corp7.example"][..]),
            ("(?i)Build-Box", &["build-box"]),
            (r"\bsecret\b", &["secret"]),
            ("(?:alpha|beta2)x", &["alpha", "beta2"]),
            ("(?:long-name)+", &["long-name"]),
            ("(long)er?name", &["long"]),
            ("abc|defg", &[]),
            ("(?:abcd)?", &[]),
            ("(?:abcd)*xyz", &[]),
            ("[a-z]+", &[]),
            ("abc", &[]),
            ("", &[]),
        ] {
            assert_eq!(literals(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn every_match_of_a_builtin_rule_contains_a_literal_of_its_pattern() {
        let mut with_literals = 0;
        for rule in crate::rules::all() {
            for pattern in rule.patterns {
                let Some(literals) = required(&parse_one(pattern.regex)) else { continue };
                with_literals += 1;
                let regex = compile(pattern.regex).unwrap();
                for found in rule
                    .matches
                    .iter()
                    .flat_map(|text| regex.find_iter(text).map(move |found| &text.as_bytes()[found.range()]))
                {
                    let found = found.to_ascii_lowercase();
                    let is_in = |literal: &Vec<u8>| found.windows(literal.len()).any(|part| part == literal);
                    assert!(literals.iter().any(is_in), "{}: {}", rule.id, pattern.regex);
                }
            }
        }
        assert!(with_literals > 50, "{with_literals}");
    }

    #[test]
    fn patterns_are_found_by_their_literals_in_any_case() {
        let mut index = RequiredLiterals::default();
        let patterns = ["corp1[.]example", "corp2[.]example", "(?i)straße", "abcd|wxyz", "[0-9]+"];
        let has: Vec<bool> = (0..).zip(patterns).map(|(at, one)| index.add(at, &parse_one(one))).collect();
        assert_eq!(has, [true, true, true, true, false]);
        let found = |text: &str| {
            let mut found = Vec::new();
            index.patterns_in(text.as_bytes(), |pattern| found.push(pattern));
            found
        };
        for (text, expected) in [
            ("see CORP2.Example", &[1][..]),
            ("corp1.example", &[0]),
            ("corp1.exampl", &[]),
            ("corp1.example corp2.example", &[0, 1]),
            ("Straße", &[2]),
            ("wxyz", &[3]),
            ("xyz", &[]),
            ("", &[]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }
}
