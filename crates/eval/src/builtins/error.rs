//! Errors.

use super::{Method, argument, method_row};
use crate::machine::{Key, Machine, Run};
use crate::value::Value;

pub(super) static METHODS: &[Method] = &[method_row("toString", 0, to_string)];

pub(super) fn make_error(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    make(machine, "Error", arguments)
}

pub(super) fn make_eval_error(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    make(machine, "EvalError", arguments)
}

pub(super) fn make_reference_error(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    make(machine, "ReferenceError", arguments)
}

pub(super) fn make_uri_error(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    make(machine, "URIError", arguments)
}

pub(super) fn make_aggregate_error(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let error = make(machine, "AggregateError", arguments.get(1..).unwrap_or_default())?;
    let errors = machine.spread(argument(arguments, 0))?;
    let errors = machine.array(errors)?;
    machine.set(&error, &Key::Name("errors".into()), errors)?;
    Ok(error)
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
        Value::Undefined => None,
        message => Some(machine.text_of(message)?.as_str().to_owned()),
    };
    let has_message = message.is_some();
    let error = Value::Object(machine.new_error(class, None, message.unwrap_or_default(), None)?);
    if !has_message {
        machine.delete(&error, &Key::Name("message".into()))?;
    }
    if let options @ Value::Object(_) = argument(arguments, 1) {
        let key = Key::Name("cause".into());
        if machine.has_own(options, &key) {
            let cause = machine.get(options, &key)?;
            machine.set(&error, &key, cause)?;
        }
    }
    Ok(error)
}

/// `Name: message`, of the fields as they are now.
fn to_string(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    if !matches!(this, Value::Object(_)) {
        return Err(machine.type_error("this is no error"));
    }
    let mut parts = Vec::new();
    for (field, otherwise) in [("name", "Error"), ("message", "")] {
        let value = machine.get(this, &Key::Name(field.into()))?;
        parts.push(match value {
            Value::Undefined => otherwise.to_owned(),
            value => machine.text_of(&value)?.as_str().to_owned(),
        });
    }
    parts.retain(|part| !part.is_empty());
    machine.new_text(parts.join(": "))
}
