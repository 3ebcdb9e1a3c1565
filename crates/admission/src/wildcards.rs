//! Patterns for file names, as shells expand them. What a set in brackets contains is not read: it matches every character.

/// Returns the name that a pattern matches, if it is only one: without its backslashes.
pub(crate) fn literal(pattern: &[u8]) -> Option<Vec<u8>> {
    let mut name = Vec::with_capacity(pattern.len());
    let mut bytes = pattern.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'*' | b'?' | b'[' => return None,
            b'\\' => name.extend(bytes.next()),
            byte => name.push(*byte),
        }
    }
    Some(name)
}

/// Returns whether a pattern may match a name.
pub(crate) fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut read) = (0, 0);
    // Where the last `*` goes on, with one byte more of the name each time.
    let mut retry = None;
    loop {
        match part(pattern, at) {
            Some((Part::Any, next)) => {
                retry = Some((next, read));
                at = next;
                continue;
            }
            None if read == name.len() => return true,
            Some((part, next)) if name.get(read).is_some_and(|byte| part.takes(*byte)) => {
                (at, read) = (next, read + 1);
                continue;
            }
            _ => {}
        }
        match retry {
            Some((next, from)) if from < name.len() => {
                retry = Some((next, from + 1));
                (at, read) = (next, from + 1);
            }
            _ => return false,
        }
    }
}

/// A part of a pattern.
#[derive(Clone, Copy)]
enum Part {
    Byte(u8),
    /// One character, of any number of bytes.
    One,
    /// Any number of characters.
    Any,
}

impl Part {
    fn takes(self, byte: u8) -> bool {
        match self {
            Self::Byte(own) => own == byte,
            Self::One | Self::Any => true,
        }
    }
}

/// Returns the part at a position, and the position behind it.
fn part(pattern: &[u8], at: usize) -> Option<(Part, usize)> {
    Some(match *pattern.get(at)? {
        b'*' => (Part::Any, at + 1),
        // A character may have several bytes.
        b'?' => (Part::Any, at + 1),
        b'[' => match pattern.get(at + 2..).and_then(|rest| rest.iter().position(|byte| *byte == b']')) {
            Some(end) => (Part::Any, at + end + 3),
            None => (Part::Byte(b'['), at + 1),
        },
        b'\\' => match pattern.get(at + 1) {
            Some(byte) => (Part::Byte(*byte), at + 2),
            None => (Part::One, at + 1),
        },
        byte => (Part::Byte(byte), at + 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_what_a_shell_matches() {
        for (pattern, name, expected) in [
            ("*.md", "a.md", true),
            ("*.md", ".md", true),
            ("*.md", "a.md.txt", false),
            ("*", "key", true),
            ("a?c", "abc", true),
            ("a?c", "a\u{e9}c", true),
            ("[ab]x", "ax", true),
            ("[]a]x", "]x", true),
            ("[a", "[a", true),
            ("\\*x", "*x", true),
            ("\\*x", "ax", false),
            ("*a*b*c", "xaxbxc", true),
            ("*a*b*c", "xaxcxb", false),
            ("", "", true),
            ("", "a", false),
            ("k", "key", false),
        ] {
            assert_eq!(fits(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
        // Linear, whatever the pattern.
        assert!(!fits("*a".repeat(500).as_bytes(), "a".repeat(400).as_bytes()));
    }

    #[test]
    fn a_pattern_without_special_characters_is_a_name() {
        assert_eq!(literal(b"a.md"), Some(b"a.md".to_vec()));
        assert_eq!(literal(b"\\*x"), Some(b"*x".to_vec()));
        assert_eq!(literal(b"a*"), None);
    }
}
