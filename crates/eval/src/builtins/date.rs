//! `Date`, in UTC: the time zone of the machine is not available to expressions.

mod calendar;
mod read;

use super::{Method, argument, locale, method_row};
use crate::machine::{Hint, Machine, Run};
use crate::value::{Content, ObjectId, Value};
use calendar::{DAYS, MONTHS, Moment};

pub(super) static STATICS: &[Method] = &[
    method_row("UTC", 7, |machine, _, arguments| of_parts(machine, arguments).map(Value::Number)),
    method_row("now", 0, |machine, _, _| now(machine).map(Value::Number)),
    method_row("parse", 1, |machine, _, arguments| {
        let text = machine.text_of(argument(arguments, 0))?;
        Ok(read::read(text.as_str()).into())
    }),
];

/// A function that asks for a part of the moment.
macro_rules! gets {
    ($name:literal, $part:expr) => {
        method_row($name, 0, |machine, this, _| {
            let part: fn(&Moment) -> i64 = $part;
            let (_, time) = this_date(machine, this)?;
            Ok(Moment::of(time).map_or(f64::NAN, |moment| part(&moment) as f64).into())
        })
    };
}

/// A function that changes parts of the moment, from one on.
macro_rules! sets {
    ($name:literal, $first:literal) => {
        method_row($name, 1, |machine, this, arguments| change(machine, this, arguments, $first))
    };
}

/// A function that writes the moment.
macro_rules! writes {
    ($name:literal, $write:expr) => {
        method_row($name, 0, |machine, this, arguments| {
            let write: fn(&Moment) -> String = $write;
            let (_, time) = this_date(machine, this)?;
            if $name.starts_with("toLocale") {
                locale::english_only(machine, argument(arguments, 0))?;
                locale::only_options(machine, argument(arguments, 1), &[])?;
            }
            machine
                .new_text(Moment::of(time).map_or_else(|| "Invalid Date".to_owned(), |moment| write(&moment)))
        })
    };
}

pub(super) static METHODS: &[Method] = &[
    gets!("getDate", |moment| moment.day),
    gets!("getDay", |moment| moment.weekday),
    gets!("getFullYear", |moment| moment.year),
    gets!("getHours", |moment| moment.hour),
    gets!("getMilliseconds", |moment| moment.millisecond),
    gets!("getMinutes", |moment| moment.minute),
    gets!("getMonth", |moment| moment.month),
    gets!("getSeconds", |moment| moment.second),
    method_row("getTime", 0, time_of),
    gets!("getTimezoneOffset", |_| 0),
    gets!("getUTCDate", |moment| moment.day),
    gets!("getUTCDay", |moment| moment.weekday),
    gets!("getUTCFullYear", |moment| moment.year),
    gets!("getUTCHours", |moment| moment.hour),
    gets!("getUTCMilliseconds", |moment| moment.millisecond),
    gets!("getUTCMinutes", |moment| moment.minute),
    gets!("getUTCMonth", |moment| moment.month),
    gets!("getUTCSeconds", |moment| moment.second),
    sets!("setDate", 2),
    sets!("setFullYear", 0),
    sets!("setHours", 3),
    sets!("setMilliseconds", 6),
    sets!("setMinutes", 4),
    sets!("setMonth", 1),
    sets!("setSeconds", 5),
    method_row("setTime", 1, set_time),
    sets!("setUTCDate", 2),
    sets!("setUTCFullYear", 0),
    sets!("setUTCHours", 3),
    sets!("setUTCMilliseconds", 6),
    sets!("setUTCMinutes", 4),
    sets!("setUTCMonth", 1),
    sets!("setUTCSeconds", 5),
    writes!("toDateString", date_text),
    method_row("toISOString", 0, to_iso_string),
    method_row("toJSON", 1, |machine, this, _| {
        let (_, time) = this_date(machine, this)?;
        Ok(iso_text(time).map_or(Value::Null, Value::from))
    }),
    writes!("toLocaleDateString", local_date),
    writes!("toLocaleString", |moment| format!("{}, {}", local_date(moment), local_time(moment))),
    writes!("toLocaleTimeString", local_time),
    writes!("toString", |moment| format!("{} {}", date_text(moment), time_text(moment))),
    writes!("toTimeString", time_text),
    writes!("toUTCString", utc_text),
    method_row("valueOf", 0, time_of),
];

pub(super) fn call(machine: &mut Machine<'_>, _: &Value, _: &[Value]) -> Run {
    let moment = Moment::of(now(machine)?);
    machine.new_text(
        moment.map_or_else(String::new, |moment| format!("{} {}", date_text(&moment), time_text(&moment))),
    )
}

pub(super) fn make(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let time = match arguments {
        [] => now(machine)?,
        [one] => of_one(machine, one)?,
        many => of_parts(machine, many)?,
    };
    machine.add(Content::Date(calendar::clipped(time))).map(Value::Object)
}

