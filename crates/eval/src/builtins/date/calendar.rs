//! Days and months.

pub(super) const DAYS: &[&str] = &["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
pub(super) const MONTHS: &[&str] =
    &["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const DAY: i64 = 86_400_000;

/// The furthest that a date may lie from 1970.
const FURTHEST: f64 = 8.64e15;

/// A moment, in parts. Months count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
    pub(super) weekday: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
    pub(super) millisecond: i64,
}

impl Moment {
    /// Returns the calendar fields of a time; `None` if it is invalid.
    pub(super) fn of(time: f64) -> Option<Self> {
        if !clipped(time).is_finite() {
            return None;
        }
        let time = time as i64;
        let (days, rest) = (time.div_euclid(DAY), time.rem_euclid(DAY));
        let (year, month, day) = date_of(days);
        Some(Self {
            year,
            month,
            day,
            weekday: (days + 4).rem_euclid(7),
            hour: rest / 3_600_000,
            minute: rest / 60_000 % 60,
            second: rest / 1000 % 60,
            millisecond: rest % 1000,
        })
    }

    /// Year, month, day, hour, minute, second, millisecond.
    pub(super) fn parts(&self) -> [f64; 7] {
        [self.year, self.month, self.day, self.hour, self.minute, self.second, self.millisecond]
            .map(|part| part as f64)
    }
}

/// Returns a valid time in whole milliseconds, or NaN.
pub(super) fn clipped(time: f64) -> f64 {
    if time.abs() <= FURTHEST { time.trunc() + 0.0 } else { f64::NAN }
}

/// The time of parts, which may be too large or too small and are carried over.
pub(super) fn time_of(parts: &[f64; 7]) -> f64 {
    let [year, month, day, hour, minute, second, millisecond] = *parts;
    if parts.iter().any(|part| !part.is_finite()) || year.abs() > 400_000.0 || month.abs() > 4_800_000.0 {
        return f64::NAN;
    }
    let months = year as i64 * 12 + month as i64;
    let days = days_before(months.div_euclid(12), months.rem_euclid(12)) as f64 + day - 1.0;
    days * DAY as f64 + hour * 3_600_000.0 + minute * 60_000.0 + second * 1000.0 + millisecond
}

/// The days from 1970 to the first of a month. Years are counted from March, so that the leap day is the last.
fn days_before(year: i64, month: i64) -> i64 {
    let year = if month < 2 { year - 1 } else { year };
    let month = (month + 10) % 12;
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * month + 2) / 5;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Year, month and day of a day.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = year_of_era + era * 400 + i64::from(month >= 10);
    (year, (month + 2) % 12, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_centuries_is_itself() {
        for days in -150_000..150_000_i64 {
            let (year, month, day) = date_of(days);
            assert_eq!(days_before(year, month) + day - 1, days);
        }
        assert_eq!(date_of(19_723), (2024, 0, 1));
        assert_eq!(date_of(19_782), (2024, 1, 29));
    }
}
