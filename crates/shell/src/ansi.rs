//! The escapes of `$'…'`.

use crate::options::Shell;

/// Decodes `$'…'`, or returns `None` if the result is not text: single bytes above ASCII, and for zsh a NUL, which it
/// keeps in the word. zsh drops the backslash of an unknown escape, so only escapes that both shells know are
/// decoded.
pub(crate) fn decode(escaped: &str, shell: Shell) -> Option<String> {
    if shell == Shell::Zsh && !escapes(escaped).all(is_known_to_both) {
        return None;
    }
    let mut decoded = String::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some((before, after)) = rest.split_once('\\') {
        decoded.push_str(before);
        rest = escape(after, &mut decoded)?;
        if decoded.ends_with('\0') {
            decoded.pop();
            // bash uses C strings: a NUL ends this one, and the text behind the quote follows it.
            return (shell == Shell::Bash).then_some(decoded);
        }
    }
    decoded.push_str(rest);
    Some(decoded)
}

/// Whether `$'…'` decodes to a single NUL, as in `read -d $'\0'`. A program that receives it as a word gets an empty
/// string.
pub(crate) fn is_nul(escaped: &str) -> bool {
    matches!(escaped, r"\0" | r"\00" | r"\000" | r"\x0" | r"\x00")
}

/// Returns the two characters after each backslash.
fn escapes(text: &str) -> impl Iterator<Item = (char, Option<char>)> {
    let mut characters = text.chars().peekable();
    std::iter::from_fn(move || {
        characters.find(|character| *character == '\\')?;
        Some((characters.next()?, characters.peek().copied()))
    })
}

/// Whether bash and zsh read an escape alike. Without digits, zsh takes `\x` for a NUL.
fn is_known_to_both((letter, next): (char, Option<char>)) -> bool {
    match letter {
        'x' | 'u' | 'U' => next.is_some_and(|next| next.is_ascii_hexdigit()),
        '0'..='7' => true,
        _ => single(letter).is_some(),
    }
}

fn single(letter: char) -> Option<char> {
    SINGLE.iter().find(|(name, _)| *name == letter).map(|(_, value)| *value)
}

/// Decodes the escape at the start of `text` and returns the rest.
fn escape<'s>(text: &'s str, decoded: &mut String) -> Option<&'s str> {
    let mut characters = text.chars();
    let letter = characters.next()?;
    let rest = characters.as_str();
    match letter {
        'x' => return number(rest, 16, 2, text, decoded),
        'u' => return number(rest, 16, 4, text, decoded),
        'U' => return number(rest, 16, 8, text, decoded),
        '0'..='7' => return number(text, 8, 3, text, decoded),
        'c' => {
            // `\c\\` and the like differ between versions; a plain letter is a control character.
            let control = characters.next().filter(char::is_ascii_alphabetic)?;
            decoded.push(char::from(control as u8 & 0x1f));
            return Some(characters.as_str());
        }
        _ => {}
    }
    match single(letter) {
        Some(value) => decoded.push(value),
        None => decoded.extend(['\\', letter]),
    }
    Some(rest)
}

/// Decodes up to `most` digits. Without any, the escape is literal.
fn number<'s>(
    digits: &'s str,
    radix: u32,
    most: usize,
    text: &'s str,
    decoded: &mut String,
) -> Option<&'s str> {
    let length = digits.chars().take(most).take_while(|c| c.is_digit(radix)).count();
    let (value, rest) = digits.split_at_checked(length)?;
    if length == 0 {
        decoded.push('\\');
        let (letter, after) = text.split_at_checked(1)?;
        decoded.push_str(letter);
        return Some(after);
    }
    let value = u32::from_str_radix(value, radix).ok()?;
    let is_byte = most < 4;
    let character = char::from_u32(value).filter(|c| !is_byte || c.is_ascii())?;
    decoded.push(character);
    Some(rest)
}

const SINGLE: &[(char, char)] = &[
    ('n', '\n'),
    ('t', '\t'),
    ('r', '\r'),
    ('a', '\x07'),
    ('b', '\x08'),
    ('e', '\x1b'),
    ('E', '\x1b'),
    ('f', '\x0c'),
    ('v', '\x0b'),
    ('\\', '\\'),
    ('\'', '\''),
    ('"', '"'),
    ('?', '?'),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_decode_as_bash_decodes_them() {
        let rows = [
            (r"rm", Some("rm")),
            (r"\162\155", Some("rm")),
            (r"\x72\x6d", Some("rm")),
            (r"\u0072m", Some("rm")),
            (r"\U00000072m", Some("rm")),
            (r"a\nb\tc", Some("a\nb\tc")),
            (r"it\'s", Some("it's")),
            (r"\q", Some(r"\q")),
            (r"\xg", Some(r"\xg")),
            (r"\u00e9", Some("é")),
            (r"\cA", Some("\u{1}")),
            (r"\xff", None),
            (r"\777", None),
            (r"a\0b", Some("a")),
            (r"\x00", Some("")),
            (r"\u0000b\xff", Some("")),
            (r"a\400", None),
            (r"\c\\", None),
        ];
        for (escaped, expected) in rows {
            assert_eq!(decode(escaped, Shell::Bash).as_deref(), expected, "{escaped}");
        }
    }

    #[test]
    fn escapes_that_only_bash_keeps_are_refused_for_zsh() {
        assert_eq!(decode(r"\q", Shell::Zsh), None);
        assert_eq!(decode("\\\n", Shell::Zsh), None);
        assert_eq!(decode(r"\x41\n", Shell::Zsh).as_deref(), Some("A\n"));
        assert_eq!(decode(r"a\0", Shell::Zsh), None);
    }

    #[test]
    fn a_nul_alone_is_known_in_each_spelling() {
        for escaped in [r"\0", r"\00", r"\000", r"\x0", r"\x00"] {
            assert!(is_nul(escaped), "{escaped}");
            assert_eq!(decode(escaped, Shell::Bash).as_deref(), Some(""), "{escaped}");
        }
        assert!(!is_nul("") && !is_nul("0") && !is_nul(r"\0a") && !is_nul(r"\0000"));
    }
}
