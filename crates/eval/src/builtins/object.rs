//! `Object`.

use super::{Method, argument, method_row};
use crate::machine::{Key, Machine, Run};
use crate::value::{Content, Fields, Integrity, Part, Value};

pub(super) static STATICS: &[Method] = &[
    method_row("assign", 2, assign),
    method_row("entries", 1, |machine, _, arguments| list(machine, argument(arguments, 0), Part::Both)),
    method_row("freeze", 1, |machine, _, arguments| close(machine, arguments, Integrity::Frozen)),
    method_row("fromEntries", 1, from_entries),
    method_row("getOwnPropertyNames", 1, own_names),
    method_row("groupBy", 2, group_by),
    method_row("hasOwn", 2, |machine, _, arguments| {
        something(machine, argument(arguments, 0))?;
        let key = machine.key(argument(arguments, 1))?;
        Ok(machine.has_own(argument(arguments, 0), &key).into())
    }),
    method_row("is", 2, is),
    method_row("isExtensible", 1, is_extensible),
    method_row("isFrozen", 1, |machine, _, arguments| is_closed(machine, arguments, Integrity::Frozen)),
    method_row("isSealed", 1, |machine, _, arguments| is_closed(machine, arguments, Integrity::Sealed)),
    method_row("keys", 1, |machine, _, arguments| list(machine, argument(arguments, 0), Part::Key)),
    method_row("preventExtensions", 1, |machine, _, arguments| close(machine, arguments, Integrity::Closed)),
    method_row("seal", 1, |machine, _, arguments| close(machine, arguments, Integrity::Sealed)),
    method_row("values", 1, |machine, _, arguments| list(machine, argument(arguments, 0), Part::Value)),
];

pub(crate) static METHODS: &[Method] = &[
    method_row("hasOwnProperty", 1, |machine, this, arguments| {
        let key = machine.key(argument(arguments, 0))?;
        something(machine, this)?;
        Ok(machine.has_own(this, &key).into())
    }),
    method_row("propertyIsEnumerable", 1, |machine, this, arguments| {
        let key = machine.key(argument(arguments, 0))?;
        something(machine, this)?;
        Ok(machine.is_listed(this, &key).into())
    }),
    method_row("toLocaleString", 0, |machine, this, _| machine.text_of(this).map(Value::Text)),
    method_row("toString", 0, to_string),
    method_row("valueOf", 0, |machine, this, _| {
        something(machine, this)?;
        machine.boxed(this)
    }),
];

pub(super) fn convert(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let value = argument(arguments, 0);
    if value.is_nothing() { machine.plain(Fields::new()) } else { machine.boxed(value) }
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
        machine.bytes(size_of::<Value>())?;
        let key = Key::of(&name);
        if part != Part::Key && !machine.is_listed(object, &key) {
            continue;
        }
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
    machine.counted_array(out)
}

fn assign(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let target = argument(arguments, 0);
    something(machine, target)?;
    let target = &machine.boxed(target)?;
    for from in arguments.iter().skip(1).filter(|from| !from.is_nothing()) {
        machine.copy_fields(from, target)?;
    }
    Ok(target.clone())
}

/// `freeze`, `seal` and `preventExtensions`.
fn close(machine: &mut Machine<'_>, arguments: &[Value], integrity: Integrity) -> Run {
    let value = argument(arguments, 0);
    if let Value::Object(id) = value {
        machine.close(*id, integrity);
    }
    Ok(value.clone())
}

/// Whether an object has this integrity level; one that is not extensible and has no fields has every level.
fn is_closed(machine: &mut Machine<'_>, arguments: &[Value], wanted: Integrity) -> Run {
    let value = argument(arguments, 0);
    Ok(match value {
        Value::Object(id) => {
            let found = machine.integrity(*id);
            let is_empty = |machine: &Machine<'_>| match machine.content(*id) {
                Some(Content::Plain(fields)) => fields.is_empty(),
                Some(Content::Map(_) | Content::Set(_) | Content::Date(_) | Content::Promise(_)) => true,
                _ => false,
            };
            found >= wanted || (found > Integrity::Open && is_empty(machine))
        }
        Value::Method(_) | Value::Global(_) => {
            return Err(machine.forbidden("built-in objects cannot be changed", None));
        }
        _ => true,
    }
    .into())
}

fn is_extensible(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    Ok(match argument(arguments, 0) {
        Value::Object(id) => machine.integrity(*id) == Integrity::Open,
        Value::Method(_) | Value::Global(_) => {
            return Err(machine.forbidden("built-in objects cannot be changed", None));
        }
        _ => false,
    }
    .into())
}

/// All names, those that are not listed too.
fn own_names(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let value = argument(arguments, 0);
    something(machine, value)?;
    let mut names = machine.own_keys(value)?;
    match value {
        Value::Text(_) => names.push("length".into()),
        Value::Object(id) => match machine.content(*id) {
            Some(Content::Array(items)) => {
                let places = items.iter().filter(|item| !matches!(item, Value::Hole)).count();
                names.insert(places.min(names.len()), "length".into());
            }
            Some(Content::Boxed(Value::Text(_))) => {
                let places = names.iter().filter(|name| matches!(Key::of(name), Key::Index(_))).count();
                names.insert(places, "length".into());
            }
            Some(
                Content::Plain(_) | Content::Boxed(_) | Content::Map(_) | Content::Set(_) | Content::Date(_),
            ) => {}
            _ => {
                return Err(
                    machine.forbidden("the names of this kind are not told here", Some("use Object.keys"))
                );
            }
        },
        Value::Method(_) | Value::Global(_) => {
            return Err(machine.forbidden("the names of what is built in are not told here", None));
        }
        _ => {}
    }
    let names = names.into_iter().map(Value::text).collect();
    machine.array(names)
}

fn from_entries(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let object = machine.plain(Fields::new())?;
    let mut going = machine.iteration(argument(arguments, 0))?;
    while let Some(pair) = machine.next(&mut going)? {
        super::entry(machine, &pair)?;
        let key = machine.get(&pair, &Key::Index(0))?;
        let value = machine.get(&pair, &Key::Index(1))?;
        let key = machine.key(&key)?;
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
        Value::Undefined | Value::Hole => "Undefined",
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
            Some(Content::Array(_)) => "Array",
            Some(Content::Error(_)) => "Error",
            Some(Content::Date(_)) => "Date",
            Some(Content::Regex(_)) => "RegExp",
            Some(Content::Boxed(Value::Text(_))) => "String",
            Some(Content::Boxed(Value::Number(_))) => "Number",
            Some(Content::Boxed(_)) => "Boolean",
            Some(Content::Iterator(iteration)) => match &iteration.over {
                Value::Text(_) => "String Iterator",
                Value::Object(over) => match machine.content(*over) {
                    Some(Content::Map(_)) => "Map Iterator",
                    Some(Content::Set(_)) => "Set Iterator",
                    _ => "Array Iterator",
                },
                _ => "Object",
            },
            Some(Content::Closure(_) | Content::Bound { .. } | Content::Settler { .. }) => "Function",
            _ => "Object",
        },
    };
    machine.new_text(format!("[object {kind}]"))
}
