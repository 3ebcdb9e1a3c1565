//! One word of a pattern.

/// Matches a word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// Matches this word and no other.
    Literal(String),
    /// Every word that matches this pattern.
    Glob(Vec<GlobPart>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum GlobPart {
    Char(char),
    One,
    Run,
}

impl Token {
    /// Parses a word of a pattern: `*` matches any characters, `?` matches one, and `\` escapes the next.
    pub(super) fn read(text: &str) -> Self {
        if !text.contains(['*', '?', '\\']) {
            return Self::Literal(text.to_owned());
        }
        let mut parts = Vec::with_capacity(text.len());
        let mut rest = text.chars();
        while let Some(character) = rest.next() {
            parts.push(match character {
                '*' if parts.last() == Some(&GlobPart::Run) => continue,
                '*' => GlobPart::Run,
                '?' => GlobPart::One,
                '\\' => GlobPart::Char(rest.next().unwrap_or('\\')),
                plain => GlobPart::Char(plain),
            });
        }
        let plain: Option<String> = parts
            .iter()
            .map(|part| match part {
                GlobPart::Char(character) => Some(*character),
                GlobPart::One | GlobPart::Run => None,
            })
            .collect();
        plain.map_or(Self::Glob(parts), Self::Literal)
    }

    /// Returns the word, if it is literal.
    pub(super) fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Glob(_) => None,
        }
    }

    /// Returns whether it matches every word.
    pub(super) fn is_anything(&self) -> bool {
        matches!(self, Self::Glob(parts) if parts.as_slice() == [GlobPart::Run])
    }

    /// Returns whether it is an option.
    pub(super) fn is_option(&self) -> bool {
        match self {
            Self::Literal(text) => text.len() > 1 && text.starts_with('-'),
            Self::Glob(parts) => parts.first() == Some(&GlobPart::Char('-')),
        }
    }

    /// Returns whether it matches a word.
    #[inline]
    pub(super) fn fits(&self, word: &str) -> bool {
        match self {
            Self::Literal(text) => text == word,
            Self::Glob(parts) => glob(parts, word),
        }
    }

    /// Returns whether it matches every word that starts with `prefix`: `*=*` matches every word that starts with `A=`.
    pub(super) fn fits_all(&self, prefix: &str) -> bool {
        match self {
            Self::Literal(_) => false,
            Self::Glob(parts) => {
                parts.last() == Some(&GlobPart::Run) && !prefix.is_empty() && glob(parts, prefix)
            }
        }
    }

    /// Returns whether it can match a word that starts with `prefix`.
    pub(super) fn can_begin(&self, prefix: &str) -> bool {
        match self {
            Self::Literal(text) => text.starts_with(prefix),
            Self::Glob(parts) => {
                let mut parts = parts.iter();
                for character in prefix.chars() {
                    match parts.next() {
                        Some(GlobPart::Run) => return true,
                        Some(GlobPart::One) => {}
                        Some(GlobPart::Char(expected)) if *expected == character => {}
                        _ => return false,
                    }
                }
                true
            }
        }
    }
}

/// Matches with one backtracking position: after several `*`, only the last one needs another try. Patterns are short, so the
/// time is proportional to the word.
fn glob(parts: &[GlobPart], word: &str) -> bool {
    let (mut at, mut part) = (0, 0);
    let mut again: Option<(usize, usize)> = None;
    loop {
        let next = word.get(at..).and_then(|rest| rest.chars().next());
        match (parts.get(part), next) {
            (None, None) => return true,
            (Some(GlobPart::Run), _) => {
                again = Some((part, at));
                part += 1;
                continue;
            }
            (Some(GlobPart::One), Some(character)) => {
                at += character.len_utf8();
                part += 1;
                continue;
            }
            (Some(GlobPart::Char(expected)), Some(character)) if *expected == character => {
                at += character.len_utf8();
                part += 1;
                continue;
            }
            _ => {}
        }
        let Some((run, from)) = again else { return false };
        let Some(skipped) = word.get(from..).and_then(|rest| rest.chars().next()) else { return false };
        at = from + skipped.len_utf8();
        part = run + 1;
        again = Some((run, at));
    }
}

/// Escapes `word`, so that a pattern matches exactly it.
pub(crate) fn escape(word: &str) -> String {
    word.chars().fold(String::with_capacity(word.len()), |mut escaped, character| {
        if matches!(character, '*' | '?' | '\\') {
            escaped.push('\\');
        }
        escaped.push(character);
        escaped
    })
}

/// Maximum number of alternatives in the braces of a word. A rule with more is refused, because one that denies would miss the
/// rest.
pub(super) const MAX_BRACE_ALTERNATIVES: usize = 64;

/// Returns the alternatives of a word with braces: `build*` and `test*` for `{build,test}*`. Braces are not nested. If there are
/// too many, one more than the maximum is returned.
pub(super) fn alternatives(word: &str) -> Vec<String> {
    let split = || {
        let (before, rest) = word.split_once('{')?;
        let (inside, after) = rest.split_once('}')?;
        (inside.contains(',') && !before.ends_with('\\')).then_some((before, inside, after))
    };
    match split() {
        Some((before, inside, after)) => {
            let tails = alternatives(after);
            let heads = inside.split(',');
            heads
                .flat_map(|head| tails.iter().map(move |tail| format!("{before}{head}{tail}")))
                .take(MAX_BRACE_ALTERNATIVES + 1)
                .collect()
        }
        None => vec![word.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_fit_or_do_not() {
        let rows = [
            ("npm", "npm", true),
            ("npm", "npmx", false),
            ("npm?", "npmx", true),
            ("npm?", "npmxy", false),
            ("a.b", "axb", false),
            ("feature/*", "feature/x/y", true),
            ("*", "", true),
            ("*a*b", "xaxb", true),
            ("*a*b", "xaxbc", false),
            ("\\*", "*", true),
            ("\\*", "x", false),
            ("ä?", "äö", true),
        ];
        for (pattern, word, expected) in rows {
            assert_eq!(Token::read(pattern).fits(word), expected, "{pattern} {word}");
            assert!(Token::read(&escape(word)).fits(word), "{word}");
        }
    }

    #[test]
    fn what_a_word_begins_with_can_rule_it_out() {
        let rows = [
            ("push", "", true),
            ("push", "pu", true),
            ("push", "x", false),
            ("f*", "foo", true),
            ("f?", "foo", false),
        ];
        for (pattern, prefix, expected) in rows {
            assert_eq!(Token::read(pattern).can_begin(prefix), expected, "{pattern} {prefix}");
        }
        for (pattern, prefix, expected) in [
            ("*=*", "A=", true),
            ("*=*", "A", false),
            ("a*", "ab", true),
            ("a*b", "ab", false),
            ("*", "", false),
        ] {
            assert_eq!(Token::read(pattern).fits_all(prefix), expected, "{pattern} {prefix}");
        }
    }

    #[test]
    fn braces_are_alternatives() {
        assert_eq!(alternatives("{build,test}*"), ["build*", "test*"]);
        assert_eq!(alternatives("{a,b}{c,d}"), ["ac", "ad", "bc", "bd"]);
        assert_eq!(alternatives("{}"), ["{}"]);
        assert_eq!(alternatives("x"), ["x"]);
    }
}
