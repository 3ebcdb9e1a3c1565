//! The ways to ask for a value.

use crate::ast::Program;
use crate::limits::Meter;
use crate::machine::Machine;
use crate::parser::{self, Mode};
use crate::{Data, ErrorKind, EvalError, EvalOptions};

/// Evaluates an expression, or statements to their completion value, as ECMA-262 has it: `1; if (false) 2` is `undefined`,
/// and `try { 1 } finally { 2 }` is 1.
///
/// A promise is awaited: nothing outside can settle one, so pending jobs run until it is settled. The names
/// `__proto__`, `constructor` and `prototype` cannot be variables.
///
/// ```
/// use stockade_eval::{Data, EvalOptions, eval};
///
/// let vars = [("xs", Data::from(vec![1, 2, 3]))];
/// let sum = eval("xs.map(x => x * 2).reduce((a, b) => a + b, 0)", &vars, &EvalOptions::default())?;
/// assert_eq!(sum, Data::from(12));
/// # Ok::<(), stockade_eval::EvalError>(())
/// ```
///
/// # Errors
///
/// When the source is invalid, throws, uses a missing feature, or hits a limit.
pub fn eval(source: &str, vars: &[(&str, Data)], options: &EvalOptions<'_>) -> Result<Data, EvalError> {
    run(source, vars, options, Mode::Plain)
}

/// Like [`eval`], but `await` is permitted at the top level.
///
/// ```
/// use stockade_eval::{Data, EvalOptions, eval_async};
///
/// let source = "const [a, b] = await Promise.all([1, Promise.resolve(2)]); return a + b";
/// assert_eq!(eval_async(source, &[], &EvalOptions::default())?, Data::from(3));
/// # Ok::<(), stockade_eval::EvalError>(())
/// ```
///
/// # Errors
///
/// Like [`eval`], and when an awaited promise can never be settled.
pub fn eval_async(source: &str, vars: &[(&str, Data)], options: &EvalOptions<'_>) -> Result<Data, EvalError> {
    run(source, vars, options, Mode::Async)
}

/// Whether an expression is true. An error counts as false.
///
/// ```
/// use stockade_eval::{Data, EvalOptions, condition};
///
/// let vars = [("output", Data::from([("score", Data::from(10))]))];
/// assert!(condition("output.score > 5", &vars, &EvalOptions::default()));
/// assert!(!condition("output.nope.score > 5", &vars, &EvalOptions::default()));
/// ```
#[must_use]
pub fn condition(source: &str, vars: &[(&str, Data)], options: &EvalOptions<'_>) -> bool {
    try_condition(source, vars, options).unwrap_or(false)
}

/// Like [`condition`], but returns the error.
///
/// # Errors
///
/// As [`eval`].
pub fn try_condition(
    source: &str,
    vars: &[(&str, Data)],
    options: &EvalOptions<'_>,
) -> Result<bool, EvalError> {
    let mut meter = Meter::new(*options);
    let program = prepare(source, Mode::Plain, &mut meter)?;
    Machine::new(&program, meter).run_to_bool(&borrowed(vars))
}

fn run(
    source: &str,
    vars: &[(&str, Data)],
    options: &EvalOptions<'_>,
    mode: Mode,
) -> Result<Data, EvalError> {
    let mut meter = Meter::new(*options);
    let program = prepare(source, mode, &mut meter)?;
    Machine::new(&program, meter).run(&borrowed(vars))
}

fn borrowed<'v>(vars: &'v [(&'v str, Data)]) -> Vec<(&'v str, &'v Data)> {
    vars.iter().map(|(name, data)| (*name, data)).collect()
}

/// Reads a source that is not too long.
pub(crate) fn prepare(source: &str, mode: Mode, meter: &mut Meter<'_>) -> Result<Program, EvalError> {
    let limit = meter.options().limits.max_source;
    if source.len() > limit {
        let message = format!("the source has {} bytes, more than {limit}, the limit", source.len());
        return Err(EvalError::new(ErrorKind::Memory, message).fix("pass long texts as variables"));
    }
    if crate::text::has_halves(source) {
        let message =
            "the source holds some of the last private characters of Unicode, which do not exist here";
        return Err(EvalError::new(ErrorKind::Forbidden, message));
    }
    parser::parse(source, mode, meter)
}
