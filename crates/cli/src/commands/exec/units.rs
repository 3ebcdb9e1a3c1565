//! Durations and sizes in command-line arguments.

use std::time::Duration;

/// Parses a number with an optional unit.
fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.strip_prefix(digits)?.to_ascii_lowercase();
    let factor = units.iter().find(|(name, _)| *name == unit)?.1;
    digits.parse::<u64>().ok()?.checked_mul(factor).filter(|&value| value > 0)
}

/// Parses a duration.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let seconds = scaled(text, &[("", 1), ("s", 1), ("m", 60), ("h", 3600)]);
    seconds.map(Duration::from_secs).ok_or_else(|| "expected a duration such as 90s, 5m or 2h".to_owned())
}

/// Parses a size.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let bytes = scaled(text, &[("", 1), ("k", 1 << 10), ("m", 1 << 20), ("g", 1 << 30)]);
    bytes.ok_or_else(|| "expected a size such as 512M or 2G".to_owned())
}

/// Parses a memory limit. No program starts below the minimum.
pub(in crate::commands) fn memory(text: &str) -> Result<u64, String> {
    const LEAST: u64 = 8 << 20;
    size(text).and_then(|bytes| if bytes < LEAST { Err("the minimum is 8M".to_owned()) } else { Ok(bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_enough_to_start() {
        assert_eq!(memory("8M"), Ok(8 << 20));
        assert!(memory("1K").is_err_and(|why| why.contains("minimum is 8M")));
    }

    #[test]
    fn times_and_sizes() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(size("2G"), Ok(2 << 30));
        for odd in ["", "m", "0", "-1", "1x", "99999999999999999999", "1 m", "999999999999G"] {
            assert!(duration(odd).is_err() && size(odd).is_err(), "{odd}");
        }
    }
}
