//! `String`.

mod replace;

use unicode_normalization::UnicodeNormalization as _;

use super::regexp::{self, as_regex};
use super::{Method, argument, collation, locale, method_row, place};
use crate::convert::is_space;
use crate::machine::{Machine, Run};
use crate::text::{Text, char_of, half_of, has_halves, is_reserved, join};
use crate::value::{Content, Part, Value};

pub(super) static STATICS: &[Method] =
    &[method_row("fromCharCode", 1, from_char_code), method_row("fromCodePoint", 1, from_code_point)];

pub(crate) static METHODS: &[Method] = &[
    method_row("at", 1, at),
    method_row("charAt", 1, char_at),
    method_row("charCodeAt", 1, char_code_at),
    method_row("codePointAt", 1, code_point_at),
    method_row("concat", 1, concat),
    method_row("endsWith", 1, ends_with),
    method_row("includes", 1, includes),
    method_row("indexOf", 1, index_of),
    method_row("isWellFormed", 0, |machine, this, _| {
        Ok((!has_halves(this_text(machine, this)?.as_str())).into())
    }),
    method_row("lastIndexOf", 1, last_index_of),
    method_row("localeCompare", 1, locale_compare),
    method_row("match", 1, match_one),
    method_row("matchAll", 1, match_all),
    method_row("normalize", 0, normalize),
    method_row("padEnd", 2, |machine, this, arguments| pad(machine, this, arguments, Side::End)),
    method_row("padStart", 2, |machine, this, arguments| pad(machine, this, arguments, Side::Start)),
    method_row("repeat", 1, repeat),
    method_row("replace", 2, |machine, this, arguments| {
        replace::replace(machine, this, arguments, replace::Which::First)
    }),
    method_row("replaceAll", 2, |machine, this, arguments| {
        replace::replace(machine, this, arguments, replace::Which::All)
    }),
    method_row("search", 1, search),
    method_row("slice", 2, slice),
    method_row("split", 2, split),
    method_row("startsWith", 1, starts_with),
    method_row("substr", 2, substr),
    method_row("substring", 2, substring),
    method_row("toLocaleLowerCase", 0, |machine, this, arguments| {
        locale::english_only(machine, argument(arguments, 0))?;
        cased(machine, this, str::to_lowercase)
    }),
    method_row("toLocaleUpperCase", 0, |machine, this, arguments| {
        locale::english_only(machine, argument(arguments, 0))?;
        cased(machine, this, str::to_uppercase)
    }),
    method_row("toLowerCase", 0, |machine, this, _| cased(machine, this, str::to_lowercase)),
    method_row("toString", 0, own_text),
    method_row("toUpperCase", 0, |machine, this, _| cased(machine, this, str::to_uppercase)),
    method_row("toWellFormed", 0, |machine, this, _| {
        let text = this_text(machine, this)?;
        machine.bytes(text.as_str().len())?;
        Ok(Value::text(text.well_formed()))
    }),
    method_row("trim", 0, |machine, this, _| trimmed(machine, this, |text| text.trim_matches(is_space))),
    method_row("trimEnd", 0, |machine, this, _| {
        trimmed(machine, this, |text| text.trim_end_matches(is_space))
    }),
    method_row("trimStart", 0, |machine, this, _| {
        trimmed(machine, this, |text| text.trim_start_matches(is_space))
    }),
    method_row("valueOf", 0, own_text),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Start,
    End,
}

pub(super) fn convert(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    if arguments.is_empty() {
        return Ok("".into());
    }
    machine.text_of(argument(arguments, 0)).map(Value::Text)
}

pub(super) fn make(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let text = convert(machine, this, arguments)?;
    machine.add(Content::Boxed(text)).map(Value::Object)
}

/// Returns the string that a value is, or wraps.
fn own_text(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    match machine.unboxed(this) {
        text @ Value::Text(_) => Ok(text),
        _ => Err(machine.type_error("this is no text")),
    }
}

/// Returns the receiver as text. Its cost is the length.
fn this_text(machine: &mut Machine<'_>, this: &Value) -> Run<Text> {
    if this.is_nothing() {
        return Err(machine.type_error("there is no text: it is undefined or null"));
    }
    let text = machine.text_of(this)?;
    machine.steps(text.as_str().len() / 64)?;
    Ok(text)
}

/// The most bytes of a unit that is a whole character.
const BYTES_OF_UNIT: usize = 3;

/// A part of a text.
fn part(machine: &mut Machine<'_>, text: &Text, start: usize, end: usize) -> Run {
    let units = end.min(text.units()).saturating_sub(start);
    machine.bytes(if text.is_ascii() { units } else { units.saturating_mul(BYTES_OF_UNIT) })?;
    if !text.is_ascii() {
        machine.steps(text.units() / 16)?;
    }
    Ok(Value::Text(text.slice(start, end)))
}

