//! A naive reference sanitizer: whole strings, one step after the other, repeated until nothing changes. It is slow,
//! unbounded and easy to verify. The real one must agree with it on every text without a flood of combining marks,
//! which this one does not handle.

use std::ops::RangeInclusive;

use stockade_sanitize::Joiners;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;
use unicode_segmentation::UnicodeSegmentation;

/// Cleans `text` and returns the body and whether it was truncated.
pub(crate) fn sanitize(text: &str, max_chars: usize, joiners: Joiners) -> (String, bool) {
    let mut text = text.to_owned();
    loop {
        let before = text.clone();
        text = strip_comments(&text);
        text = until_stable(&text, |text| strip_invisible(&nfkc(text), joiners));
        if text == before {
            return enforce_size(&text, max_chars);
        }
    }
}

fn until_stable(text: &str, step: impl Fn(&str) -> String) -> String {
    let next = step(text);
    if next == text { next } else { until_stable(&next, step) }
}

/// Removes the first comment until no comment is left.
pub(crate) fn strip_comments(text: &str) -> String {
    let Some((before, inside)) = text.split_once("<!--") else { return text.to_owned() };
    let end = (0..=inside.len()).filter(|&end| inside.is_char_boundary(end)).find(|&end| {
        let comment = &inside[..end];
        comment == ">" || comment == "->" || comment.ends_with("-->") || comment.ends_with("--!>")
    });
    strip_comments(&format!("{before}{}", end.map_or("", |end| &inside[end..])))
}

fn nfkc(text: &str) -> String {
    text.nfkc().collect()
}

/// The length of the longest run of combining marks, those inside letters included.
pub(crate) fn most_marks(text: &str) -> usize {
    let mut marks = 0;
    let run = |c| {
        marks = if canonical_combining_class(c) == 0 { 0 } else { marks + 1 };
        marks
    };
    text.nfd().map(run).max().unwrap_or(0)
}

fn strip_invisible(text: &str, joiners: Joiners) -> String {
    let chars: Vec<char> = text.replace("\r\n", "\n").chars().collect();
    let flags = ["gbeng", "gbsct", "gbwls"].map(flag);
    let mut kept = String::new();
    let mut at = 0;
    while at < chars.len() {
        let flag = flags.iter().find(|flag| at > 0 && chars[at - 1..].starts_with(flag));
        let (before, after) = (&chars[..at], &chars[at + 1..]);
        match chars[at] {
            _ if flag.is_some() => {
                kept.extend(&chars[at..at + 6]);
                at += 5;
            }
            '\r' | '\u{2028}' | '\u{2029}' => kept.push('\n'),
            c @ ('\u{FE0E}' | '\u{FE0F}') if is_presentation(before, after) => kept.push(c),
            c @ ('\u{200C}' | '\u{200D}')
                if joiners == Joiners::KeepMeaningful && joins(before, c, after) =>
            {
                kept.push(c);
            }
            c if is_forbidden(c) => {}
            c => kept.push(c),
        }
        at += 1;
    }
    kept
}

/// The black flag, the tags of `name`, the cancel tag.
fn flag(name: &str) -> Vec<char> {
    let tags = name.chars().map(|c| char::from_u32(0xE0000 + c as u32).unwrap());
    ['\u{1F3F4}'].into_iter().chain(tags).chain(['\u{E007F}']).collect()
}

fn is_presentation(before: &[char], after: &[char]) -> bool {
    let keycap = after.first() == Some(&'\u{20E3}');
    before.last().is_some_and(|&c| is_emoji(c) || (keycap && (c.is_ascii_digit() || c == '#' || c == '*')))
}

fn is_emoji(c: char) -> bool {
    unicode_properties::UnicodeEmoji::is_emoji_char(c)
        && !c.is_ascii()
        && nfkc(&c.to_string()) == c.to_string()
}