fn now(machine: &mut Machine<'_>) -> Run<f64> {
    match machine.options().now_ms {
        Some(now) => Ok(now.trunc()),
        None => Err(machine.forbidden(
            "the time is not known here: an expression sees its arguments and no clock",
            Some("pass the time as a variable, or give the evaluation its time"),
        )),
    }
}

fn of_one(machine: &mut Machine<'_>, value: &Value) -> Run<f64> {
    if let Value::Object(id) = value
        && let Some(Content::Date(time)) = machine.content(*id)
    {
        return Ok(*time);
    }
    match machine.simplify(value, Hint::Default)? {
        Value::Text(text) => Ok(read::read(text.as_str())),
        value => machine.number_of(&value),
    }
}

/// Year, month, day, hour, minute, second, millisecond.
fn of_parts(machine: &mut Machine<'_>, arguments: &[Value]) -> Run<f64> {
    let mut parts = [f64::NAN, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0];
    for (part, value) in parts.iter_mut().zip(arguments) {
        *part = machine.number_of(value)?.trunc();
    }
    if let Some(year) = parts.first_mut()
        && (0.0..=99.0).contains(year)
    {
        *year += 1900.0;
    }
    Ok(calendar::clipped(calendar::time_of(&parts)))
}

fn this_date(machine: &mut Machine<'_>, this: &Value) -> Run<(ObjectId, f64)> {
    if let Value::Object(id) = this
        && let Some(Content::Date(time)) = machine.content(*id)
    {
        return Ok((*id, *time));
    }
    Err(machine.type_error("this is no Date"))
}

fn time_of(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    this_date(machine, this).map(|(_, time)| time.into())
}

fn set_time(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let (id, _) = this_date(machine, this)?;
    let time = machine.number_of(argument(arguments, 0))?;
    set(machine, id, time)
}

fn set(machine: &mut Machine<'_>, id: ObjectId, time: f64) -> Run {
    let time = calendar::clipped(time);
    if let Some(content) = machine.content_mut(id) {
        *content = Content::Date(time);
    }
    Ok(time.into())
}

fn change(machine: &mut Machine<'_>, this: &Value, arguments: &[Value], first: usize) -> Run {
    let (id, time) = this_date(machine, this)?;
    // The date is set with the date, the time of day with the time of day.
    let last = if first <= 2 { 3 } else { 7 };
    let mut given = Vec::new();
    for value in arguments.iter().take(last - first) {
        given.push(machine.number_of(value)?.trunc());
    }
    if given.is_empty() {
        given.push(f64::NAN);
    }
    // Only a new year repairs an invalid date.
    let time = if time.is_nan() && first == 0 { 0.0 } else { time };
    let Some(moment) = Moment::of(time) else { return Ok(f64::NAN.into()) };
    let mut parts = moment.parts();
    let place = parts.get_mut(first..last).unwrap_or_default();
    for (part, value) in place.iter_mut().zip(given) {
        *part = value;
    }
    set(machine, id, calendar::time_of(&parts))
}

fn to_iso_string(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    let (_, time) = this_date(machine, this)?;
    match iso_text(time) {
        Some(text) => machine.new_text(text),
        None => Err(machine.range_error("Invalid time value")),
    }
}

/// Returns the text of a time in ISO 8601; `None` if it is invalid.
pub(crate) fn iso_text(time: f64) -> Option<String> {
    let moment = Moment::of(time)?;
    let year = match moment.year {
        year @ 0..=9999 => format!("{year:04}"),
        year if year < 0 => format!("-{:06}", -year),
        year => format!("+{year:06}"),
    };
    Some(format!(
        "{year}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
        moment.month + 1,
        moment.day,
        moment.hour,
        moment.minute,
        moment.second,
        moment.millisecond
    ))
}

fn name(names: &'static [&'static str], at: i64) -> &'static str {
    usize::try_from(at).ok().and_then(|at| names.get(at)).copied().unwrap_or_default()
}

fn date_text(moment: &Moment) -> String {
    let (day, month) = (name(DAYS, moment.weekday), name(MONTHS, moment.month));
    format!("{day} {month} {:02} {:04}", moment.day, moment.year)
}

fn time_text(moment: &Moment) -> String {
    format!("{} GMT+0000 (Coordinated Universal Time)", clock(moment))
}

fn clock(moment: &Moment) -> String {
    format!("{:02}:{:02}:{:02}", moment.hour, moment.minute, moment.second)
}

fn utc_text(moment: &Moment) -> String {
    let (day, month) = (name(DAYS, moment.weekday), name(MONTHS, moment.month));
    format!("{day}, {:02} {month} {:04} {} GMT", moment.day, moment.year, clock(moment))
}

fn local_date(moment: &Moment) -> String {
    format!("{}/{}/{}", moment.month + 1, moment.day, moment.year)
}

fn local_time(moment: &Moment) -> String {
    let half = if moment.hour < 12 { "AM" } else { "PM" };
    let hour = match moment.hour % 12 {
        0 => 12,
        hour => hour,
    };
    format!("{hour}:{:02}:{:02} {half}", moment.minute, moment.second)
}
