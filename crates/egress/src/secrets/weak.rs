//! Parts of a secret that also occur in other texts: words, numbers, repeated characters.
//!
//! A response that contains eight bytes of a random token contains a part of this token. One that contains the word `password`
//! does not contain a part of a secret with that word in it.

/// Minimum number of different characters in a part that identifies a secret.
const MIN_DIFFERENT: usize = 4;

/// Whether a part of a secret may occur in a text that has nothing to do with the secret.
pub(super) fn is_weak(part: &[u8]) -> bool {
    has_few_characters(part) || is_number(part) || is_words(part)
}

/// Whether a part of any length repeats too few characters.
pub(super) fn has_few_characters(part: &[u8]) -> bool {
    let mut different: Vec<u8> = part.to_ascii_lowercase();
    different.sort_unstable();
    different.dedup();
    different.len() < MIN_DIFFERENT
}

/// Decimal and hexadecimal numbers, dates, and digests: eight digits occur by chance in any list of commits.
fn is_number(part: &[u8]) -> bool {
    part.iter().all(|byte| byte.is_ascii_hexdigit() || byte.is_ascii_punctuation() || *byte == b' ')
}

/// Words in lower case, in upper case, or with a capital at their beginning.
fn is_words(part: &[u8]) -> bool {
    let is_upper = part.iter().all(|byte| !byte.is_ascii_lowercase());
    let has_digit = part.iter().any(u8::is_ascii_digit);
    let changes_within = part.windows(2).any(|pair| match pair {
        [before, next] => before.is_ascii_alphabetic() && next.is_ascii_uppercase(),
        _ => false,
    });
    !has_digit && (is_upper || !changes_within)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_are_weak() {
        for part in
            ["password", "Password", "PASSWORD", "my pass-", "deadbeef", "20261129", "aaaaaaa1", "--------"]
        {
            assert!(is_weak(part.as_bytes()), "{part}");
        }
        for part in ["q7Zk2Vb9", "hunter22", "xYzabcDe", "k3y-9a1z"] {
            assert!(!is_weak(part.as_bytes()), "{part}");
        }
    }
}
