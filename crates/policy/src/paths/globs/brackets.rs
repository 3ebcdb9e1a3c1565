//! `[…]`: one character of some.

use super::error::{GlobErrorKind, syntax};

/// The set of characters of a bracket expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Class {
    /// Whether it is one character of all others.
    pub(super) negated: bool,
    /// First and last characters.
    pub(super) ranges: Vec<(char, char)>,
}

/// Reads what follows a `[`. The first character is itself, whatever it is; only then can `]` close and `-` make a
/// range.
pub(super) fn parse(rest: &mut std::str::Chars<'_>) -> Result<Class, GlobErrorKind> {
    let negated = rest.clone().next().is_some_and(|sign| matches!(sign, '!' | '^'));
    if negated {
        rest.next();
    }
    let mut ranges = Vec::new();
    loop {
        match rest.next().ok_or_else(unclosed)? {
            ']' if !ranges.is_empty() => return Ok(Class { negated, ranges }),
            '/' => return Err(syntax("brackets never match `/`; write the folders as `{a,b}/…`")),
            '\\' => return Err(syntax("tools disagree on `\\` in brackets; write `{\\\\,a}`")),
            first => ranges.push((first, last(first, rest)?)),
        }
    }
}

/// Returns the end of a range, or the character itself if it begins no range.
fn last(first: char, rest: &mut std::str::Chars<'_>) -> Result<char, GlobErrorKind> {
    let mut ahead = rest.clone();
    let (Some('-'), Some(last)) = (ahead.next(), ahead.next()) else { return Ok(first) };
    if matches!(last, ']' | '/' | '\\') {
        return Ok(first);
    }
    if last < first {
        return Err(syntax(&format!("the range `{first}-{last}` runs backwards")));
    }
    *rest = ahead;
    Ok(last)
}

fn unclosed() -> GlobErrorKind {
    syntax("`[` is never closed; a literal one is written `\\[`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_read() {
        for (text, negated, ranges, rest) in [
            ("a]b", false, &[('a', 'a')][..], "b"),
            ("!a-c]", true, &[('a', 'c')], ""),
            ("^ä-ö]", true, &[('ä', 'ö')], ""),
            ("]a]", false, &[(']', ']'), ('a', 'a')], ""),
            ("!]-]", true, &[(']', ']'), ('-', '-')], ""),
            ("-a]", false, &[('-', '-'), ('a', 'a')], ""),
            ("a-]", false, &[('a', 'a'), ('-', '-')], ""),
            ("+--]", false, &[('+', '-')], ""),
            ("--0]", false, &[('-', '0')], ""),
            ("!!]", true, &[('!', '!')], ""),
        ] {
            let mut chars = text.chars();
            assert_eq!(parse(&mut chars), Ok(Class { negated, ranges: ranges.to_vec() }), "{text}");
            assert_eq!(chars.as_str(), rest, "{text}");
        }
    }

    #[test]
    fn brackets_that_could_mean_two_things_are_refused() {
        for text in ["", "]", "a", "!", "a/b]", "+-/]", "z-a]", "\\]]", "a-\\]"] {
            assert!(parse(&mut text.chars()).is_err(), "{text}");
        }
    }
}
