//! Functions of lists that call a function with each item.

use super::super::argument;
use super::flat;
use crate::machine::{Machine, Run};
use crate::value::Value;

/// The goal of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Item,
    Place,
    LastItem,
    LastPlace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Forwards,
    Backwards,
}

pub(super) fn every(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    machine.this_list(this, "every")?;
    let mut holds = true;
    machine.each_item(this, argument(arguments, 0), argument(arguments, 1), |_, _, _, answer| {
        holds = answer.is_truthy();
        Ok(holds)
    })?;
    Ok(holds.into())
}

pub(super) fn some(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    machine.this_list(this, "some")?;
    let mut holds = false;
    machine.each_item(this, argument(arguments, 0), argument(arguments, 1), |_, _, _, answer| {
        holds = answer.is_truthy();
        Ok(!holds)
    })?;
    Ok(holds.into())
}

pub(super) fn for_each(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    machine.this_list(this, "forEach")?;
    machine.each_item(this, argument(arguments, 0), argument(arguments, 1), |_, _, _, _| Ok(true))?;
    Ok(Value::Undefined)
}

pub(super) fn map(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let len = machine.this_list(this, "map")?;
    machine.callback(argument(arguments, 0))?;
    machine.bytes(len * size_of::<Value>())?;
    let mut out = Vec::with_capacity(len);
    machine.each_item(this, argument(arguments, 0), argument(arguments, 1), |_, at, _, answer| {
        out.resize(at, Value::Hole);
        out.push(answer);
        Ok(true)
    })?;
    out.resize(len, Value::Hole);
    machine.counted_array(out)
}

pub(super) fn filter(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    machine.this_list(this, "filter")?;
    let mut out = Vec::new();
    machine.each_item(this, argument(arguments, 0), argument(arguments, 1), |machine, _, item, answer| {
        if answer.is_truthy() {
            machine.bytes(size_of::<Value>())?;
            out.push(item.clone());
        }
        Ok(true)
    })?;
    machine.counted_array(out)
}

pub(super) fn find(machine: &mut Machine<'_>, this: &Value, arguments: &[Value], look: Look) -> Run {
    let len = machine.this_list(this, "find")?;
    let function = argument(arguments, 0);
    machine.callback(function)?;
    let backwards = matches!(look, Look::LastItem | Look::LastPlace);
    for step in 0..len {
        let at = if backwards { len - 1 - step } else { step };
        let item = machine.item(this, at);
        if machine
            .call(function, argument(arguments, 1), &[item.clone(), at.into(), this.clone()])?
            .is_truthy()
        {
            return Ok(if matches!(look, Look::Item | Look::LastItem) { item } else { at.into() });
        }
    }
    Ok(if matches!(look, Look::Item | Look::LastItem) { Value::Undefined } else { Value::Number(-1.0) })
}

pub(super) fn flat_map(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let lists = map(machine, this, arguments)?;
    flat(machine, &lists, &[])
}

pub(super) fn reduce(
    machine: &mut Machine<'_>,
    this: &Value,
    arguments: &[Value],
    direction: Direction,
) -> Run {
    let len = machine.this_list(this, "reduce")?;
    let function = argument(arguments, 0);
    machine.callback(function)?;
    let place = |step: usize| if direction == Direction::Forwards { step } else { len - 1 - step };
    let mut sum = arguments.get(1).cloned();
    for at in (0..len).map(place) {
        machine.steps(1)?;
        if !machine.has_item(this, at) {
            continue;
        }
        let item = machine.item(this, at);
        sum = Some(match sum {
            None => item,
            Some(sum) => machine.call(function, &Value::Undefined, &[sum, item, at.into(), this.clone()])?,
        });
    }
    match sum {
        Some(sum) => Ok(sum),
        None => Err(machine
            .type_error_fix("Reduce of empty array with no initial value", "give it one: reduce(f, 0)")),
    }
}