fn joins(before: &[char], joiner: char, after: &[char]) -> bool {
    let (Some(&last), Some(&next)) = (before.last(), after.first()) else { return false };
    if canonical_combining_class(next) != 0 {
        return false;
    }
    if joiner == '\u{200D}' && is_emoji(next) {
        let bare = if last == '\u{FE0F}' { before.len() - 1 } else { before.len() };
        return bare > 0 && is_emoji(before[bare - 1]);
    }
    let stretch = before.iter().rev().take_while(|&&c| !is_forbidden(c));
    let letter = stretch.copied().find(|&c| canonical_combining_class(c) == 0);
    let in_script = |c: char| SCRIPTS.iter().position(|script| script.contains(&c));
    letter.is_some_and(|letter| {
        letter.is_alphabetic()
            && next.is_alphabetic()
            && in_script(letter).is_some()
            && in_script(letter) == in_script(next)
    })
}

/// Scripts whose words are spelled with joiners: Arabic with its supplements, Syriac, N'Ko, those of India from Devanagari to
/// Sinhala, Myanmar, Khmer and Mongolian.
const SCRIPTS: &[RangeInclusive<char>] = &[
    '\u{600}'..='\u{6FF}',
    '\u{700}'..='\u{74F}',
    '\u{750}'..='\u{77F}',
    '\u{7C0}'..='\u{7FF}',
    '\u{870}'..='\u{8FF}',
    '\u{900}'..='\u{97F}',
    '\u{980}'..='\u{9FF}',
    '\u{A00}'..='\u{A7F}',
    '\u{A80}'..='\u{AFF}',
    '\u{B00}'..='\u{B7F}',
    '\u{B80}'..='\u{BFF}',
    '\u{C00}'..='\u{C7F}',
    '\u{C80}'..='\u{CFF}',
    '\u{D00}'..='\u{D7F}',
    '\u{D80}'..='\u{DFF}',
    '\u{1000}'..='\u{109F}',
    '\u{1780}'..='\u{17FF}',
    '\u{1820}'..='\u{18AA}',
];

fn enforce_size(text: &str, max_chars: usize) -> (String, bool) {
    let measured = text.strip_suffix("\n[TRUNCATED]").unwrap_or(text);
    if measured.chars().count() <= max_chars {
        return (text.to_owned(), false);
    }
    let limit = text.char_indices().nth(max_chars).unwrap().0;
    let starts = text.grapheme_indices(true).map(|(at, _)| at);
    let mut cut = starts.take_while(|&at| at <= limit).last().unwrap();
    if text[cut..limit].chars().count() >= 64 {
        cut = limit;
        cut = text[..cut].trim_end_matches(is_forbidden).len();
    }
    cut = text[..cut].trim_end_matches(['\u{200C}', '\u{200D}']).len();
    (format!("{}\n[TRUNCATED]", &text[..cut]), true)
}

/// Whether `c` may occur in a clean text only because of its neighbours, if at all.
pub(crate) fn is_forbidden(c: char) -> bool {
    let code = u32::from(c);
    (c.is_control() && !matches!(c, '\t' | '\n' | '\r'))
        || code & 0xFFFE == 0xFFFE
        || FORBIDDEN.iter().any(|range| range.contains(&code))
}

/// Default_Ignorable_Code_Point as of Unicode 16, then other characters without a glyph.
const FORBIDDEN: &[RangeInclusive<u32>] = &[
    0x00AD..=0x00AD,
    0x034F..=0x034F,
    0x061C..=0x061C,
    0x115F..=0x1160,
    0x17B4..=0x17B5,
    0x180B..=0x180F,
    0x200B..=0x200F,
    0x202A..=0x202E,
    0x2060..=0x206F,
    0x3164..=0x3164,
    0xFE00..=0xFE0F,
    0xFEFF..=0xFEFF,
    0xFFA0..=0xFFA0,
    0xFFF0..=0xFFF8,
    0x1BCA0..=0x1BCA3,
    0x1D173..=0x1D17A,
    0xE0000..=0xE0FFF,
    0x2800..=0x2800,
    0xFDD0..=0xFDEF,
    0xFFF9..=0xFFFC,
    0x13441..=0x13442,
    0x16FE4..=0x16FE4,
    0x1D159..=0x1D159,
];
