//! `Array`: its table, construction, and functions that search or join.

mod called;
mod change;
mod order;

use called::{Direction, Look, every, filter, find, flat_map, for_each, map, reduce, some};
use change::{copy_within, fill, pop, push, reverse, shift, splice, to_reversed, to_spliced, unshift, with};
use order::{sort, to_sorted};

use super::{Method, argument, method_row, place};
use crate::machine::{Key, Machine, Run};
use crate::value::{Part, Value};

pub(super) static STATICS: &[Method] = &[
    method_row("from", 1, from),
    method_row("isArray", 1, |machine, _, arguments| {
        Ok(machine.items(argument(arguments, 0)).is_some().into())
    }),
    method_row("of", 0, |machine, this, arguments| {
        super::own_kind(machine, this, "Array")?;
        listed(machine, arguments)
    }),
];

pub(super) static METHODS: &[Method] = &[
    method_row("at", 1, at),
    method_row("concat", 1, concat),
    method_row("copyWithin", 2, copy_within),
    method_row("entries", 0, |machine, this, _| through(machine, this, Part::Both)),
    method_row("every", 1, every),
    method_row("fill", 1, fill),
    method_row("filter", 1, filter),
    method_row("find", 1, |machine, this, arguments| find(machine, this, arguments, Look::Item)),
    method_row("findIndex", 1, |machine, this, arguments| find(machine, this, arguments, Look::Place)),
    method_row("findLast", 1, |machine, this, arguments| find(machine, this, arguments, Look::LastItem)),
    method_row("findLastIndex", 1, |machine, this, arguments| {
        find(machine, this, arguments, Look::LastPlace)
    }),
    method_row("flat", 0, flat),
    method_row("flatMap", 1, flat_map),
    method_row("forEach", 1, for_each),
    method_row("includes", 1, includes),
    method_row("indexOf", 1, index_of),
    method_row("join", 1, join),
    method_row("keys", 0, |machine, this, _| through(machine, this, Part::Key)),
    method_row("lastIndexOf", 1, last_index_of),
    method_row("map", 1, map),
    method_row("pop", 0, pop),
    method_row("push", 1, push),
    method_row("reduce", 1, |machine, this, arguments| reduce(machine, this, arguments, Direction::Forwards)),
    method_row("reduceRight", 1, |machine, this, arguments| {
        reduce(machine, this, arguments, Direction::Backwards)
    }),
    method_row("reverse", 0, reverse),
    method_row("shift", 0, shift),
    method_row("slice", 2, slice),
    method_row("some", 1, some),
    method_row("sort", 1, sort),
    method_row("splice", 2, splice),
    method_row("toLocaleString", 0, to_locale_string),
    method_row("toReversed", 0, to_reversed),
    method_row("toSorted", 1, to_sorted),
    method_row("toSpliced", 2, to_spliced),
    method_row("toString", 0, to_string),
    method_row("unshift", 1, unshift),
    method_row("values", 0, |machine, this, _| through(machine, this, Part::Value)),
    method_row("with", 2, with),
];

pub(super) fn make(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    match arguments {
        [length @ Value::Number(_)] => {
            let length = machine.length_of(length)?;
            machine.bytes(length.saturating_mul(size_of::<Value>()))?;
            machine.steps(length / 8)?;
            machine.counted_array(vec![Value::Hole; length])
        }
        items => listed(machine, items),
    }
}

/// A list of items that are somewhere already.
fn listed(machine: &mut Machine<'_>, items: &[Value]) -> Run {
    machine.bytes(size_of_val(items))?;
    machine.counted_array(items.to_vec())
}

