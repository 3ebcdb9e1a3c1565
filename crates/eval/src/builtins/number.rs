//! `Number`.

use super::{Method, argument, global, locale, method_row};
use crate::convert::{self, rounded, rounded_exponent};
use crate::machine::{Machine, Run};
use crate::value::{Content, Value};

pub(super) const CONSTANTS: &[(&str, f64)] = &[
    ("EPSILON", f64::EPSILON),
    ("MAX_SAFE_INTEGER", 9_007_199_254_740_991.0),
    ("MAX_VALUE", f64::MAX),
    ("MIN_SAFE_INTEGER", -9_007_199_254_740_991.0),
    ("MIN_VALUE", 5e-324),
    ("NEGATIVE_INFINITY", f64::NEG_INFINITY),
    ("NaN", f64::NAN),
    ("POSITIVE_INFINITY", f64::INFINITY),
];

/// A question that only numbers can answer with yes.
macro_rules! asks {
    ($name:literal, $question:expr) => {
        method_row($name, 1, |_, _, arguments| {
            let question: fn(f64) -> bool = $question;
            Ok(matches!(argument(arguments, 0), Value::Number(number) if question(*number)).into())
        })
    };
}

pub(super) static STATICS: &[Method] = &[
    asks!("isFinite", f64::is_finite),
    asks!("isInteger", is_integer),
    asks!("isNaN", f64::is_nan),
    asks!("isSafeInteger", |number| is_integer(number) && number.abs() <= 9_007_199_254_740_991.0),
    method_row("parseFloat", 1, global::parse_float),
    method_row("parseInt", 2, global::parse_int),
];

pub(crate) static METHODS: &[Method] = &[
    method_row("toExponential", 1, to_exponential),
    method_row("toFixed", 1, to_fixed),
    method_row("toLocaleString", 0, to_locale_string),
    method_row("toPrecision", 1, to_precision),
    method_row("toString", 1, to_string),
    method_row("valueOf", 0, |machine, this, _| this_number(machine, this).map(Value::Number)),
];

fn is_integer(number: f64) -> bool {
    number.is_finite() && number.fract() == 0.0
}

pub(super) fn convert(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    if arguments.is_empty() {
        return Ok(0.0.into());
    }
    Ok(machine.number_of(argument(arguments, 0))?.into())
}

pub(super) fn make(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let number = convert(machine, this, arguments)?;
    machine.add(Content::Boxed(number)).map(Value::Object)
}

fn this_number(machine: &mut Machine<'_>, this: &Value) -> Run<f64> {
    match machine.unboxed(this) {
        Value::Number(number) => Ok(number),
        _ => Err(machine.type_error("this is no number")),
    }
}

/// How many digits were asked for.
fn digits(machine: &mut Machine<'_>, value: &Value, least: u8, method: &str) -> Run<usize> {
    let digits = machine.integer_of(value)?;
    if !(f64::from(least)..=100.0).contains(&digits) {
        return Err(
            machine.range_error(format!("{method}() digits argument must be between {least} and 100"))
        );
    }
    machine.steps(8 * digits as usize)?;
    Ok(digits as usize)
}

fn to_fixed(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let number = this_number(machine, this)?;
    let digits = digits(machine, argument(arguments, 0), 0, "toFixed")?;
    if !number.is_finite() || number.abs() >= 1e21 {
        return machine.new_text(convert::number_text(number));
    }
    // A negative zero is written without a sign, but a value rounded to zero with it ("-0.00").
    let number = if number == 0.0 { 0.0 } else { number };
    machine.new_text(rounded(number, digits))
}

fn to_exponential(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let number = this_number(machine, this)?;
    let wanted = argument(arguments, 0);
    if !number.is_finite() {
        machine.integer_of(wanted)?;
        return machine.new_text(convert::number_text(number));
    }
    let digits = digits(machine, wanted, 0, "toExponential")?;
    // Zero has no sign in texts.
    let number = if number == 0.0 { 0.0 } else { number };
    let text = match wanted {
        Value::Undefined => format!("{number:e}"),
        _ => rounded_exponent(number, digits),
    };
    machine.new_text(with_sign(&text))
}

/// The exponent always has a sign.
fn with_sign(text: &str) -> String {
    match text.split_once('e') {
        Some((mantissa, exponent)) if !exponent.starts_with('-') => format!("{mantissa}e+{exponent}"),
        _ => text.to_owned(),
    }
}

