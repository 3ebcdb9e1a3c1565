//! `Set`.

use super::{Method, argument, method_row};
use crate::entries::Members;
use crate::machine::{Machine, Run};
use crate::value::{Content, MapKey, Part, Value};

pub(super) static METHODS: &[Method] = &[
    method_row("add", 1, add),
    method_row("clear", 0, clear),
    method_row("delete", 1, delete),
    method_row("difference", 1, |machine, this, arguments| combine(machine, this, arguments, Keep::Own)),
    method_row("entries", 0, |machine, this, _| through(machine, this, Part::Both)),
    method_row("forEach", 1, for_each),
    method_row("has", 1, has),
    method_row("intersection", 1, |machine, this, arguments| combine(machine, this, arguments, Keep::Common)),
    method_row("isDisjointFrom", 1, is_disjoint_from),
    method_row("isSubsetOf", 1, is_subset_of),
    method_row("isSupersetOf", 1, is_superset_of),
    method_row("keys", 0, |machine, this, _| through(machine, this, Part::Value)),
    method_row("symmetricDifference", 1, symmetric_difference),
    method_row("union", 1, union),
    method_row("values", 0, |machine, this, _| through(machine, this, Part::Value)),
];

/// Which members of the first set stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    Own,
    Common,
}

pub(super) fn make(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let from = argument(arguments, 0);
    let values = if from.is_nothing() { Vec::new() } else { machine.spread(from)? };
    of(machine, values)
}

fn of(machine: &mut Machine<'_>, values: Vec<Value>) -> Run {
    machine.bytes(values.len() * BYTES_OF_MEMBER)?;
    machine.steps(values.iter().map(Value::cost_as_key).sum())?;
    let members: Members = values.into_iter().map(|value| (MapKey::from(&value), member(value))).collect();
    machine.add(Content::Set(members)).map(Value::Object)
}

/// There is one zero among members.
fn member(value: Value) -> Value {
    if matches!(value, Value::Number(number) if number == 0.0) { Value::Number(0.0) } else { value }
}

const BYTES_OF_MEMBER: usize = size_of::<(MapKey, Value)>() + 32;

/// Returns the other set. JavaScript accepts any object with `size`, `has` and `keys`; here it must be a set.
fn other_set(machine: &mut Machine<'_>, other: &Value) -> Run<Members> {
    if let Value::Object(id) = other
        && !matches!(machine.content(*id), Some(Content::Set(_)))
    {
        return Err(
            machine.forbidden("sets are combined with sets only here", Some("make a set first: new Set(…)"))
        );
    }
    copy(machine, other)
}

fn members_of<'m>(machine: &'m mut Machine<'_>, this: &Value) -> Run<&'m mut Members> {
    let id = match this {
        Value::Object(id) if matches!(machine.content(*id), Some(Content::Set(_))) => *id,
        _ => return Err(machine.type_error("this is no Set")),
    };
    match machine.content_mut(id) {
        Some(Content::Set(members)) => Ok(members),
        _ => Err(crate::machine::Stop::Throw(Value::Undefined)),
    }
}

fn copy(machine: &mut Machine<'_>, this: &Value) -> Run<Members> {
    let members = members_of(machine, this)?.clone();
    // Each is looked up in the other.
    machine.steps(members.len() + members.values().map(Value::cost_as_key).sum::<usize>())?;
    machine.bytes(members.len() * BYTES_OF_MEMBER)?;
    Ok(members)
}

fn add(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    machine.bytes(BYTES_OF_MEMBER)?;
    let value = argument(arguments, 0).clone();
    machine.steps(value.cost_as_key())?;
    members_of(machine, this)?.add(MapKey::from(&value), member(value));
    Ok(this.clone())
}

fn has(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    machine.steps(argument(arguments, 0).cost_as_key())?;
    let key = MapKey::from(argument(arguments, 0));
    Ok(members_of(machine, this)?.has(&key).into())
}

fn delete(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    machine.steps(argument(arguments, 0).cost_as_key())?;
    let key = MapKey::from(argument(arguments, 0));
    let members = members_of(machine, this)?;
    let (size, found) = (members.len(), members.remove(&key));
    machine.steps(size / 8)?;
    Ok(found.into())
}

fn clear(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    members_of(machine, this)?.clear();
    Ok(Value::Undefined)
}

fn through(machine: &mut Machine<'_>, this: &Value, part: Part) -> Run {
    members_of(machine, this)?;
    machine.iterator(this.clone(), part)
}

fn for_each(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let function = argument(arguments, 0);
    members_of(machine, this)?;
    machine.callback(function)?;
    let mut at = 0;
    while let Some((place, value)) =
        members_of(machine, this)?.entry_at(at).map(|(place, value)| (place, value.clone()))
    {
        machine.call(function, argument(arguments, 1), &[value.clone(), value, this.clone()])?;
        at = place + 1;
    }
    Ok(Value::Undefined)
}

fn combine(machine: &mut Machine<'_>, this: &Value, arguments: &[Value], keep: Keep) -> Run {
    let (own, other) = (copy(machine, this)?, other_set(machine, argument(arguments, 0))?);
    let kept = |one: &Members, two: &Members| -> Members {
        one.iter()
            .filter(|(key, _)| two.has(key) == (keep == Keep::Common))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    };
    // The intersection is in the order of the smaller set.
    let members =
        if keep == Keep::Common && own.len() > other.len() { kept(&other, &own) } else { kept(&own, &other) };
    machine.add(Content::Set(members)).map(Value::Object)
}

fn union(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let (mut own, other) = (copy(machine, this)?, other_set(machine, argument(arguments, 0))?);
    for (key, value) in other.iter() {
        own.add(key.clone(), value.clone());
    }
    machine.add(Content::Set(own)).map(Value::Object)
}

fn symmetric_difference(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let (own, other) = (copy(machine, this)?, other_set(machine, argument(arguments, 0))?);
    let only = |one: &Members, two: &Members| -> Vec<(MapKey, Value)> {
        one.iter().filter(|(key, _)| !two.has(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    let members = only(&own, &other).into_iter().chain(only(&other, &own)).collect();
    machine.add(Content::Set(members)).map(Value::Object)
}

fn is_subset_of(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let (own, other) = (copy(machine, this)?, other_set(machine, argument(arguments, 0))?);
    Ok(own.iter().all(|(key, _)| other.has(key)).into())
}

fn is_superset_of(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let (own, other) = (copy(machine, this)?, other_set(machine, argument(arguments, 0))?);
    Ok(other.iter().all(|(key, _)| own.has(key)).into())
}

fn is_disjoint_from(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let (own, other) = (copy(machine, this)?, other_set(machine, argument(arguments, 0))?);
    Ok(Value::Bool(!own.iter().any(|(key, _)| other.has(key))))
}
