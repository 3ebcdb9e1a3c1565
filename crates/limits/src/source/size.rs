//! Sizes and long lines, for showing.

use super::cut;

/// Returns a number of bytes in the largest unit that is not a fraction, with one digit after the point.
///
/// ```
/// assert_eq!(stockade_limits::format_size(1_536), "1.5KB");
/// ```
#[must_use]
pub fn format_size(bytes: u64) -> String {
    const KILO: u64 = 1_024;
    match bytes {
        ..KILO => format!("{bytes}B"),
        KILO..1_048_576 => format!("{:.1}KB", bytes as f64 / 1_024.0),
        _ => format!("{:.1}MB", bytes as f64 / 1_048_576.0),
    }
}

/// Returns a line as it is, or its beginning with a note that more follows.
#[must_use]
pub fn shorten_line(line: &str, max_chars: usize) -> String {
    let kept = cut::head(line, max_chars);
    if kept.len() == line.len() { line.to_owned() } else { format!("{kept}... [truncated]") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_says_that_it_goes_on() {
        assert_eq!(shorten_line("short", 10), "short");
        assert_eq!(shorten_line("a long line", 6), "a long... [truncated]");
    }
}
