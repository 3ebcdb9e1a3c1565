//! Methods of functions.

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
    let others = match list {
        list if list.is_nothing() => Vec::new(),
        Value::Object(_) if machine.items(list).is_some() => machine.spread(list)?,
        Value::Object(_) | Value::Method(_) | Value::Global(_) => {
            return Err(machine.forbidden("`apply` takes lists only here", Some("use ...")));
        }
        _ => return Err(machine.type_error("the arguments are no list")),
    };
    machine.deeper(|machine| machine.call(this, argument(arguments, 0), &others))
}

fn bind(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    machine.callback(this)?;
    let others = arguments.get(1..).unwrap_or_default();
    machine.bytes(size_of_val(others))?;
    let name = match machine.get(this, &Key::Name("name".into()))? {
        Value::Text(name) => format!("bound {}", name.as_str()),
        _ => "bound ".to_owned(),
    };
    machine.bytes(name.len())?;
    let length = match machine.get(this, &Key::Name("length".into()))? {
        Value::Number(length) => (length.max(0.0) as usize).saturating_sub(others.len()),
        _ => 0,
    };
    let this_value = argument(arguments, 0).clone();
    machine
        .add(Content::Bound {
            target: this.clone(),
            this: this_value,
            arguments: others.into(),
            name: name.into(),
            length,
        })
        .map(Value::Object)
}

fn to_string(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    machine.callback(this)?;
    if let Some(text) = machine.written_as(this) {
        return machine.new_text(text);
    }
    let name = machine.get(this, &Key::Name("name".into()))?;
    let name = machine.text_of(&name)?;
    machine.new_text(convert::function_text(name.as_str()))
}