fn from(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    super::own_kind(machine, this, "Array")?;
    let (source, function) = (argument(arguments, 0), argument(arguments, 1));
    if !matches!(function, Value::Undefined) {
        machine.callback(function)?;
    }
    match source {
        Value::Object(_) if !is_iterable(machine, source) => {
            let length = machine.get(source, &Key::Name("length".into()))?;
            let length = machine.integer_of(&length)?.clamp(0.0, f64::from(u32::MAX)) as usize;
            return from_places(machine, source, length, arguments);
        }
        Value::Undefined | Value::Null | Value::Text(_) | Value::Object(_) => {}
        _ => return machine.array(Vec::new()),
    }
    let mut going = machine.iteration(source)?;
    let mut out = Vec::new();
    while let Some(value) = machine.next(&mut going)? {
        machine.bytes(size_of::<Value>())?;
        let at = out.len();
        out.push(match function {
            Value::Undefined => value,
            function => machine.call(function, argument(arguments, 2), &[value, at.into()])?,
        });
    }
    machine.array(out)
}

fn is_iterable(machine: &Machine<'_>, value: &Value) -> bool {
    use crate::value::Content;
    let Value::Object(id) = value else { return false };
    matches!(
        machine.content(*id),
        Some(
            Content::Array(_)
                | Content::Map(_)
                | Content::Set(_)
                | Content::Iterator(_)
                | Content::Boxed(Value::Text(_))
        )
    )
}

/// `Array.from({length: n}, …)`.
fn from_places(machine: &mut Machine<'_>, source: &Value, length: usize, arguments: &[Value]) -> Run {
    let function = argument(arguments, 1);
    let mut out = Vec::new();
    machine.affords(length)?;
    for at in 0..length {
        machine.bytes(size_of::<Value>())?;
        machine.steps(1)?;
        let value = machine.get(source, &Key::Index(at))?;
        out.push(match function {
            Value::Undefined => value,
            function => {
                machine.callback(function)?;
                machine.call(function, argument(arguments, 2), &[value, at.into()])?
            }
        });
    }
    machine.array(out)
}

/// Returns the items of the receiver, `undefined` in its holes. Its cost is the length.
fn copy(machine: &mut Machine<'_>, this: &Value) -> Run<Vec<Value>> {
    let mut items = copy_with_holes(machine, this)?;
    items.iter_mut().for_each(|item| *item = item.or_undefined());
    Ok(items)
}

fn copy_with_holes(machine: &mut Machine<'_>, this: &Value) -> Run<Vec<Value>> {
    let len = machine.this_list(this, "this")?;
    machine.steps(len / 4)?;
    machine.bytes(len * size_of::<Value>())?;
    Ok(machine.items(this).cloned().unwrap_or_default())
}

fn through(machine: &mut Machine<'_>, this: &Value, part: Part) -> Run {
    machine.this_list(this, "this")?;
    machine.iterator(this.clone(), part)
}

/// Converts an item to its locale text.
fn to_locale_string(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    super::locale::english_only(machine, argument(arguments, 0))?;
    let mut texts = Vec::new();
    for item in copy(machine, this)? {
        texts.push(if item.is_nothing() {
            item
        } else {
            let function = machine.get(&item, &Key::Name("toLocaleString".into()))?;
            machine.call(&function, &item, arguments)?
        });
    }
    let texts = machine.array(texts)?;
    joined(machine, &texts, ",")
}

fn len_of(machine: &mut Machine<'_>, this: &Value) -> Run<usize> {
    let len = machine.this_list(this, "this")?;
    machine.steps(len / 4)?;
    Ok(len)
}

fn at(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let len = machine.this_list(this, "at")?;
    let at = machine.integer_of(argument(arguments, 0))?;
    let at = if at < 0.0 { len as f64 + at } else { at };
    Ok(if at < 0.0 { Value::Undefined } else { machine.item(this, at as usize) })
}

fn concat(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let mut out = copy_with_holes(machine, this)?;
    for value in arguments {
        if machine.items(value).is_some() {
            out.extend(copy_with_holes(machine, value)?);
        } else {
            out.push(value.clone());
        }
    }
    machine.array(out)
}

fn flat(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let depth = match argument(arguments, 0) {
        Value::Undefined => 1.0,
        depth => machine.integer_of(depth)?,
    };
    let mut out = Vec::new();
    flatten(machine, this, depth, &mut out)?;
    machine.counted_array(out)
}

