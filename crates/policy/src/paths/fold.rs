//! Names as a careless file system sees them.
//!
//! File systems disagree on when two names are one: most of macOS and Windows ignore case, HFS+ also skips invisible
//! characters, APFS compares in one normal form, and Windows drops dots and spaces at the end of a name. A rule that
//! refuses must hold on all of them, so it is compared with every form that a path may be read as.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;

/// Returns the text in one case and normal form, without the characters that HFS+ skips.
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
    text.nfc()
        .filter(|character| !skipped(*character))
        // By way of upper case, so that letters with two small forms (σς, sſ) meet.
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .nfc()
        .collect()
}

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
            ("e\u{301}", "\u{e9}"),
            ("ΣΑΣ", "σασ"),
            ("σας", "σασ"),
        ] {
            assert_eq!(fold(name), expected, "{name}");
        }
        assert!(matches!(fold("src/a.rs"), Cow::Borrowed(_)));
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
