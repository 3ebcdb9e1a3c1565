//! What functions have.

use super::{Method, argument, method_row};
use crate::convert;
use crate::machine::{Key, Machine, Run};
use crate::value::{Content, Value};

pub(crate) static METHODS: &[Method] = &[
    method_row("apply", 2, apply),
    method_row("bind", 1, bind),
    method_row("call", 1, call),
    method_row("toString", 0, to_string),
];

fn call(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let others = arguments.get(1..).unwrap_or_default();
    machine.deeper(|machine| machine.call(this, argument(arguments, 0), others))
}

fn apply(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let list = argument(arguments, 1);
    let others = if list.is_nothing() { Vec::new() } else { machine.spread(list)? };
    machine.deeper(|machine| machine.call(this, argument(arguments, 0), &others))
}

fn bind(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    machine.callback(this)?;
    let others = arguments.get(1..).unwrap_or_default().to_vec();
    machine.bytes(others.len() * size_of::<Value>())?;
    let bound =
        Content::Bound { target: this.clone(), this: argument(arguments, 0).clone(), arguments: others };
    machine.add(bound).map(Value::Object)
}

fn to_string(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    machine.callback(this)?;
    let name = machine.get(this, &Key::Name("name".into()))?;
    let name = machine.text_of(&name)?;
    machine.new_text(convert::function_text(name.as_str()))
}