fn from_char_code(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    machine.bytes(arguments.len() * 2)?;
    let mut units = Vec::with_capacity(arguments.len());
    for value in arguments {
        units.push((machine.int32_of(value)? & 0xffff) as u16);
    }
    machine.bytes(units.len() * 4)?;
    Ok(Value::Text(Text::of_units(&units)))
}

fn from_code_point(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let mut text = String::new();
    for value in arguments {
        let code = machine.number_of(value)?;
        if code.fract() != 0.0 || !(0.0..=1_114_111.0).contains(&code) {
            return Err(
                machine.range_error(format!("Invalid code point {}", crate::convert::number_text(code)))
            );
        }
        if is_reserved(code as u32) {
            return Err(machine.forbidden("the last private characters of Unicode do not exist here", None));
        }
        text.push(char_of(code as u32));
    }
    machine.new_text(text)
}

fn at(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let text = this_text(machine, this)?;
    let at = machine.integer_of(argument(arguments, 0))?;
    let at = if at < 0.0 { text.units() as f64 + at } else { at };
    if at < 0.0 || at >= text.units() as f64 {
        return Ok(Value::Undefined);
    }
    part(machine, &text, at as usize, at as usize + 1)
}

fn char_at(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let text = this_text(machine, this)?;
    let at = machine.integer_of(argument(arguments, 0))?;
    if at < 0.0 || at >= text.units() as f64 {
        return Ok("".into());
    }
    part(machine, &text, at as usize, at as usize + 1)
}

/// Returns the position in an argument, if it is within the text.
fn within(machine: &mut Machine<'_>, text: &Text, value: &Value) -> Run<Option<usize>> {
    let at = machine.integer_of(value)?;
    if !text.is_ascii() {
        machine.steps(text.units() / 16)?;
    }
    Ok((at >= 0.0 && at < text.units() as f64).then_some(at as usize))
}

fn char_code_at(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let text = this_text(machine, this)?;
    let at = within(machine, &text, argument(arguments, 0))?;
    Ok(at.and_then(|at| text.unit(at)).map_or(f64::NAN, f64::from).into())
}

fn code_point_at(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let text = this_text(machine, this)?;
    let Some(at) = within(machine, &text, argument(arguments, 0))? else { return Ok(Value::Undefined) };
    let Some(unit) = text.unit(at) else { return Ok(Value::Undefined) };
    let is_second_half = (0xdc00..0xe000).contains(&unit);
    let c = text.as_str().get(text.byte_at(at)..).and_then(|rest| rest.chars().next());
    let pair = text.unit(at + 1).and_then(|next| join(u32::from(unit), u32::from(next)));
    let whole = c.map(|c| pair.unwrap_or_else(|| half_of(c).map_or(u32::from(c), u32::from)));
    Ok(if is_second_half { f64::from(unit) } else { whole.map_or(f64::NAN, f64::from) }.into())
}

fn concat(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let text = this_text(machine, this)?;
    machine.bytes(text.as_str().len())?;
    let mut out = text.as_str().to_owned();
    for value in arguments {
        let text = machine.text_of(value)?;
        machine.bytes(text.as_str().len())?;
        out.push_str(text.as_str());
    }
    machine.new_text(out)
}

/// A text to look for: a regular expression is a mistake.
fn needle(machine: &mut Machine<'_>, value: &Value, method: &str) -> Run<Text> {
    if as_regex(machine, value).is_some() {
        return Err(machine.type_error_fix(
            format!("First argument to String.prototype.{method} must not be a regular expression"),
            "use /…/.test(text)",
        ));
    }
    machine.text_of(value)
}

fn includes(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let (text, wanted) = (this_text(machine, this)?, needle(machine, argument(arguments, 0), "includes")?);
    let start = from(machine, &text, argument(arguments, 1), 0)?;
    Ok(text.find(&wanted, start).is_some().into())
}

/// Returns the start position in an argument.
fn from(machine: &mut Machine<'_>, text: &Text, value: &Value, otherwise: usize) -> Run<usize> {
    machine.steps(text.as_str().len() / 32)?;
    if matches!(value, Value::Undefined) {
        return Ok(otherwise);
    }
    Ok(machine.integer_of(value)?.clamp(0.0, text.units() as f64) as usize)
}

fn index_of(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let (text, wanted) = (this_text(machine, this)?, machine.text_of(argument(arguments, 0))?);
    let start = from(machine, &text, argument(arguments, 1), 0)?;
    Ok(text.find(&wanted, start).map_or(-1.0, |at| at as f64).into())
}

