//! `Array`.

use std::cmp::Ordering;

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
        machine.array(arguments.to_vec())
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

/// What a search looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    Item,
    Place,
    LastItem,
    LastPlace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forwards,
    Backwards,
}

pub(super) fn make(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    match arguments {
        [length @ Value::Number(_)] => {
            let length = machine.length_of(length)?;
            machine.bytes(length.saturating_mul(size_of::<Value>()))?;
            machine.steps(length / 8)?;
            machine.array(vec![Value::Hole; length])
        }
        items => machine.array(items.to_vec()),
    }
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

/// The items of the list that a function was called on, `undefined` in its holes. It costs what it is long.
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

/// What comes of an item where each becomes a text of its own.
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

/// Moves a part of a list over another one.
fn copy_within(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
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

fn every(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    machine.this_list(this, "every")?;
    let mut holds = true;
    machine.each_item(this, argument(arguments, 0), argument(arguments, 1), |_, _, _, answer| {
        holds = answer.is_truthy();
        Ok(holds)
    })?;
    Ok(holds.into())
}

fn some(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    machine.this_list(this, "some")?;
    let mut holds = false;
    machine.each_item(this, argument(arguments, 0), argument(arguments, 1), |_, _, _, answer| {
        holds = answer.is_truthy();
        Ok(!holds)
    })?;
    Ok(holds.into())
}

fn for_each(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    machine.this_list(this, "forEach")?;
    machine.each_item(this, argument(arguments, 0), argument(arguments, 1), |_, _, _, _| Ok(true))?;
    Ok(Value::Undefined)
}

fn map(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let len = machine.this_list(this, "map")?;
    let mut out = Vec::new();
    machine.each_item(this, argument(arguments, 0), argument(arguments, 1), |_, at, _, answer| {
        out.resize(at, Value::Hole);
        out.push(answer);
        Ok(true)
    })?;
    out.resize(len, Value::Hole);
    machine.array(out)
}

fn filter(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    machine.this_list(this, "filter")?;
    let mut out = Vec::new();
    machine.each_item(this, argument(arguments, 0), argument(arguments, 1), |_, _, item, answer| {
        if answer.is_truthy() {
            out.push(item.clone());
        }
        Ok(true)
    })?;
    machine.array(out)
}

fn find(machine: &mut Machine<'_>, this: &Value, arguments: &[Value], look: Look) -> Run {
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

fn flat(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let depth = match argument(arguments, 0) {
        Value::Undefined => 1.0,
        depth => machine.integer_of(depth)?,
    };
    let mut out = Vec::new();
    flatten(machine, this, depth, &mut out)?;
    machine.array(out)
}

fn flatten(machine: &mut Machine<'_>, list: &Value, depth: f64, out: &mut Vec<Value>) -> Run<()> {
    let items = copy_with_holes(machine, list)?;
    for item in items.into_iter().filter(|item| !matches!(item, Value::Hole)) {
        if depth >= 1.0 && machine.items(&item).is_some() {
            machine.deeper(|machine| flatten(machine, &item, depth - 1.0, out))?;
        } else {
            machine.steps(1)?;
            out.push(item);
        }
    }
    Ok(())
}

fn flat_map(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let lists = map(machine, this, arguments)?;
    flat(machine, &lists, &[])
}

fn includes(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let len = len_of(machine, this)?;
    let start = if len == 0 { 0 } else { place(machine, argument(arguments, 1), len, 0)? };
    let wanted = argument(arguments, 0);
    machine.steps(len.saturating_mul(wanted.cost_as_key()))?;
    // What was taken away while the place was asked for is `undefined`.
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

/// A list that is none.
const NO_ITEMS: &Vec<Value> = &Vec::new();

fn join(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let separator = match argument(arguments, 0) {
        Value::Undefined => ",".into(),
        separator => machine.text_of(separator)?.shared(),
    };
    joined(machine, this, &separator)
}

fn joined(machine: &mut Machine<'_>, this: &Value, separator: &str) -> Run {
    // A list that holds itself shows as nothing inside itself.
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

fn pop(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    Ok(machine.items_mut(this)?.pop().map_or(Value::Undefined, |item| item.or_undefined()))
}

fn push(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    machine.bytes(size_of_val(arguments))?;
    let items = machine.items_mut(this)?;
    items.extend_from_slice(arguments);
    Ok(items.len().into())
}

fn shift(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    len_of(machine, this)?;
    let items = machine.items_mut(this)?;
    Ok(if items.is_empty() { Value::Undefined } else { items.remove(0).or_undefined() })
}

fn unshift(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    len_of(machine, this)?;
    machine.bytes(size_of_val(arguments))?;
    let items = machine.items_mut(this)?;
    items.splice(0..0, arguments.iter().cloned());
    Ok(items.len().into())
}

fn reduce(machine: &mut Machine<'_>, this: &Value, arguments: &[Value], direction: Direction) -> Run {
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

fn reverse(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    // What has less than two items is as it was, and may be frozen.
    if len_of(machine, this)? > 1 {
        machine.items_mut(this)?.reverse();
    }
    Ok(this.clone())
}

fn to_reversed(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    let mut items = copy(machine, this)?;
    items.reverse();
    machine.array(items)
}

fn slice(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let len = machine.this_list(this, "slice")?;
    let start = place(machine, argument(arguments, 0), len, 0)?;
    let end = place(machine, argument(arguments, 1), len, len)?;
    machine.steps(end.saturating_sub(start) / 4)?;
    let part =
        machine.items(this).and_then(|items| items.get(start..end.max(start))).unwrap_or_default().to_vec();
    machine.array(part)
}

fn fill(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let len = len_of(machine, this)?;
    let start = place(machine, argument(arguments, 1), len, 0)?;
    let end = place(machine, argument(arguments, 2), len, len)?;
    let value = argument(arguments, 0);
    if let Some(part) = machine.items_mut(this)?.get_mut(start..end.max(start)) {
        part.fill(value.clone());
    }
    Ok(this.clone())
}

/// Where a splice begins, and how many items it takes away.
fn cut(machine: &mut Machine<'_>, len: usize, arguments: &[Value]) -> Run<(usize, usize)> {
    let start = place(machine, argument(arguments, 0), len, 0)?;
    let count = match arguments {
        [] => 0,
        [_] => len - start,
        [_, count, ..] => machine.integer_of(count)?.clamp(0.0, (len - start) as f64) as usize,
    };
    Ok((start, count))
}

fn splice(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let len = len_of(machine, this)?;
    let (start, count) = cut(machine, len, arguments)?;
    let new = arguments.get(2..).unwrap_or_default();
    machine.bytes(size_of_val(new))?;
    let removed: Vec<Value> =
        machine.items_mut(this)?.splice(start..start + count, new.iter().cloned()).collect();
    machine.array(removed)
}

fn to_spliced(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let mut items = copy(machine, this)?;
    let (start, count) = cut(machine, items.len(), arguments)?;
    let new = arguments.get(2..).unwrap_or_default();
    items.splice(start..start + count, new.iter().cloned());
    machine.array(items)
}

fn with(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let mut items = copy(machine, this)?;
    let at = machine.integer_of(argument(arguments, 0))?;
    let at = if at < 0.0 { items.len() as f64 + at } else { at };
    match items.get_mut(at.max(0.0) as usize) {
        Some(item) if at >= 0.0 => *item = argument(arguments, 1).clone(),
        _ => return Err(machine.range_error("Invalid index")),
    }
    machine.array(items)
}

fn sort(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let function = argument(arguments, 0);
    if !matches!(function, Value::Undefined) {
        machine.callback(function)?;
    }
    let items = copy_with_holes(machine, this)?;
    let len = items.len();
    let there: Vec<Value> = items.into_iter().filter(|item| !matches!(item, Value::Hole)).collect();
    let mut sorted = sorted(machine, there, function)?;
    sorted.resize(len, Value::Hole);
    let items = machine.items_mut(this)?;
    let behind = items.get(len..).unwrap_or_default().to_vec();
    sorted.extend(behind);
    *items = sorted;
    Ok(this.clone())
}

fn to_sorted(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    if !matches!(argument(arguments, 0), Value::Undefined) {
        machine.callback(argument(arguments, 0))?;
    }
    let items = copy(machine, this)?;
    let sorted = sorted(machine, items, argument(arguments, 0))?;
    machine.array(sorted)
}

/// Sorts, stably; `undefined` comes last. A comparison that contradicts itself gives some order, in bounded time.
fn sorted(machine: &mut Machine<'_>, items: Vec<Value>, function: &Value) -> Run<Vec<Value>> {
    let is_there = |value: &Value| !matches!(value, Value::Undefined);
    let (there, missing): (Vec<Value>, Vec<Value>) = items.into_iter().partition(is_there);
    let mut sorted = if matches!(function, Value::Undefined) {
        let mut keyed = Vec::with_capacity(there.len());
        for value in there {
            keyed.push((machine.text_of(&value)?, value));
        }
        let looked_at: usize = keyed.iter().map(|(text, _)| 1 + text.as_str().len() / 16).sum();
        machine.steps(looked_at.saturating_mul(keyed.len().max(2).ilog2() as usize))?;
        keyed.sort_by(|(one, _), (two, _)| match (one == two, one.is_before(two)) {
            (true, _) => Ordering::Equal,
            (_, true) => Ordering::Less,
            _ => Ordering::Greater,
        });
        keyed.into_iter().map(|(_, value)| value).collect()
    } else {
        machine.callback(function)?;
        merge_sort(machine, there, function)?
    };
    sorted.extend(missing);
    Ok(sorted)
}

/// From the bottom up, so that it never recurses. The comparison is a function of the program: it may fail.
fn merge_sort(machine: &mut Machine<'_>, mut items: Vec<Value>, function: &Value) -> Run<Vec<Value>> {
    let mut width = 1;
    while width < items.len() {
        machine.steps(items.len() / 4)?;
        let mut merged = Vec::with_capacity(items.len());
        for run in items.chunks(width * 2) {
            let (left, right) = run.split_at(width.min(run.len()));
            merge(machine, left, right, function, &mut merged)?;
        }
        items = merged;
        width *= 2;
    }
    Ok(items)
}

fn merge(
    machine: &mut Machine<'_>,
    left: &[Value],
    right: &[Value],
    function: &Value,
    merged: &mut Vec<Value>,
) -> Run<()> {
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    while let (Some(one), Some(two)) = (left.peek(), right.peek()) {
        let order = machine.call(function, &Value::Undefined, &[(*one).clone(), (*two).clone()])?;
        let takes_right = machine.number_of(&order)? > 0.0;
        merged.extend(if takes_right { right.next() } else { left.next() }.cloned());
    }
    merged.extend(left.chain(right).cloned());
    Ok(())
}
