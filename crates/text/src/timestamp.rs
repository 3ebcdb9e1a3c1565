//! Points in time as they are written down: `2026-11-21T09:10:29.123456Z`.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const SECONDS_A_DAY: u64 = 24 * 60 * 60;

/// The last point that has a year of four digits.
const LAST: u64 = 253_402_300_799_999_999;

/// Microseconds since 1970, before the year 10000. Written down, the order of texts is the order of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// Returns the point so many microseconds after the beginning of 1970, or the last one there is.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        if micros > LAST { Self(LAST) } else { Self(micros) }
    }

    /// Returns the microseconds since the beginning of 1970.
    #[must_use]
    pub const fn micros(self) -> u64 {
        self.0
    }

    /// Returns the next point.
    #[must_use]
    pub const fn next(self) -> Self {
        Self::from_micros(self.0.saturating_add(1))
    }

    /// Reads what [`fmt::Display`] writes, and nothing else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second, micros) =
            (number(11, 13)?, number(14, 16)?, number(17, 19)?, number(20, 26)?);
        let seconds =
            days_of(year, month, day)?.checked_mul(SECONDS_A_DAY)? + hour * 3600 + minute * 60 + second;
        let at = Self::from_micros(seconds.checked_mul(1_000_000)?.checked_add(micros)?);
        // Whatever is out of range or out of shape does not come back as it was.
        (at.to_string() == text).then_some(at)
    }
}

impl From<SystemTime> for Timestamp {
    /// A time before 1970 is 1970.
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self::from_micros(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, micros) = (self.0 / 1_000_000, self.0 % 1_000_000);
        let (year, month, day) = date_of(seconds / SECONDS_A_DAY);
        let second = seconds % SECONDS_A_DAY;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
    }
}

/// Days from 0000-03-01 to 1970-01-01. Years that begin in March have their leap day at the end.
const DAYS_BEFORE_1970: u64 = 719_468;
const DAYS_IN_400_YEARS: u64 = 146_097;

/// Year, month and day of a day counted from 1970.
const fn date_of(day: u64) -> (u64, u64, u64) {
    let day = day + DAYS_BEFORE_1970;
    let (era, day) = (day / DAYS_IN_400_YEARS, day % DAYS_IN_400_YEARS);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + later, month, day_of_month)
}

/// The day counted from 1970 of a date. A day that its month does not have is one of the next month.
const fn days_of(year: u64, month: u64, day: u64) -> Option<u64> {
    if year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 {
        return None;
    }
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, year) = (year / 400, year % 400);
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    Some(era * DAYS_IN_400_YEARS + year * 365 + year / 4 - year / 100 + day_of_year - DAYS_BEFORE_1970)
}

#[cfg(test)]
mod tests {
    use super::{LAST, Timestamp};
    use proptest::prelude::*;

    #[test]
    fn known_points() {
        let cases = [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
            (1_709_251_199_999_999, "2024-02-29T23:59:59.999999Z"),
            (1_795_252_229_123_456, "2026-11-21T09:10:29.123456Z"),
            (4_107_542_400_000_000, "2100-03-01T00:00:00.000000Z"),
            (LAST, "9999-12-31T23:59:59.999999Z"),
        ];
        for (micros, text) in cases {
            assert_eq!(Timestamp::from_micros(micros).to_string(), text);
            assert_eq!(Timestamp::parse(text), Some(Timestamp::from_micros(micros)));
        }
        assert_eq!(Timestamp::from_micros(u64::MAX).micros(), LAST);
    }

    #[test]
    fn other_shapes_are_refused() {
        for text in [
            "",
            "2026-11-21",
            "2026-11-21T09:10:29Z",
            "2026-13-21T09:10:29.123456Z",
            "2026-02-30T09:10:29.123456Z",
            "2026-11-21T24:10:29.123456Z",
            "2026-11-21 09:10:29.123456Z",
            "2026-11-21T09:10:29.123456Z ",
            "+026-11-21T09:10:29.123456Z",
            "2026-11-21T09:10:29.12345éZ",
        ] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn order_of_texts_is_order_of_time(a in 0..=LAST, b in 0..=LAST) {
            let (a, b) = (Timestamp::from_micros(a), Timestamp::from_micros(b));
            prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
            prop_assert_eq!(Timestamp::parse(&a.to_string()), Some(a));
        }

        #[test]
        fn parsing_never_panics(text: String) {
            let read = Timestamp::parse(&text);
            prop_assert!(read.is_none_or(|read| read.to_string() == text));
        }
    }
}
