//! `Math`.

use super::{Method, argument, method_row};
use crate::convert;
use crate::machine::{Machine, Run};
use crate::value::Value;

pub(super) const CONSTANTS: &[(&str, f64)] = &[
    ("E", std::f64::consts::E),
    ("LN10", std::f64::consts::LN_10),
    ("LN2", std::f64::consts::LN_2),
    ("LOG10E", std::f64::consts::LOG10_E),
    ("LOG2E", std::f64::consts::LOG2_E),
    ("PI", std::f64::consts::PI),
    ("SQRT1_2", std::f64::consts::FRAC_1_SQRT_2),
    ("SQRT2", std::f64::consts::SQRT_2),
];

/// A function of one number.
macro_rules! of_one {
    ($name:literal, $function:expr) => {
        method_row($name, 1, |machine, _, arguments| {
            let function: fn(f64) -> f64 = $function;
            Ok(function(machine.number_of(argument(arguments, 0))?).into())
        })
    };
}

pub(super) static STATICS: &[Method] = &[
    of_one!("abs", f64::abs),
    of_one!("acos", libm::acos),
    of_one!("acosh", libm::acosh),
    of_one!("asin", libm::asin),
    of_one!("asinh", libm::asinh),
    of_one!("atan", libm::atan),
    method_row("atan2", 2, |machine, _, arguments| of_two(machine, arguments, libm::atan2)),
    of_one!("atanh", libm::atanh),
    of_one!("cbrt", libm::cbrt),
    of_one!("ceil", f64::ceil),
    of_one!("clz32", |number| f64::from(convert::uint32(number).leading_zeros())),
    of_one!("cos", libm::cos),
    of_one!("cosh", libm::cosh),
    of_one!("exp", libm::exp),
    of_one!("expm1", libm::expm1),
    of_one!("floor", f64::floor),
    of_one!("fround", |number| f64::from(number as f32)),
    method_row("hypot", 2, hypot),
    method_row("imul", 2, |machine, _, arguments| {
        of_two(machine, arguments, |one, two| {
            f64::from(convert::int32(one).wrapping_mul(convert::int32(two)))
        })
    }),
    of_one!("log", libm::log),
    of_one!("log10", libm::log10),
    of_one!("log1p", libm::log1p),
    of_one!("log2", libm::log2),
    method_row("max", 2, |machine, _, arguments| extreme(machine, arguments, f64::NEG_INFINITY)),
    method_row("min", 2, |machine, _, arguments| extreme(machine, arguments, f64::INFINITY)),
    method_row("pow", 2, |machine, _, arguments| of_two(machine, arguments, convert::power)),
    method_row("random", 0, random),
    of_one!("round", round),
    of_one!("sign", |number| if number == 0.0 || number.is_nan() { number } else { number.signum() }),
    of_one!("sin", libm::sin),
    of_one!("sinh", libm::sinh),
    of_one!("sqrt", f64::sqrt),
    of_one!("tan", libm::tan),
    of_one!("tanh", libm::tanh),
    of_one!("trunc", f64::trunc),
];

/// Halves go up, towards the greater number.
fn round(number: f64) -> f64 {
    let floor = number.floor();
    let rounded = if number - floor >= 0.5 { floor + 1.0 } else { floor };
    // Rounding to zero from below keeps the sign.
    if rounded == 0.0 { rounded.copysign(number) } else { rounded }
}

fn of_two(machine: &mut Machine<'_>, arguments: &[Value], function: fn(f64, f64) -> f64) -> Run {
    let one = machine.number_of(argument(arguments, 0))?;
    let two = machine.number_of(argument(arguments, 1))?;
    Ok(function(one, two).into())
}

/// Returns the minimum or maximum, with `start` for no arguments.
fn extreme(machine: &mut Machine<'_>, arguments: &[Value], start: f64) -> Run {
    let mut best = start;
    for value in arguments {
        let number = machine.number_of(value)?;
        let is_better = if start > 0.0 {
            number < best || (number == 0.0 && best == 0.0 && number.is_sign_negative())
        } else {
            number > best || (number == 0.0 && best == 0.0 && number.is_sign_positive())
        };
        if number.is_nan() || (is_better && !best.is_nan()) {
            best = number;
        }
    }
    machine.steps(arguments.len())?;
    Ok(best.into())
}

fn hypot(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let mut length: f64 = 0.0;
    for value in arguments {
        length = libm::hypot(length, machine.number_of(value)?);
    }
    machine.steps(arguments.len())?;
    Ok(length.into())
}

fn random(machine: &mut Machine<'_>, _: &Value, _: &[Value]) -> Run {
    match machine.chance() {
        Some(number) => Ok(number.into()),
        None => Err(machine.forbidden(
            "`Math.random` has no seed: without one, nothing here happens by chance",
            Some("give a seed, or pass the number as a variable"),
        )),
    }
}
