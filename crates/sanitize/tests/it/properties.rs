//! Properties of every text. Each takes arbitrary bytes, so that a fuzzer and the stable tests can both use it.

use std::borrow::Cow;

use stockade_sanitize::{
    Joiners, Note, SanitizeOptions, TRUNCATION_MARKER, contains_tag_block, sanitize, strip_html_comments,
    strip_invisible,
};
use unicode_normalization::is_nfkc;

#[path = "naive.rs"]
mod naive;

/// Fragments of attacks. One byte of the input selects one, so that few bytes make a tricky text.
const PIECES: &[&str] = &[
    "<",
    "!",
    "-",
    ">",
    "<!--",
    "-->",
    "--!>",
    "<!-",
    "->",
    "\u{FF1C}",
    "\u{FF01}",
    "\u{FF0D}",
    "\u{FF1E}",
    "\u{FE64}",
    "\u{FE65}",
    "\u{338}",
    "\u{226E}",
    "\u{226F}",
    "\u{200B}",
    "\u{200C}",
    "\u{200D}",
    "\u{AD}",
    "\u{FEFF}",
    "\u{2060}",
    "\u{202E}",
    "\u{2028}",
    "\r",
    "\n",
    "\r\n",
    "\t",
    " ",
    "\u{85}",
    "\u{1B}",
    "\0",
    "a",
    "e",
    "1",
    "#",
    "\u{301}",
    "\u{316}",
    "\u{344}",
    "\u{323}",
    "\u{E9}",
    "\u{1E9B}",
    "\u{1EA5}",
    "\u{FF21}",
    "\u{FB01}",
    "\u{FDFA}",
    "\u{2460}",
    "\u{A8}",
    "\u{212B}",
    "\u{FF76}",
    "\u{FF9E}",
    "\u{1100}",
    "\u{1161}",
    "\u{11A8}",
    "\u{AC00}",
    "\u{3164}",
    "\u{1F3F4}",
    "\u{E0067}",
    "\u{E0062}\u{E0065}\u{E006E}\u{E0067}",
    "\u{E007F}",
    "\u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
    "\u{E0068}\u{E0069}",
    "\u{E0101}",
    "\u{E0155}",
    "\u{2764}",
    "\u{1F600}",
    "\u{FE0F}",
    "\u{FE0E}",
    "\u{20E3}",
    "\u{2122}",
    "\u{1F1E9}",
    "\u{1F469}",
    "\u{1F4BB}",
    "\u{645}",
    "\u{6CC}",
    "\u{62E}",
    "\u{64B}",
    "\u{FEE1}",
    "\u{915}",
    "\u{94D}",
    "\u{937}",
    "\u{93C}",
    "\u{958}",
    "\u{600}",
    "\u{9BE}",
    "\u{9C7}",
    "\u{F73}",
    "\u{10FFFF}",
    "\n[TRUNCATED]",
    "\u{430}",
    "\u{3042}",
    "\u{4E00}",
];

/// Makes a text and options from arbitrary bytes: the first selects the options and how the others are decoded.
fn input(data: &[u8]) -> (String, SanitizeOptions) {
    let (&choice, rest) = data.split_first().unwrap_or((&0, &[]));
    let max_chars = match choice >> 2 & 15 {
        0 => 20_000,
        15 => usize::MAX,
        short => usize::from(short) * 3 - 3,
    };
    let joiners = if choice & 2 == 0 { Joiners::Strip } else { Joiners::KeepMeaningful };
    let text = match choice & 1 {
        0 => rest.iter().map(|&byte| PIECES[usize::from(byte) % PIECES.len()]).collect(),
        _ => String::from_utf8_lossy(rest).into_owned(),
    };
    (text, SanitizeOptions { max_chars, joiners })
}