fn last_index_of(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let (text, wanted) = (this_text(machine, this)?, machine.text_of(argument(arguments, 0))?);
    // An argument that is not a number means the end.
    let until = match machine.number_of(argument(arguments, 1))? {
        until if until.is_nan() => text.units(),
        until => until.clamp(0.0, text.units() as f64) as usize,
    };
    Ok(text.find_last(&wanted, until).map_or(-1.0, |at| at as f64).into())
}

fn starts_with(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let (text, wanted) = (this_text(machine, this)?, needle(machine, argument(arguments, 0), "startsWith")?);
    let start = from(machine, &text, argument(arguments, 1), 0)?;
    let rest = text.as_str().get(text.byte_at(start)..).unwrap_or_default();
    Ok(rest.starts_with(wanted.as_str()).into())
}

fn ends_with(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let (text, wanted) = (this_text(machine, this)?, needle(machine, argument(arguments, 0), "endsWith")?);
    let end = from(machine, &text, argument(arguments, 1), text.units())?;
    let start = text.as_str().get(..text.byte_at(end)).unwrap_or_default();
    Ok(start.ends_with(wanted.as_str()).into())
}

/// Compares as people sort: letters regardless of case first, then lower case before upper case.
fn locale_compare(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let (one, two) = (this_text(machine, this)?, machine.text_of(argument(arguments, 0))?);
    locale::english_only(machine, argument(arguments, 1))?;
    locale::only_options(machine, argument(arguments, 2), &[])?;
    machine.bytes(32 * (one.as_str().len() + two.as_str().len()))?;
    machine.steps(one.as_str().len() + two.as_str().len())?;
    match collation::order(one.as_str(), two.as_str()) {
        Ok(order) => Ok(f64::from(order as i8).into()),
        Err(c) => Err(machine.forbidden(
            format!("the order of {c:?} is not known here: letters are those of English"),
            Some("compare with < and >, which go by the numbers of characters"),
        )),
    }
}

fn normalize(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let text = this_text(machine, this)?;
    let form = match argument(arguments, 0) {
        Value::Undefined => Text::new("NFC"),
        form => machine.text_of(form)?,
    };
    machine.steps(text.as_str().len() / 4)?;
    // One character can become eighteen.
    machine.bytes(text.as_str().len().saturating_mul(if text.is_ascii() { 1 } else { 12 }))?;
    let out: String = match form.as_str() {
        "NFC" => text.as_str().nfc().collect(),
        "NFD" => text.as_str().nfd().collect(),
        "NFKC" => text.as_str().nfkc().collect(),
        "NFKD" => text.as_str().nfkd().collect(),
        _ => return Err(machine.range_error("The normalization form should be one of NFC, NFD, NFKC, NFKD.")),
    };
    machine.new_text(out)
}

fn pad(machine: &mut Machine<'_>, this: &Value, arguments: &[Value], side: Side) -> Run {
    let text = this_text(machine, this)?;
    let length = machine.integer_of(argument(arguments, 0))?;
    let filler = match argument(arguments, 1) {
        Value::Undefined => Text::new(" "),
        filler => machine.text_of(filler)?,
    };
    let missing = (length - text.units() as f64).max(0.0);
    if missing == 0.0 || filler.units() == 0 {
        return Ok(Value::Text(text));
    }
    room_for(machine, missing, filler.as_str().len())?;
    machine.bytes(text.as_str().len())?;
    let (times, rest) = (missing as usize / filler.units(), missing as usize % filler.units());
    let rest = filler.slice(0, rest);
    let mut out =
        String::with_capacity(text.as_str().len() + times * filler.as_str().len() + rest.as_str().len());
    if side == Side::End {
        out.push_str(text.as_str());
    }
    (0..times).for_each(|_| out.push_str(filler.as_str()));
    out.push_str(rest.as_str());
    if side == Side::Start {
        out.push_str(text.as_str());
    }
    Ok(Value::text(out))
}

/// Charges the bytes of a repetition before it is made.
fn room_for(machine: &mut Machine<'_>, times: f64, bytes: usize) -> Run<()> {
    let bytes = (times * bytes as f64).min(1e15) as usize;
    machine.bytes(bytes)?;
    machine.steps(bytes / 64)
}

fn repeat(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let text = this_text(machine, this)?;
    let times = machine.integer_of(argument(arguments, 0))?;
    if times < 0.0 || times.is_infinite() {
        return Err(
            machine.range_error(format!("Invalid count value: {}", crate::convert::number_text(times)))
        );
    }
    room_for(machine, times, text.as_str().len())?;
    Ok(if text.units() == 0 { "".into() } else { Value::text(text.as_str().repeat(times as usize)) })
}

fn slice(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let text = this_text(machine, this)?;
    let start = place(machine, argument(arguments, 0), text.units(), 0)?;
    let end = place(machine, argument(arguments, 1), text.units(), text.units())?;
    part(machine, &text, start, end)
}

