//! Times and sizes as people write them.

use std::time::Duration;

/// Reads a number with one of these letters behind it, each of which stands for a factor.
fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.strip_prefix(digits)?.to_ascii_lowercase();
    let factor = units.iter().find(|(name, _)| *name == unit)?.1;
    digits.parse::<u64>().ok()?.checked_mul(factor).filter(|&value| value > 0)
}

/// Reads a time.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let seconds = scaled(text, &[("", 1), ("s", 1), ("m", 60), ("h", 3600)]);
    seconds.map(Duration::from_secs).ok_or_else(|| "write a time such as 90s, 5m or 2h".to_owned())
}

/// Reads a size.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let bytes = scaled(text, &[("", 1), ("k", 1 << 10), ("m", 1 << 20), ("g", 1 << 30)]);
    bytes.ok_or_else(|| "write a size such as 512M or 2G".to_owned())
}

/// Reads how much memory a command may use. With less than this no program starts.
pub(in crate::commands) fn memory(text: &str) -> Result<u64, String> {
    const LEAST: u64 = 8 << 20;
    size(text).and_then(|bytes| {
        if bytes < LEAST { Err("no program starts with less than 8M".to_owned()) } else { Ok(bytes) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_enough_to_start() {
        assert_eq!(memory("8M"), Ok(8 << 20));
        assert!(memory("1K").is_err_and(|why| why.contains("less than 8M")));
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