fn to_precision(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let number = this_number(machine, this)?;
    let wanted = argument(arguments, 0);
    if matches!(wanted, Value::Undefined) || !number.is_finite() {
        machine.integer_of(wanted)?;
        return machine.new_text(convert::number_text(number));
    }
    let digits = digits(machine, wanted, 1, "toPrecision")?;
    let text = rounded_exponent(if number == 0.0 { 0.0 } else { number }, digits - 1);
    let exponent: i32 = text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let fits = exponent >= -6 && usize::try_from(exponent).map_or(true, |exponent| exponent < digits);
    if !fits {
        return machine.new_text(with_sign(&text));
    }
    let after_point = i64::try_from(digits).unwrap_or(0) - 1 - i64::from(exponent);
    // The mantissa is rounded already: it is exact in this many digits.
    let rounded_number: f64 = text.parse().unwrap_or(number);
    machine.new_text(format!("{rounded_number:.*}", usize::try_from(after_point).unwrap_or(0)))
}

/// As in English: groups of three, and at most three digits after the point.
fn to_locale_string(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let number = this_number(machine, this)?;
    let options = argument(arguments, 1).clone();
    locale::english_only(machine, argument(arguments, 0))?;
    locale::only_options(machine, &options, &["minimumFractionDigits", "maximumFractionDigits"])?;
    let mut least = 0;
    let mut most = 3;
    for (name, bound) in [("minimumFractionDigits", &mut least), ("maximumFractionDigits", &mut most)] {
        if !options.is_nothing() {
            let value = machine.get(&options, &crate::machine::Key::Name(name.into()))?;
            if !matches!(value, Value::Undefined) {
                *bound = digits(machine, &value, 0, "toLocaleString")?;
            }
        }
    }
    let most = most.max(least);
    if !number.is_finite() {
        let text = if number.is_nan() {
            "NaN"
        } else if number > 0.0 {
            "∞"
        } else {
            "-∞"
        };
        return Ok(text.into());
    }
    let text = rounded(number, most);
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let kept = fraction.trim_end_matches('0').len().max(least);
    let fraction = fraction.get(..kept).unwrap_or(fraction);
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut out = String::from(sign);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    machine.new_text(out)
}

fn to_string(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let number = this_number(machine, this)?;
    let radix = match argument(arguments, 0) {
        Value::Undefined => 10.0,
        radix => machine.integer_of(radix)?,
    };
    if !(2.0..=36.0).contains(&radix) {
        return Err(machine.range_error("toString() radix must be between 2 and 36"));
    }
    if radix == 10.0 || !number.is_finite() {
        return machine.new_text(convert::number_text(number));
    }
    machine.new_text(in_radix(number, radix as u32))
}

/// The shortest digits of a base that name the number and no other, as V8 writes them.
fn in_radix(number: f64, radix: u32) -> String {
    let base = f64::from(radix);
    let value = number.abs();
    let (mut whole, mut fraction) = (value.floor(), value - value.floor());
    let mut delta = (0.5 * (value.next_up() - value)).max(5e-324);
    let mut digits: Vec<u32> = Vec::new();
    if fraction >= delta {
        loop {
            fraction *= base;
            delta *= base;
            let digit = fraction.floor();
            digits.push(digit as u32);
            fraction -= digit;
            let is_even = digits.last().is_some_and(|digit| digit % 2 == 0);
            if (fraction > 0.5 || (fraction == 0.5 && !is_even)) && fraction + delta > 1.0 {
                whole += carry(&mut digits, radix);
                break;
            }
            if fraction < delta {
                break;
            }
        }
    }
    let mut out = if number < 0.0 { String::from("-") } else { String::new() };
    out.push_str(&whole_in_radix(whole, radix));
    let as_char = |digit: &u32| char::from_digit(*digit, radix);
    if !digits.is_empty() {
        out.push('.');
        out.extend(digits.iter().filter_map(as_char));
    }
    out
}

/// Increments the last digit, and returns the carry into the whole part.
fn carry(digits: &mut Vec<u32>, radix: u32) -> f64 {
    while let Some(digit) = digits.pop() {
        if digit + 1 < radix {
            digits.push(digit + 1);
            return 0.0;
        }
    }
    1.0
}

fn whole_in_radix(mut whole: f64, radix: u32) -> String {
    let base = f64::from(radix);
    let mut digits = Vec::new();
    // Digits beyond the precision of the number are zeros.
    while whole >= 9_007_199_254_740_992.0 * base {
        whole /= base;
        digits.push('0');
    }
    loop {
        digits.push(char::from_digit((whole % base) as u32, radix).unwrap_or('0'));
        whole = (whole / base).floor();
        if whole == 0.0 {
            break;
        }
    }
    digits.iter().rev().collect()
}
