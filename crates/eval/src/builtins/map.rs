//! `Map`.

use super::{Method, argument, method_row};
use crate::entries::Pairs;
use crate::machine::{Key, Machine, Run};
use crate::value::{Content, MapKey, ObjectId, Part, Value};

pub(super) static STATICS: &[Method] = &[method_row("groupBy", 2, group_by)];

pub(super) static METHODS: &[Method] = &[
    method_row("clear", 0, clear),
    method_row("delete", 1, delete),
    method_row("entries", 0, |machine, this, _| through(machine, this, Part::Both)),
    method_row("forEach", 1, for_each),
    method_row("get", 1, get),
    method_row("has", 1, has),
    method_row("keys", 0, |machine, this, _| through(machine, this, Part::Key)),
    method_row("set", 2, set),
    method_row("values", 0, |machine, this, _| through(machine, this, Part::Value)),
];

pub(super) fn make(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let map = Value::Object(machine.add(Content::Map(Pairs::default()))?);
    let from = argument(arguments, 0);
    if !from.is_nothing() {
        let mut going = machine.iteration(from)?;
        while let Some(pair) = machine.next(&mut going)? {
            super::entry(machine, &pair)?;
            let key = machine.get(&pair, &Key::Index(0))?;
            let value = machine.get(&pair, &Key::Index(1))?;
            insert(machine, &map, key, value)?;
        }
    }
    Ok(map)
}

fn group_by(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let function = argument(arguments, 1);
    machine.callback(function)?;
    let map = Value::Object(machine.add(Content::Map(Pairs::default()))?);
    for (at, item) in machine.spread(argument(arguments, 0))?.into_iter().enumerate() {
        let key = machine.call(function, &Value::Undefined, &[item.clone(), at.into()])?;
        machine.steps(key.cost_as_key())?;
        let group = match entries_of(machine, &map)?.get(&MapKey::from(&key)) {
            Some((_, group)) => group.clone(),
            None => {
                let group = machine.array(Vec::new())?;
                insert(machine, &map, key, group.clone())?;
                group
            }
        };
        machine.bytes(size_of::<Value>())?;
        machine.items_mut(&group)?.push(item);
    }
    Ok(map)
}

fn id_of(machine: &mut Machine<'_>, this: &Value) -> Run<ObjectId> {
    match this {
        Value::Object(id) if matches!(machine.content(*id), Some(Content::Map(_))) => Ok(*id),
        _ => Err(machine.type_error("this is no Map")),
    }
}

fn entries_of<'m>(machine: &'m mut Machine<'_>, this: &Value) -> Run<&'m mut Pairs> {
    let id = id_of(machine, this)?;
    match machine.content_mut(id) {
        Some(Content::Map(entries)) => Ok(entries),
        _ => Err(crate::machine::Stop::Throw(Value::Undefined)),
    }
}

fn insert(machine: &mut Machine<'_>, map: &Value, key: Value, value: Value) -> Run<()> {
    machine.bytes(size_of::<(MapKey, Value, Value)>() + 16)?;
    machine.steps(key.cost_as_key())?;
    let place = MapKey::from(&key);
    let entries = entries_of(machine, map)?;
    match entries.get_mut(&place) {
        Some(entry) => entry.1 = value,
        // There is one zero among keys.
        None if matches!(key, Value::Number(number) if number == 0.0) => {
            entries.add(place, (Value::Number(0.0), value));
        }
        None => entries.add(place, (key, value)),
    }
    Ok(())
}

fn get(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    machine.steps(argument(arguments, 0).cost_as_key())?;
    let key = MapKey::from(argument(arguments, 0));
    Ok(entries_of(machine, this)?.get(&key).map_or(Value::Undefined, |(_, value)| value.clone()))
}

fn has(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    machine.steps(argument(arguments, 0).cost_as_key())?;
    let key = MapKey::from(argument(arguments, 0));
    Ok(entries_of(machine, this)?.has(&key).into())
}

fn set(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    insert(machine, this, argument(arguments, 0).clone(), argument(arguments, 1).clone())?;
    Ok(this.clone())
}

fn delete(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    machine.steps(argument(arguments, 0).cost_as_key())?;
    let key = MapKey::from(argument(arguments, 0));
    let entries = entries_of(machine, this)?;
    let (size, found) = (entries.len(), entries.remove(&key));
    machine.steps(size / 8)?;
    Ok(found.into())
}

fn clear(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    entries_of(machine, this)?.clear();
    Ok(Value::Undefined)
}

fn through(machine: &mut Machine<'_>, this: &Value, part: Part) -> Run {
    id_of(machine, this)?;
    machine.iterator(this.clone(), part)
}

fn for_each(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let function = argument(arguments, 0);
    id_of(machine, this)?;
    machine.callback(function)?;
    let mut at = 0;
    while let Some((place, (key, value))) =
        entries_of(machine, this)?.entry_at(at).map(|(place, pair)| (place, pair.clone()))
    {
        machine.call(function, argument(arguments, 1), &[value, key, this.clone()])?;
        at = place + 1;
    }
    Ok(Value::Undefined)
}