fn substring(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let text = this_text(machine, this)?;
    let start = from(machine, &text, argument(arguments, 0), 0)?;
    let end = from(machine, &text, argument(arguments, 1), text.units())?;
    part(machine, &text, start.min(end), start.max(end))
}

fn substr(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let text = this_text(machine, this)?;
    let start = place(machine, argument(arguments, 0), text.units(), 0)?;
    let length = from(machine, &text, argument(arguments, 1), text.units())?;
    part(machine, &text, start, start.saturating_add(length))
}

fn cased(machine: &mut Machine<'_>, this: &Value, change: fn(&str) -> String) -> Run {
    let text = this_text(machine, this)?;
    machine.steps(text.as_str().len() / 16)?;
    // One character can become three.
    machine.bytes(text.as_str().len() * if text.is_ascii() { 1 } else { 3 })?;
    Ok(Value::text(change(text.as_str())))
}

fn trimmed(machine: &mut Machine<'_>, this: &Value, trim: fn(&str) -> &str) -> Run {
    let text = this_text(machine, this)?;
    let trimmed = trim(text.as_str());
    machine.bytes(trimmed.len())?;
    Ok(Value::text(trimmed))
}

fn split(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let text = this_text(machine, this)?;
    let most = match argument(arguments, 1) {
        Value::Undefined => usize::MAX,
        most => crate::convert::uint32(machine.number_of(most)?) as usize,
    };
    let separator = argument(arguments, 0);
    machine.steps(text.as_str().len() / 8)?;
    let mut parts = match as_regex(machine, separator) {
        Some(regex) => replace::split_by(machine, &text, &regex)?,
        None if matches!(separator, Value::Undefined) => vec![Value::Text(text)],
        None => {
            let separator = machine.text_of(separator)?;
            pieces(machine, &text, separator.as_str())?
        }
    };
    parts.truncate(most);
    machine.array(parts)
}

fn pieces(machine: &mut Machine<'_>, text: &Text, separator: &str) -> Run<Vec<Value>> {
    let most =
        if separator.is_empty() { text.as_str().len() } else { text.as_str().matches(separator).count() + 1 };
    machine.bytes(text.as_str().len() + most * 2 * size_of::<Value>())?;
    if separator.is_empty() {
        return Ok((0..text.units())
            .map(|at| text.unit(at))
            .map(|unit| {
                let unit = unit.unwrap_or_default();
                Value::Text(Text::of_units(&[unit]))
            })
            .collect());
    }
    // Halves may be found within characters.
    let (text, separator) = if has_halves(separator) {
        (regexp::in_halves(machine, text)?, Text::new(separator).in_halves())
    } else {
        (text.clone(), Text::new(separator))
    };
    Ok(text.as_str().split(separator.as_str()).map(Value::text).collect())
}

fn search(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let text = this_text(machine, this)?;
    let regex = replace::pattern(machine, argument(arguments, 0), "")?;
    let text = regexp::view(machine, &regex, &text)?;
    let found = regexp::find(machine, &regex, &text, 0)?;
    let start = found.and_then(|groups| groups.first().copied().flatten());
    Ok(start.map_or(-1.0, |(start, _)| text.units_before(start) as f64).into())
}

fn match_one(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let input = this_text(machine, this)?;
    let wanted = argument(arguments, 0);
    let regex = replace::pattern(machine, wanted, "")?;
    let text = regexp::view(machine, &regex, &input)?;
    if !regex.is_global() {
        return match regexp::once(machine, wanted, &regex, &text)? {
            Some(groups) => regexp::match_object(machine, &regex, (&input, &text), &groups),
            None => Ok(Value::Null),
        };
    }
    regexp::rewind(machine, wanted);
    let mut found = Vec::new();
    for groups in replace::all(machine, &regex, &text)? {
        let whole = groups.first().copied().flatten().and_then(|(start, end)| text.as_str().get(start..end));
        machine.bytes(whole.map_or(0, str::len))?;
        found.push(whole.map_or(Value::Undefined, Value::text));
    }
    if found.is_empty() { Ok(Value::Null) } else { machine.array(found) }
}

fn match_all(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let input = this_text(machine, this)?;
    let regex = replace::pattern(machine, argument(arguments, 0), "g")?;
    let text = regexp::view(machine, &regex, &input)?;
    if !regex.is_global() {
        return Err(machine.type_error_fix(
            "String.prototype.matchAll called with a non-global RegExp argument",
            "add the flag g",
        ));
    }
    let mut found = Vec::new();
    for groups in replace::all_from(machine, &regex, &text)? {
        machine.steps(text.as_str().len() / 64)?;
        found.push(regexp::match_object(machine, &regex, (&input, &text), &groups)?);
    }
    // They are found at once, and handed out one by one.
    let found = machine.array(found)?;
    machine.iterator(found, Part::Value)
}
