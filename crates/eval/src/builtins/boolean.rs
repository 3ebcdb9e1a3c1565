//! `Boolean`.

use super::{Method, argument, method_row};
use crate::machine::{Machine, Run};
use crate::value::Value;

pub(crate) static METHODS: &[Method] =
    &[method_row("toString", 0, to_string), method_row("valueOf", 0, |_, this, _| Ok(this.clone()))];

pub(super) fn convert(_: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    Ok(argument(arguments, 0).is_truthy().into())
}

fn to_string(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    machine.text_of(this).map(Value::Text)
}
