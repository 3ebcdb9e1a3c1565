//! `Object`.

use super::{Method, argument, method_row};
use crate::machine::{Key, Machine, Run};
use crate::value::{Content, Fields, Value};

pub(super) static STATICS: &[Method] = &[
    method_row("assign", 2, assign),
    method_row("entries", 1, |machine, _, arguments| list(machine, argument(arguments, 0), Part::Both)),
    method_row("freeze", 1, freeze),
    method_row("fromEntries", 1, from_entries),
    method_row("groupBy", 2, group_by),
    method_row("hasOwn", 2, |machine, _, arguments| {
        let key = machine.key(argument(arguments, 1))?;
        Ok(machine.has_own(argument(arguments, 0), &key).into())
    }),
    method_row("is", 2, is),
    method_row("isFrozen", 1, is_frozen),
    method_row("keys", 1, |machine, _, arguments| list(machine, argument(arguments, 0), Part::Key)),
    method_row("values", 1, |machine, _, arguments| list(machine, argument(arguments, 0), Part::Value)),
];

pub(crate) static METHODS: &[Method] = &[
    method_row("hasOwnProperty", 1, |machine, this, arguments| {
        let key = machine.key(argument(arguments, 0))?;
        Ok(machine.has_own(this, &key).into())
    }),
    method_row("toLocaleString", 0, to_string),
    method_row("toString", 0, to_string),
    method_row("valueOf", 0, |_, this, _| Ok(this.clone())),
];

/// What of each field is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Key,
    Value,
    Both,
}

pub(super) fn convert(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let value = argument(arguments, 0);
    if value.is_nothing() { machine.plain(Fields::new()) } else { Ok(value.clone()) }
}

fn something(machine: &mut Machine<'_>, value: &Value) -> Run<()> {
    if value.is_nothing() {
        return Err(machine.type_error_fix(
            "there is no object: it is undefined or null",
            "write `?? {}` after what may be nothing",
        ));
    }
    Ok(())
}

fn list(machine: &mut Machine<'_>, object: &Value, part: Part) -> Run {
    something(machine, object)?;
    let mut out = Vec::new();
    for name in machine.own_keys(object)? {
        let key = Key::of(&name);
        let item = match part {
            Part::Key => Value::text(name),
            Part::Value => machine.get(object, &key)?,
            Part::Both => {
                let value = machine.get(object, &key)?;
                machine.array(vec![Value::text(name), value])?
            }
        };
        out.push(item);
    }
    machine.array(out)
}

fn assign(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let target = argument(arguments, 0);
    something(machine, target)?;
    for from in arguments.iter().skip(1).filter(|from| !from.is_nothing()) {
        machine.copy_fields(from, target)?;
    }
    Ok(target.clone())
}

fn freeze(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let value = argument(arguments, 0);
    if let Value::Object(id) = value {
        machine.freeze(*id);
    }
    Ok(value.clone())
}

fn is_frozen(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    Ok(match argument(arguments, 0) {
        Value::Object(id) => machine.object(*id).is_some_and(|object| object.is_frozen),
        _ => true,
    }
    .into())
}

fn from_entries(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let object = machine.plain(Fields::new())?;
    for pair in machine.spread(argument(arguments, 0))? {
        super::entry(machine, &pair)?;
        let key = machine.get(&pair, &Key::Index(0))?;
        let key = machine.key(&key)?;
        let value = machine.get(&pair, &Key::Index(1))?;
        machine.set(&object, &key, value)?;
    }
    Ok(object)
}

fn group_by(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let function = argument(arguments, 1);
    machine.callback(function)?;
    let groups = machine.plain(Fields::new())?;
    for (at, item) in machine.spread(argument(arguments, 0))?.into_iter().enumerate() {
        let key = machine.call(function, &Value::Undefined, &[item.clone(), at.into()])?;
        let key = machine.key(&key)?;
        if machine.has_own(&groups, &key) {
            let group = machine.get(&groups, &key)?;
            machine.bytes(size_of::<Value>())?;
            machine.items_mut(&group)?.push(item);
        } else {
            let group = machine.array(vec![item])?;
            machine.set(&groups, &key, group)?;
        }
    }
    Ok(groups)
}

fn is(_: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let (one, two) = (argument(arguments, 0), argument(arguments, 1));
    Ok(match (one, two) {
        (Value::Number(one), Value::Number(two)) if *one == 0.0 && *two == 0.0 => {
            one.is_sign_negative() == two.is_sign_negative()
        }
        _ => one.is_same_or_nan(two),
    }
    .into())
}

fn to_string(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    let kind = match this {
        Value::Undefined => "Undefined",
        Value::Null => "Null",
        Value::Bool(_) => "Boolean",
        Value::Number(_) => "Number",
        Value::Text(_) => "String",
        Value::Method(_) => "Function",
        Value::Global(global) if global.is_function() => "Function",
        Value::Global(global) => global.name,
        Value::Object(id) => match machine.content(*id) {
            Some(Content::Map(_)) => "Map",
            Some(Content::Set(_)) => "Set",
            Some(Content::Promise(_)) => "Promise",
            _ => "Object",
        },
    };
    machine.new_text(format!("[object {kind}]"))
}
