//! Sorting: stable, and in bounded time for any comparison function.

use std::cmp::Ordering;

use super::super::argument;
use super::{copy, copy_with_holes};
use crate::machine::{Machine, Run};
use crate::value::Value;

pub(super) fn sort(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
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

pub(super) fn to_sorted(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    if !matches!(argument(arguments, 0), Value::Undefined) {
        machine.callback(argument(arguments, 0))?;
    }
    let items = copy(machine, this)?;
    let sorted = sorted(machine, items, argument(arguments, 0))?;
    machine.array(sorted)
}

/// Sorts stably; `undefined` comes last. An inconsistent comparison results in some order, in bounded time.
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
