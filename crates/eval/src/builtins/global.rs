//! Global functions.

use super::argument;
use crate::convert::{self, is_space};
use crate::lexer::from_digits;
use crate::machine::{Machine, Run};
use crate::value::Value;

pub(super) fn is_nan(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    Ok(machine.number_of(argument(arguments, 0))?.is_nan().into())
}

pub(super) fn is_finite(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    Ok(machine.number_of(argument(arguments, 0))?.is_finite().into())
}

/// The number at the start of a text.
pub(super) fn parse_float(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let text = machine.text_of(argument(arguments, 0))?;
    machine.steps(text.as_str().len() / 16)?;
    let text = text.as_str().trim_start_matches(is_space);
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned.starts_with("Infinity") {
        return Ok(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY }.into());
    }
    let sign = text.len() - unsigned.len();
    let number = text.get(..sign + number_len(unsigned)).unwrap_or_default();
    Ok(if number.len() > sign { convert::number_of(number) } else { f64::NAN }.into())
}

/// How much of a text is a number.
fn number_len(text: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = |at: usize| text.get(at..).unwrap_or_default();
    let whole = digits(text);
    let mut len = whole;
    if rest(len).starts_with('.') {
        let fraction = digits(rest(len + 1));
        if whole + fraction == 0 {
            return 0;
        }
        len += 1 + fraction;
    }
    if len > 0 && rest(len).starts_with(['e', 'E']) {
        let sign = usize::from(rest(len + 1).starts_with(['+', '-']));
        let exponent = digits(rest(len + 1 + sign));
        if exponent > 0 {
            len += 1 + sign + exponent;
        }
    }
    len
}

/// The whole number at the start of a text.
pub(super) fn parse_int(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let text = machine.text_of(argument(arguments, 0))?;
    machine.steps(text.as_str().len() / 16)?;
    let mut radix = machine.int32_of(argument(arguments, 1))?;
    let text = text.as_str().trim_start_matches(is_space);
    let is_negative = text.starts_with('-');
    let mut text = text.strip_prefix(['+', '-']).unwrap_or(text);
    if let (0 | 16, Some(digits)) = (radix, text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))) {
        (text, radix) = (digits, 16);
    }
    let radix = if radix == 0 { 10 } else { radix };
    let Some(radix) = u32::try_from(radix).ok().filter(|radix| (2..=36).contains(radix)) else {
        return Ok(f64::NAN.into());
    };
    let len = text.find(|c: char| !c.is_digit(radix)).unwrap_or(text.len());
    let digits = text.get(..len).unwrap_or_default();
    let number = if radix == 10 { digits.parse().ok() } else { from_digits(digits, radix) };
    let number: f64 = number.unwrap_or(f64::NAN);
    Ok(if is_negative { -number } else { number }.into())
}
