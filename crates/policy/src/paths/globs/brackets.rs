//! Keeps `[…]` from matching the slash between names, and to the characters it can match at all.
//!
//! The matcher's `*` and `?` stay within a name, but its brackets do not: `src[!a]x` would match `src/x`. In a list
//! that refuses that is harmless; in a list that allows it opens more than was written.

use std::borrow::Cow;

use super::GlobErrorKind;

/// Returns the glob with a slash excluded from every negated bracket.
pub(super) fn within_names(glob: &str) -> Result<Cow<'_, str>, GlobErrorKind> {
    if !glob.contains('[') {
        return Ok(Cow::Borrowed(glob));
    }
    let mut kept = String::with_capacity(glob.len() + 4);
    let mut rest = glob.chars();
    while let Some(character) = rest.next() {
        kept.push(character);
        match character {
            '\\' => kept.extend(rest.next()),
            '[' => bracket(&mut rest, &mut kept)?,
            _ => {}
        }
    }
    Ok(Cow::Owned(kept))
}

/// Copies what stands in a bracket, after its `[`. A bracket that never closes is left for the parser to refuse.
fn bracket(rest: &mut std::str::Chars<'_>, kept: &mut String) -> Result<(), GlobErrorKind> {
    let negated = rest.clone().next().is_some_and(|sign| matches!(sign, '!' | '^'));
    if negated {
        kept.extend(rest.next());
    }
    // The first character is itself, whatever it is; only then can `]` close and `-` make a range.
    let Some(first) = rest.next() else { return Ok(()) };
    let after_first = rest.clone().next();
    match (negated, first) {
        (true, ']' | '-') if after_first == Some('-') => return Err(crosses()),
        (true, ']' | '-') => kept.extend([first, '/']),
        (true, _) => kept.extend(['/', first]),
        (false, _) => kept.push(first),
    }
    let mut before = first;
    let mut seen_slash = first == '/';
    while let Some(character) = rest.next() {
        kept.push(character);
        if character == ']' {
            break;
        }
        let spans = character == '-'
            && rest.clone().next().is_some_and(|end| before < '/' && end > '/' && end != ']');
        seen_slash |= character == '/' || spans;
        before = character;
    }
    if seen_slash && !negated { Err(crosses()) } else { Ok(()) }
}

/// Refuses brackets with characters outside ASCII: the matcher reads them byte by byte, so they would never match.
pub(super) fn are_ascii(glob: &str) -> Result<(), GlobErrorKind> {
    let mut rest = glob.chars();
    while let Some(character) = rest.next() {
        match character {
            '\\' => drop(rest.next()),
            '[' => {
                let inside = rest.as_str().trim_start_matches(['!', '^']);
                let skipped = inside.chars().next().map_or(0, char::len_utf8);
                let end = inside
                    .get(skipped..)
                    .and_then(|after| after.find(']'))
                    .map_or(inside.len(), |at| skipped + at);
                if !inside.get(..end).unwrap_or(inside).is_ascii() {
                    return Err(GlobErrorKind::Syntax("brackets take ASCII only; write `{ä,ö}`".to_owned()));
                }
                rest = inside.get(end..).unwrap_or_default().chars();
            }
            _ => {}
        }
    }
    Ok(())
}

fn crosses() -> GlobErrorKind {
    GlobErrorKind::Syntax("brackets may not match `/`; write the folders as `{a,b}/…`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_take_ascii_only() {
        for (glob, taken) in [
            ("ä", true),
            ("[a]ä", true),
            ("\\[ä]", true),
            ("[!]a]ä[b]", true),
            ("[ä]", false),
            ("[!ä]", false),
            ("[]ä]", false),
            ("[a][b-ä]", false),
            ("[ä", false),
        ] {
            assert_eq!(are_ascii(glob).is_ok(), taken, "{glob}");
        }
    }

    #[test]
    fn negated_brackets_exclude_the_slash() {
        for (glob, expected) in [
            ("a*b", Some("a*b")),
            ("[a-z]", Some("[a-z]")),
            ("[!a]", Some("[!/a]")),
            ("[^a-c]x", Some("[^/a-c]x")),
            ("[!]a]", Some("[!]/a]")),
            ("[!-a]", Some("[!-/a]")),
            ("[!--0]", None),
            ("\\[!a]", Some("\\[!a]")),
            ("[+-9]", None),
            ("[a/b]", None),
            ("[0-9]", Some("[0-9]")),
            ("[a", Some("[a")),
            ("[", Some("[")),
        ] {
            assert_eq!(within_names(glob).ok().as_deref(), expected, "{glob}");
        }
    }
}
