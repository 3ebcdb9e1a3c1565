//! Which failures are the same failure.

/// How much of an error tells its class.
const TELLING_CHARACTERS: usize = 80;
/// Beginnings of errors that blame the arguments.
const INVALID_ARGUMENTS: &[&str] =
    &["validation failed", "invalid argument", "invalid parameter", "invalid params", "missing required"];

/// The class of an error: two errors that differ only in numbers, case or punctuation are the same failure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct ErrorClass(String);

impl ErrorClass {
    /// Returns the class of an error message: its `[tag]` if it has one, else the words it begins with.
    ///
    /// ```
    /// use stockade_limits::retry::ErrorClass;
    ///
    /// assert_eq!(ErrorClass::of("Timeout after 31 ms!"), ErrorClass::of("timeout after 4 ms"));
    /// assert_eq!(ErrorClass::of("[not_read] a.txt"), ErrorClass::of("b.txt is locked [not_read]"));
    /// ```
    #[must_use]
    pub fn of(message: &str) -> Self {
        if let Some(tag) = bracketed_tag(message) {
            return Self(format!("[{tag}]"));
        }
        let mut class = String::new();
        for character in message.chars().take(TELLING_CHARACTERS) {
            let plain = if character.is_numeric() {
                '0'
            } else if character.is_alphabetic() {
                character.to_lowercase().next().unwrap_or(character)
            } else {
                ' '
            };
            // Runs of numbers and of punctuation shrink to one.
            if !(matches!(plain, '0' | ' ') && class.ends_with(plain)) {
                class.push(plain);
            }
        }
        Self(class.trim().to_owned())
    }

    /// Returns the class as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the error blames the arguments of the call.
    #[must_use]
    pub fn is_invalid_arguments(&self) -> bool {
        INVALID_ARGUMENTS.iter().any(|beginning| self.0.starts_with(beginning))
    }
}

/// Finds the first `[word]` in the part of a message that tells its class.
fn bracketed_tag(message: &str) -> Option<&str> {
    let end = message.char_indices().nth(TELLING_CHARACTERS).map_or(message.len(), |(at, _)| at);
    let mut rest = message.get(..end)?;
    while let Some((_, after)) = rest.split_once('[') {
        let (tag, _) = after.split_once(']')?;
        if !tag.is_empty() && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Some(tag);
        }
        rest = after;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_is_what_the_error_is_about() {
        for (message, class) in [
            ("ENOENT: no such file, open '/tmp/a1b22'", "enoent no such file open tmp a0b0"),
            ("  [rate_limited] slow down", "[rate_limited]"),
            ("[two words] then [tag]", "[tag]"),
            ("[unclosed", "unclosed"),
            ("", ""),
        ] {
            assert_eq!(ErrorClass::of(message).as_str(), class, "{message:?}");
        }
    }

    #[test]
    fn a_long_error_has_a_short_class() {
        assert!(ErrorClass::of(&"ß".repeat(100_000)).as_str().len() <= 4 * TELLING_CHARACTERS);
    }
}
