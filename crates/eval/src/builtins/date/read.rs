//! Dates as people and programs write them.

use super::calendar::{MONTHS, clipped, time_of};

/// The time that a text writes; NaN where it writes none.
pub(super) fn read(text: &str) -> f64 {
    // No date is that long, so a longer text need not be parsed.
    if text.len() > 100 {
        return f64::NAN;
    }
    let text = text.trim();
    iso(text).or_else(|| in_words(text)).map_or(f64::NAN, clipped)
}

/// `2024-02-29`, `2024-02-29T12:30:00.5Z`, `2024-02-29 12:30+01:00`.
fn iso(text: &str) -> Option<f64> {
    let (date, time) = match text.find(['T', ' ']) {
        Some(at) => (text.get(..at)?, text.get(at + 1..)),
        None => (text, None),
    };
    let (sign, digits) = match date.strip_prefix('+') {
        Some(rest) => (1.0, rest),
        None => date.strip_prefix('-').map_or((1.0, date), |rest| (-1.0, rest)),
    };
    let is_long = digits.len() != date.len();
    // The year 0 has no sign.
    if date.starts_with("-000000") {
        return None;
    }
    let mut parts = digits.split('-');
    let year = sign * number(parts.next()?, if is_long { 6 } else { 4 })?;
    let month = parts.next().map_or(Some(1.0), |part| number(part, 2))?;
    let day = parts.next().map_or(Some(1.0), |part| number(part, 2))?;
    let fits = parts.next().is_none() && (1.0..=12.0).contains(&month) && (1.0..=31.0).contains(&day);
    let (hour, minute, second, offset) = time.map_or(Some((0.0, 0.0, 0.0, 0.0)), clock)?;
    let time =
        time_of(&[year, month - 1.0, day, hour, minute, 0.0, 0.0]) + (second * 1000.0).trunc() - offset;
    fits.then_some(time)
}

/// Hour, minute and second, and how many milliseconds the clock is ahead of UTC.
fn clock(text: &str) -> Option<(f64, f64, f64, f64)> {
    let (time, offset) = match text.find(['Z', '+', '-']) {
        Some(at) => (text.get(..at)?, offset(text.get(at..)?)?),
        None => (text, 0.0),
    };
    let mut parts = time.trim_end().split(':');
    let hour = number(parts.next()?, 2)?;
    let minute = number(parts.next()?, 2)?;
    let second = parts.next().map_or(Some(0.0), seconds)?;
    let is_midnight = hour == 24.0 && minute == 0.0 && second == 0.0;
    let fits = parts.next().is_none() && (hour < 24.0 || is_midnight) && minute < 60.0 && second < 60.0;
    fits.then_some((hour, minute, second, offset))
}

fn seconds(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    number(whole, 2)?;
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    if is_fraction { text.parse().ok() } else { None }
}

fn offset(text: &str) -> Option<f64> {
    if text == "Z" {
        return Some(0.0);
    }
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    let digits = text.get(1..)?.replace(':', "");
    let hours = number(digits.get(..2)?, 2)?;
    let minutes = number(digits.get(2..)?, 2)?;
    Some(sign * (hours * 3_600_000.0 + minutes * 60_000.0))
}

/// A number of exactly so many digits.
fn number(text: &str, digits: usize) -> Option<f64> {
    let fits = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}

/// `Feb 29, 2024 12:30`, `29 February 2024`, `Thu, 29 Feb 2024 12:30:00 GMT`, `2/29/2024`.
fn in_words(text: &str) -> Option<f64> {
    let (mut month, mut numbers, mut time) = (None, Vec::new(), (0.0, 0.0, 0.0, 0.0));
    let text = text.split('(').next()?.replace(',', " ");
    for word in text.split_whitespace() {
        if let Some(offset_text) = word.strip_prefix("GMT").or_else(|| word.strip_prefix("UTC")) {
            time.3 = if offset_text.is_empty() { 0.0 } else { offset(offset_text)? };
        } else if word.contains(':') {
            time = clock(&padded(word))?;
        } else if let Some(found) = month_of(word) {
            month = Some(found);
        } else if word.contains('/') {
            numbers.extend(word.split('/').map(|part| part.parse::<f64>().ok()));
        } else if word.starts_with(|c: char| c.is_ascii_digit()) {
            numbers.push(word.parse().ok());
        } else if word.len() < 3 || !super::DAYS.iter().any(|day| word.starts_with(day)) {
            return None;
        }
    }
    let numbers: Vec<f64> = numbers.into_iter().collect::<Option<_>>()?;
    let (month, day, year) = match (month, numbers.as_slice()) {
        (Some(month), [day, year]) => (month, *day, *year),
        (Some(month), [year]) => (month, 1.0, *year),
        (None, [month, day, year]) => (*month - 1.0, *day, *year),
        _ => return None,
    };
    let fits = (0.0..12.0).contains(&month) && (1.0..=31.0).contains(&day);
    let ms = time_of(&[year, month, day, time.0, time.1, time.2, 0.0]) - time.3;
    fits.then_some(ms)
}

/// Hours may have one digit.
fn padded(clock: &str) -> String {
    if clock.find(':') == Some(1) { format!("0{clock}") } else { clock.to_owned() }
}

fn month_of(word: &str) -> Option<f64> {
    let start = word.get(..3)?;
    let place = MONTHS.iter().position(|month| month.eq_ignore_ascii_case(start))?;
    word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'.').then_some(place as f64)
}
