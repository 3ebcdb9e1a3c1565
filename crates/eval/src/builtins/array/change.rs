//! Functions that put other items into a list, or into a copy of it.

use super::super::{argument, place};
use super::{copy, len_of};
use crate::machine::{Machine, Run};
use crate::value::Value;

/// Moves a part of a list over another one.
pub(super) fn copy_within(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let len = len_of(machine, this)?;
    let to = place(machine, argument(arguments, 0), len, 0)?;
    let start = place(machine, argument(arguments, 1), len, 0)?;
    let end = place(machine, argument(arguments, 2), len, len)?;
    let count = end.saturating_sub(start).min(len - to);
    machine.bytes(count * size_of::<Value>())?;
    let items = machine.items_mut(this)?;
    if items.len() < len {
        return Err(machine.forbidden("the list became shorter while its part was asked for", None));
    }
    let moved: Vec<Value> = items.get(start..(start + count).min(items.len())).unwrap_or_default().to_vec();
    for (place, item) in items.iter_mut().skip(to).zip(moved) {
        *place = item;
    }
    Ok(this.clone())
}

pub(super) fn pop(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    Ok(machine.items_mut(this)?.pop().map_or(Value::Undefined, |item| item.or_undefined()))
}

pub(super) fn push(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    machine.bytes(size_of_val(arguments))?;
    let items = machine.items_mut(this)?;
    items.extend_from_slice(arguments);
    Ok(items.len().into())
}

pub(super) fn shift(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    len_of(machine, this)?;
    let items = machine.items_mut(this)?;
    Ok(if items.is_empty() { Value::Undefined } else { items.remove(0).or_undefined() })
}

pub(super) fn unshift(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    len_of(machine, this)?;
    machine.bytes(size_of_val(arguments))?;
    let items = machine.items_mut(this)?;
    items.splice(0..0, arguments.iter().cloned());
    Ok(items.len().into())
}

pub(super) fn reverse(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    // A list of fewer than two items does not change, so it may be frozen.
    if len_of(machine, this)? > 1 {
        machine.items_mut(this)?.reverse();
    }
    Ok(this.clone())
}

pub(super) fn to_reversed(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    let mut items = copy(machine, this)?;
    items.reverse();
    machine.array(items)
}

pub(super) fn fill(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let len = len_of(machine, this)?;
    let start = place(machine, argument(arguments, 1), len, 0)?;
    let end = place(machine, argument(arguments, 2), len, len)?;
    let value = argument(arguments, 0);
    if let Some(part) = machine.items_mut(this)?.get_mut(start..end.max(start)) {
        part.fill(value.clone());
    }
    Ok(this.clone())
}

/// Returns where a splice begins, and how many items it removes.
fn cut(machine: &mut Machine<'_>, len: usize, arguments: &[Value]) -> Run<(usize, usize)> {
    let start = place(machine, argument(arguments, 0), len, 0)?;
    let count = match arguments {
        [] => 0,
        [_] => len - start,
        [_, count, ..] => machine.integer_of(count)?.clamp(0.0, (len - start) as f64) as usize,
    };
    Ok((start, count))
}

pub(super) fn splice(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let len = len_of(machine, this)?;
    let (start, count) = cut(machine, len, arguments)?;
    let new = arguments.get(2..).unwrap_or_default();
    machine.bytes(size_of_val(new) + count * size_of::<Value>())?;
    let removed: Vec<Value> =
        machine.items_mut(this)?.splice(start..start + count, new.iter().cloned()).collect();
    machine.counted_array(removed)
}

pub(super) fn to_spliced(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let mut items = copy(machine, this)?;
    let (start, count) = cut(machine, items.len(), arguments)?;
    let new = arguments.get(2..).unwrap_or_default();
    items.splice(start..start + count, new.iter().cloned());
    machine.array(items)
}

pub(super) fn with(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let mut items = copy(machine, this)?;
    let at = machine.integer_of(argument(arguments, 0))?;
    let at = if at < 0.0 { items.len() as f64 + at } else { at };
    match items.get_mut(at.max(0.0) as usize) {
        Some(item) if at >= 0.0 => *item = argument(arguments, 1).clone(),
        _ => return Err(machine.range_error("Invalid index")),
    }
    machine.array(items)
}
