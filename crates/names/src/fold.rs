//! Folds names as the most lenient file system compares them.

use std::borrow::Cow;

/// Characters that HFS+ leaves out of names when it compares them (Apple TN1150).
const fn is_skipped(letter: char) -> bool {
    matches!(letter, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// Returns a name in lower case, without the parts that some file system ignores: invisible characters (HFS+),
/// trailing dots and spaces, and the stream behind a colon (NTFS). `git~1`, the short name of `.git` on NTFS, is
/// replaced.
#[must_use]
pub fn fold(name: &str) -> Cow<'_, str> {
    let name = without_stream(name);
    let trimmed = name.trim_end_matches(['.', ' ']);
    let name = if trimmed.is_empty() { name } else { trimmed };
    let folded = in_small_letters(name);
    match folded.as_ref() {
        "git~1" | "git~2" | "git~3" | "git~4" => Cow::Borrowed(".git"),
        _ => folded,
    }
}

fn without_stream(name: &str) -> &str {
    match name.split_once(':') {
        Some((before, _)) if !before.is_empty() => before,
        _ => name,
    }
}

fn in_small_letters(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        return match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => Cow::Owned(name.to_ascii_lowercase()),
            false => Cow::Borrowed(name),
        };
    }
    // Via upper case, so that letters with two lower-case forms become equal: `ſ` is `s`, and the Kelvin sign is `k`.
    let letters = name.chars().filter(|letter| !is_skipped(*letter));
    let folded: String = letters.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
    // Dropping a character may leave a dot at the end.
    let trimmed = folded.trim_end_matches(['.', ' ']);
    match trimmed.is_empty() {
        true => Cow::Owned(folded),
        false => Cow::Owned(trimmed.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_some_file_system_takes_for_one() {
        for (name, folded) in [
            (".GIT", ".git"),
            ("GIT~1", ".git"),
            (".git. .", ".git"),
            (".git::$INDEX_ALLOCATION", ".git"),
            (".g\u{200c}it", ".git"),
            (".git.\u{200c}", ".git"),
            (".\u{17f}\u{17f}h", ".ssh"),
            (".\u{212a}iro", ".kiro"),
            ("..", ".."),
            ("x", "x"),
            (":x", ":x"),
            ("git~x", "git~x"),
        ] {
            assert_eq!(fold(name), folded, "{name}");
            assert_eq!(fold(&fold(name)), folded, "{name}");
        }
    }
}
