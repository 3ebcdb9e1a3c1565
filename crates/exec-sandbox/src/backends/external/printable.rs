//! Text of a backend program, made safe to show.

/// The longest text of a program that is shown.
const MAX_LENGTH: usize = 500;

/// Returns a text without control characters, cut at a length that a person reads.
pub(super) fn printable(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(MAX_LENGTH).collect()
}
