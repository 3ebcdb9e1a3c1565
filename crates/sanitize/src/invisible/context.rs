//! Invisible characters that are kept because of their neighbours: flags, emoji presentation and, optionally,
//! joiners.

use unicode_normalization::char::{canonical_combining_class, decompose_compatible};

use crate::class::{Class, class, is_emoji};
use crate::invisible::Joiners;
use crate::pipeline::SanitizeOptions;
use crate::work;

const BLACK_FLAG: char = '\u{1F3F4}';

/// Tags that follow the black flag in the only sequences recommended for interchange (UTS #51): `gbeng`, `gbsct` and
/// `gbwls`, each closed by the cancel tag. Any other sequence could hide text.
const FLAG_TAGS: [&str; 3] = [
    "\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
    "\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
    "\u{E0067}\u{E0062}\u{E0077}\u{E006C}\u{E0073}\u{E007F}",
];

/// How far back the letter before a joiner is searched. Normalised text has at most 30 marks in a row.
const MAX_LOOK_BACK: usize = 40;

/// First and last letter block of the scripts in which a joiner changes the spelling.
#[rustfmt::skip]
const JOINING_SCRIPTS: &[(char, char)] = &[
    ('\u{0600}', '\u{06FF}'), // Arabic
    ('\u{0700}', '\u{074F}'), // Syriac
    ('\u{0750}', '\u{077F}'), // Arabic
    ('\u{07C0}', '\u{07FF}'), // N'Ko
    ('\u{0870}', '\u{08FF}'), // Arabic
    ('\u{0900}', '\u{097F}'), // Devanagari
    ('\u{0980}', '\u{09FF}'), // Bengali
    ('\u{0A00}', '\u{0A7F}'), // Gurmukhi
    ('\u{0A80}', '\u{0AFF}'), // Gujarati
    ('\u{0B00}', '\u{0B7F}'), // Oriya
    ('\u{0B80}', '\u{0BFF}'), // Tamil
    ('\u{0C00}', '\u{0C7F}'), // Telugu
    ('\u{0C80}', '\u{0CFF}'), // Kannada
    ('\u{0D00}', '\u{0D7F}'), // Malayalam
    ('\u{0D80}', '\u{0DFF}'), // Sinhala
    ('\u{1000}', '\u{109F}'), // Myanmar
    ('\u{1780}', '\u{17FF}'), // Khmer
    ('\u{1820}', '\u{18AA}'), // Mongolian
];

/// Returns how many bytes to keep at `at`, the offset of an invisible character: 0 if it is removed.
///
/// The neighbours are inspected as they will be after normalisation, so that a second pass decides alike.
pub(crate) fn kept_len(text: &str, at: usize, options: &SanitizeOptions) -> usize {
    let Some((before, from)) = text.split_at_checked(at) else { return 0 };
    let mut chars = from.chars();
    let (c, after) = (chars.next().unwrap_or_default(), chars.as_str());
    let keeps = match c {
        '\u{E0067}' if before.ends_with(BLACK_FLAG) => {
            return FLAG_TAGS.iter().find(|tags| from.starts_with(**tags)).map_or(0, |tags| tags.len());
        }
        '\u{FE0E}' | '\u{FE0F}' => selects_presentation(before, after),
        '\u{200C}' | '\u{200D}' => options.joiners == Joiners::KeepMeaningful && joins(before, c, after),
        _ => false,
    };
    if keeps { c.len_utf8() } else { 0 }
}

/// Whether a presentation selector here belongs to an emoji or to a keycap (`1` + U+FE0F + U+20E3).
fn selects_presentation(before: &str, after: &str) -> bool {
    let Some(base) = before.chars().next_back().and_then(last_part) else { return false };
    is_emoji(base) || (matches!(base, '0'..='9' | '#' | '*') && after.starts_with('\u{20E3}'))
}

fn joins(before: &str, joiner: char, after: &str) -> bool {
    // A mark belongs to the character before the joiner; it is not a letter to be joined.
    let next = after.chars().next().and_then(first_part).filter(|&part| canonical_combining_class(part) == 0);
    let Some(next) = next else { return false };
    if joiner == '\u{200D}' && is_emoji(next) {
        return emoji_before(before).is_some();
    }
    let Some(base) = letter_before(before) else { return false };
    base.is_alphabetic() && next.is_alphabetic() && script(base).is_some() && script(base) == script(next)
}

/// Returns the emoji at the end of `before`, ignoring its presentation selector.
fn emoji_before(before: &str) -> Option<char> {
    let bare = before.strip_suffix('\u{FE0F}').unwrap_or(before);
    bare.chars().next_back().filter(|&c| is_emoji(c))
}

/// Returns the letter that carries the marks at the end of `before`.
fn letter_before(before: &str) -> Option<char> {
    let mut nearest = before.chars().rev().take(MAX_LOOK_BACK).take_while(|&c| class(c) != Class::Stripped);
    nearest.find_map(|c| {
        work::step();
        let mut starter = None;
        decompose_compatible(c, |part| {
            if canonical_combining_class(part) == 0 {
                starter = Some(part);
            }
        });
        starter
    })
}

fn script(c: char) -> Option<usize> {
    JOINING_SCRIPTS.iter().position(|&(first, last)| (first..=last).contains(&c))
}

/// Returns the first character of the normalised `c`, or `None` if `c` is removed.
fn first_part(c: char) -> Option<char> {
    let mut first = None;
    decompose_compatible(c, |part| first = first.or(Some(part)));
    first.filter(|&part| class(part) != Class::Stripped)
}

/// Returns the last character of the normalised `c`, or `None` if `c` is removed.
fn last_part(c: char) -> Option<char> {
    let mut last = None;
    decompose_compatible(c, |part| last = Some(part));
    last.filter(|&part| class(part) != Class::Stripped)
}
