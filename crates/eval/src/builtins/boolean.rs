//! `Boolean`.

use super::{Method, argument, method_row};
use crate::machine::{Machine, Run};
use crate::value::{Content, Value};

pub(crate) static METHODS: &[Method] = &[
    method_row("toString", 0, to_string),
    method_row("valueOf", 0, |machine, this, _| this_bool(machine, this).map(Value::Bool)),
];

pub(super) fn convert(_: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    Ok(argument(arguments, 0).is_truthy().into())
}

fn to_string(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    Ok(this_bool(machine, this)?.to_string().into())
}

pub(super) fn make(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let value = argument(arguments, 0).is_truthy();
    machine.add(Content::Boxed(value.into())).map(Value::Object)
}

fn this_bool(machine: &mut Machine<'_>, this: &Value) -> Run<bool> {
    match machine.unboxed(this) {
        Value::Bool(value) => Ok(value),
        _ => Err(machine.type_error("this is neither true nor false")),
    }
}
