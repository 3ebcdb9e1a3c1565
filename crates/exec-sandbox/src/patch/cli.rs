//! Values of command-line options: durations, sizes and names of backends.

use std::ffi::OsStr;
use std::time::Duration;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};

use crate::choices::SandboxBackend;

/// Parses a number with an optional unit.
fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.strip_prefix(digits)?.to_ascii_lowercase();
    let factor = units.iter().find(|(name, _)| *name == unit)?.1;
    digits.parse::<u64>().ok()?.checked_mul(factor).filter(|&value| value > 0)
}

/// Parses a duration.
pub fn duration(text: &str) -> Result<Duration, String> {
    let seconds = scaled(text, &[("", 1), ("s", 1), ("m", 60), ("h", 3600)]);
    seconds.map(Duration::from_secs).ok_or_else(|| "expected a duration such as 90s, 5m or 2h".to_owned())
}

/// Parses a size.
pub fn size(text: &str) -> Result<u64, String> {
    let bytes = scaled(text, &[("", 1), ("k", 1 << 10), ("m", 1 << 20), ("g", 1 << 30), ("t", 1 << 40)]);
    bytes.ok_or_else(|| "expected a size such as 512M or 2G".to_owned())
}

/// Parses a memory limit. No program starts below the minimum.
pub fn memory(text: &str) -> Result<u64, String> {
    const LEAST: u64 = 8 << 20;
    size(text).and_then(|bytes| if bytes < LEAST { Err("the minimum is 8M".to_owned()) } else { Ok(bytes) })
}

/// Parses a duration in milliseconds.
pub(super) fn millis(text: &str) -> Result<u64, String> {
    duration(text).map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

/// Parses the name of a backend. Help lists the built-in ones; whether another one exists is known only when the command is
/// planned.
#[derive(Debug, Clone, Copy)]
pub struct BackendParser;

impl TypedValueParser for BackendParser {
    type Value = SandboxBackend;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<SandboxBackend, clap::Error> {
        let read = |word: String| {
            SandboxBackend::from_name(&word)
                .ok_or("a backend's name starts with a lowercase letter, followed by lowercase letters, digits and `-`")
        };
        StringValueParser::new().try_map(read).parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let offered = SandboxBackend::ALL.iter();
        Some(Box::new(offered.map(|one| PossibleValue::new(one.name()).help(one.meaning()))))
    }
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
        assert_eq!((size("2G"), size("32T")), (Ok(2 << 30), Ok(32 << 40)));
        for odd in ["", "m", "0", "-1", "1x", "99999999999999999999", "1 m", "999999999999G"] {
            assert!(duration(odd).is_err() && size(odd).is_err(), "{odd}");
        }
    }
}
