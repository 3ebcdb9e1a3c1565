//! Errors.

use super::{Method, argument, method_row};
use crate::machine::{Key, Machine, Run};
use crate::value::{Content, Value};

pub(super) static METHODS: &[Method] = &[method_row("toString", 0, to_string)];

pub(super) fn make_error(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    make(machine, "Error", arguments)
}

pub(super) fn make_range_error(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    make(machine, "RangeError", arguments)
}

pub(super) fn make_syntax_error(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    make(machine, "SyntaxError", arguments)
}

pub(super) fn make_type_error(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    make(machine, "TypeError", arguments)
}

fn make(machine: &mut Machine<'_>, class: &'static str, arguments: &[Value]) -> Run {
    let message = match argument(arguments, 0) {
        Value::Undefined => String::new(),
        message => machine.text_of(message)?.as_str().to_owned(),
    };
    let error = Value::Object(machine.new_error(class, None, message, None)?);
    if let options @ Value::Object(_) = argument(arguments, 1) {
        let key = Key::Name("cause".into());
        if machine.has_own(options, &key) {
            let cause = machine.get(options, &key)?;
            machine.set(&error, &key, cause)?;
        }
    }
    Ok(error)
}

fn to_string(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    let headline = match this {
        Value::Object(id) => match machine.content(*id) {
            Some(Content::Error(error)) => error.headline(),
            _ => return Err(machine.type_error("this is no error")),
        },
        _ => return Err(machine.type_error("this is no error")),
    };
    machine.new_text(headline)
}
