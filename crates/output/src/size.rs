//! Sizes as people read them.

/// Returns a number of bytes in the largest unit that is not a fraction, with one digit after the point.
///
/// ```
/// assert_eq!(stockade_output::format_size(1_536), "1.5KB");
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