fn flatten(machine: &mut Machine<'_>, list: &Value, depth: f64, out: &mut Vec<Value>) -> Run<()> {
    let items = copy_with_holes(machine, list)?;
    for item in items.into_iter().filter(|item| !matches!(item, Value::Hole)) {
        if depth >= 1.0 && machine.items(&item).is_some() {
            machine.deeper(|machine| flatten(machine, &item, depth - 1.0, out))?;
        } else {
            machine.steps(1)?;
            machine.bytes(size_of::<Value>())?;
            out.push(item);
        }
    }
    Ok(())
}

fn includes(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let len = len_of(machine, this)?;
    let start = if len == 0 { 0 } else { place(machine, argument(arguments, 1), len, 0)? };
    let wanted = argument(arguments, 0);
    machine.steps(len.saturating_mul(wanted.cost_as_key()))?;
    // An item removed while the index was converted is `undefined`.
    Ok((start..len).any(|at| machine.item(this, at).is_same_or_nan(wanted)).into())
}

fn index_of(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let len = len_of(machine, this)?;
    let start = if len == 0 { 0 } else { place(machine, argument(arguments, 1), len, 0)? };
    let wanted = argument(arguments, 0);
    machine.steps(len.saturating_mul(wanted.cost_as_key()))?;
    let items = machine.items(this).and_then(|items| items.get(start..)).unwrap_or_default();
    Ok(items.iter().position(|item| item.is_same(wanted)).map_or(-1.0, |at| (start + at) as f64).into())
}

fn last_index_of(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let len = len_of(machine, this)?;
    let end = match arguments.get(1) {
        Some(end) if len > 0 => {
            let end = machine.integer_of(end)?;
            (if end < 0.0 { len as f64 + end + 1.0 } else { end + 1.0 }).clamp(0.0, len as f64) as usize
        }
        _ => len,
    };
    let wanted = argument(arguments, 0);
    machine.steps(len.saturating_mul(wanted.cost_as_key()))?;
    let items = machine.items(this).unwrap_or(NO_ITEMS);
    let items = items.get(..end.min(items.len())).unwrap_or_default();
    Ok(items.iter().rposition(|item| item.is_same(wanted)).map_or(-1.0, |at| at as f64).into())
}

/// The empty list of a receiver that is not an array.
const NO_ITEMS: &Vec<Value> = &Vec::new();

fn join(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let separator = match argument(arguments, 0) {
        Value::Undefined => ",".into(),
        separator => machine.text_of(separator)?.shared(),
    };
    joined(machine, this, &separator)
}

fn joined(machine: &mut Machine<'_>, this: &Value, separator: &str) -> Run {
    // A list that contains itself shows as nothing inside itself.
    if !machine.enter_list(this) {
        return Ok("".into());
    }
    let outcome = machine.deeper(|machine| {
        let mut out = String::new();
        for (at, item) in copy(machine, this)?.iter().enumerate() {
            machine.steps(1)?;
            if at > 0 {
                machine.bytes(separator.len())?;
                out.push_str(separator);
            }
            if !item.is_nothing() {
                let text = machine.text_of(item)?;
                machine.bytes(text.as_str().len())?;
                out.push_str(text.as_str());
            }
        }
        machine.new_text(out)
    });
    machine.leave_list();
    outcome
}

fn to_string(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    joined(machine, this, ",")
}

fn slice(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let len = machine.this_list(this, "slice")?;
    let start = place(machine, argument(arguments, 0), len, 0)?;
    let end = place(machine, argument(arguments, 1), len, len)?;
    machine.steps(end.saturating_sub(start) / 4)?;
    machine.bytes(end.saturating_sub(start) * size_of::<Value>())?;
    let part =
        machine.items(this).and_then(|items| items.get(start..end.max(start))).unwrap_or_default().to_vec();
    machine.counted_array(part)
}
