//! Points in time as users type them.

use stockade_guard::audit::Timestamp;

/// Template for omitted parts.
const REST: &str = "1970-01-01T00:00:00.000000Z";

/// Seconds in a unit.
const UNITS: &[(char, u64)] =
    &[('s', 1), ('m', 60), ('h', 60 * 60), ('d', 24 * 60 * 60), ('w', 7 * 24 * 60 * 60)];

/// Parses a date, a date and a time in UTC, or an age.
pub fn parse_when(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    ago(text, now).or_else(|| point(text)).ok_or_else(|| {
        "expected a date (2026-11-21), a date and time in UTC (2026-11-21T09:30), or an age (90s, 30m, 2h, 7d)"
            .to_owned()
    })
}

fn ago(text: &str, now: Timestamp) -> Option<Timestamp> {
    let unit = text.chars().next_back()?;
    let seconds = UNITS.iter().find(|(sign, _)| *sign == unit)?.1;
    let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
    let micros = number.checked_mul(seconds)?.checked_mul(1_000_000)?;
    Some(Timestamp::from_micros(now.micros().saturating_sub(micros)))
}

fn point(text: &str) -> Option<Timestamp> {
    let text = text.strip_suffix('Z').unwrap_or(text).replacen(' ', "T", 1);
    // A date, or a time to the minute, the second, or a fraction.
    if !matches!(text.len(), 10 | 16 | 19 | 21..=26) {
        return None;
    }
    Timestamp::parse(&format!("{text}{}", REST.get(text.len()..)?))
}

#[cfg(test)]
mod tests {
    use super::parse_when;
    use stockade_guard::audit::Timestamp;

    #[test]
    fn points_in_time() {
        let now = Timestamp::parse("2026-11-21T12:00:00.000000Z").unwrap();
        let good = [
            ("2026-11-20", "2026-11-20T00:00:00.000000Z"),
            ("2026-11-20T09:30", "2026-11-20T09:30:00.000000Z"),
            ("2026-11-20 09:30:15", "2026-11-20T09:30:15.000000Z"),
            ("2026-11-20T09:30:15.25Z", "2026-11-20T09:30:15.250000Z"),
            ("90s", "2026-11-21T11:58:30.000000Z"),
            ("2h", "2026-11-21T10:00:00.000000Z"),
            ("7d", "2026-11-14T12:00:00.000000Z"),
            ("9999w", "1970-01-01T00:00:00.000000Z"),
        ];
        for (text, expected) in good {
            assert_eq!(parse_when(text, now).unwrap().to_string(), expected, "{text}");
        }
        for text in [
            "",
            "h",
            "-2h",
            "yesterday",
            "2026",
            "2026-11",
            "2026-02-30",
            "2026-11-20T",
            "99999999999999999999d",
            "1é",
        ] {
            assert!(parse_when(text, now).is_err(), "{text}");
        }
    }
}