/// The whole pipeline agrees with the naive one, and the result has the documented properties.
pub(crate) fn sanitizes(data: &[u8]) {
    let (text, options) = input(data);
    let clean = sanitize(&text, &options);
    if clean.notes().contains(&Note::CombiningMarks) {
        let (whole, _) = naive::sanitize(&text, usize::MAX, options.joiners);
        // The flood may also have been in a comment that normalisation made.
        let made = clean.html_comments_stripped - strip_html_comments(&text).count;
        assert!(naive::most_marks(&whole) > 30 || made > 0);
    } else {
        let (body, truncated) = naive::sanitize(&text, options.max_chars, options.joiners);
        assert_eq!(
            (clean.body.as_ref(), clean.truncated),
            (body.as_str(), truncated),
            "{text:?} {options:?}"
        );
    }
    assert_eq!(clean.changed(), clean.body != text);
    is_a_fixed_point(&clean.body, &options);
    is_clean(&clean.body, &options);
}

/// The single steps.
pub(crate) fn steps_hold_alone(data: &[u8]) {
    let (text, _) = input(data);
    let comments = strip_html_comments(&text);
    assert_eq!(comments.text, naive::strip_comments(&text));
    assert_eq!(comments.count > 0, matches!(comments.text, Cow::Owned(_)));

    let invisible = strip_invisible(&text);
    assert_eq!(matches!(invisible.text, Cow::Borrowed(_)), invisible.text == text, "{text:?}");
    assert_eq!(strip_invisible(&invisible.text).text, invisible.text);
    assert_eq!(invisible.tag_block_detected, contains_tag_block(&text));
    let sum: usize = invisible.stripped.by_name.values().sum();
    assert_eq!(sum, invisible.stripped.count);
}

/// A message hidden in tag characters or variation selectors is decoded exactly.
pub(crate) fn reads_hidden_messages(data: &[u8]) {
    let printable = |c: &char| !c.is_control() && *c != char::REPLACEMENT_CHARACTER;
    let message: String = String::from_utf8_lossy(data).chars().filter(printable).collect();
    let options = SanitizeOptions { max_chars: usize::MAX, ..SanitizeOptions::default() };

    let ascii: String = message.chars().filter(char::is_ascii).collect();
    let tags: String = ascii.chars().filter_map(|c| char::from_u32(0xE0000 + c as u32)).collect();
    let clean = sanitize(&tags, &options).hidden_text;
    assert_eq!(clean.unwrap_or_default(), if ascii.trim().is_empty() { "" } else { &ascii });

    let selector = |byte: u8| char::from_u32(0xE00F0 + u32::from(byte)).unwrap();
    let selectors: String = message.bytes().map(selector).collect();
    let clean = sanitize(&selectors, &options).hidden_text;
    assert_eq!(clean.unwrap_or_default(), if message.chars().count() < 2 { "" } else { &message });
}

fn is_a_fixed_point(body: &str, options: &SanitizeOptions) {
    let again = sanitize(body, options);
    assert_eq!(again.body, body);
    assert!(!again.truncated);
    assert!(!again.tag_block_detected);
    assert_eq!(again.html_comments_stripped, 0);
    assert_eq!(again.invisible_stripped.count, 0);
}

fn is_clean(body: &str, options: &SanitizeOptions) {
    let measured = body.strip_suffix(TRUNCATION_MARKER).unwrap_or(body);
    assert!(measured.chars().count() <= options.max_chars);
    assert!(!body.contains("<!--"));
    assert!(!body.contains(['\r', '\u{2028}', '\u{2029}']));
    assert!(is_nfkc(body), "{body:?}");
    assert!(naive::most_marks(body) <= 30);
    let excused = |c| {
        matches!(c, '\u{FE0E}' | '\u{FE0F}' | '\u{E0062}'..='\u{E007F}')
            || (options.joiners == Joiners::KeepMeaningful && matches!(c, '\u{200C}' | '\u{200D}'))
    };
    assert!(!body.contains(|c| naive::is_forbidden(c) && !excused(c)), "{body:?}");
}
