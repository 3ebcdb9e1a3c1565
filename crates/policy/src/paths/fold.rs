//! Names as a careless file system sees them.
//!
//! File systems disagree on when two names are one: most of macOS and Windows ignore case, HFS+ also skips invisible
//! characters, APFS compares in one normal form, and Windows drops dots and spaces at the end of a name. A rule that
//! refuses must hold on all of them, so it is compared with every form that a path may be read as.
//!
//! This is Unicode's canonical caseless matching (chapter 3.13, D145) made coarser where a file system is: NFD, full case
//! folding by way of both cases, and the ignorable characters of HFS+ (Apple's technical note 1150) left out. The mistake that it
//! answers is CVE-2014-9390, where `.git` with a zero-width character in it was another name for `.git`.
//!
//! Folding goes character by character, so a text folds to its parts, folded: a match of a glob's `*` never extends
//! into the letters beside it.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::decompose_canonical;

/// Returns the text in one case, with letters and their marks apart, without the characters that HFS+ skips.
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    if !text.is_ascii() {
        return Cow::Owned(fold_unicode(text));
    }
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns the text with the marks on each letter in their normal order, if they are in another.
pub(crate) fn in_order(text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    let ordered: String = text.nfd().collect();
    (!decomposed(text).eq(ordered.chars())).then_some(ordered)
}

/// Returns the text with each letter and its marks as one character where there is one, if they are apart.
pub(crate) fn composed(text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    let composed: String = text.nfc().collect();
    (composed != text).then_some(composed)
}

/// Returns the path without the dots and spaces at the ends of its names, if there are any.
pub(crate) fn trimmed(path: &str) -> Option<String> {
    let trim = |name: &str| {
        let trimmed = name.trim_end_matches(['.', ' ']);
        if trimmed.is_empty() { name.len() } else { trimmed.len() }
    };
    if path.split('/').all(|name| trim(name) == name.len()) {
        return None;
    }
    let names: Vec<&str> = path.split('/').map(|name| name.get(..trim(name)).unwrap_or(name)).collect();
    Some(names.join("/"))
}

fn fold_unicode(text: &str) -> String {
    // By way of upper case, so that letters with two small forms (σς, sſ) meet; and first to lower case, so that those
    // with two capitals (ẞ and SS) do.
    let upper = decomposed(text).flat_map(char::to_lowercase).flat_map(char::to_uppercase);
    let lower = upper.flat_map(char::to_lowercase);
    lower.flat_map(parts).filter(|character| !skipped(*character)).collect()
}

fn decomposed(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(parts)
}

/// A letter and its marks, each on its own.
fn parts(character: char) -> impl Iterator<Item = char> {
    let mut parts = [None; MAX_PARTS];
    let mut free = parts.iter_mut();
    decompose_canonical(character, |part| {
        if let Some(slot) = free.next() {
            *slot = Some(part);
        }
    });
    parts.into_iter().flatten()
}

/// No character has more parts in its canonical decomposition.
const MAX_PARTS: usize = 4;

/// The characters that HFS+ skips when it compares names, and their invisible neighbours.
fn skipped(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_folded() {
        for (name, expected) in [
            ("src/a.rs", "src/a.rs"),
            (".ENV", ".env"),
            (".\u{17f}\u{17f}h/config", ".ssh/config"),
            (".g\u{200c}it", ".git"),
            ("\u{212a}ey.PEM", "key.pem"),
            ("\u{e9}\u{c9}", "e\u{301}e\u{301}"),
            ("e\u{301}", "e\u{301}"),
            ("\u{390}", "\u{3b9}\u{308}\u{301}"),
            ("한", "\u{1112}\u{1161}\u{11ab}"),
            ("ΣΑΣ", "σασ"),
            ("STRAẞE", "strasse"),
            ("Straße", "strasse"),
            ("σας", "σασ"),
        ] {
            assert_eq!(fold(name), expected, "{name}");
        }
        assert!(matches!(fold("src/a.rs"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_text_folds_to_its_parts_folded() {
        let all = ('\0'..=char::MAX).filter(|character| !character.is_ascii());
        for character in all {
            let mut most = 0;
            decompose_canonical(character, |_| most += 1);
            assert!(most <= MAX_PARTS, "{character:?}");
            let once = fold(character.encode_utf8(&mut [0; 4])).into_owned();
            assert_eq!(fold(&once), once, "{character:?} changes when it is folded again");
        }
    }

    #[test]
    fn marks_are_also_put_in_order() {
        for (text, expected) in [
            ("abc", None),
            ("\u{e9}", None),
            ("e\u{301}", None),
            ("a\u{323}\u{301}", None),
            ("a\u{301}\u{323}", Some("a\u{323}\u{301}")),
            ("\u{e1}\u{323}", Some("a\u{323}\u{301}")),
        ] {
            assert_eq!(in_order(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn ends_of_names_are_trimmed() {
        for (path, expected) in [
            ("a.pem", None),
            (".", None),
            ("...", None),
            ("a.pem.", Some("a.pem")),
            (".git. /config ..", Some(".git/config")),
            ("/a./b", Some("/a/b")),
        ] {
            assert_eq!(trimmed(path).as_deref(), expected, "{path}");
        }
    }
}
