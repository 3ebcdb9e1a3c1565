//! Iterators of lists, texts, maps and sets.

use super::{Method, method_row};
use crate::machine::{Going, Machine, Run};
use crate::value::{Content, Value};

pub(crate) static METHODS: &[Method] = &[method_row("next", 0, next)];

fn next(machine: &mut Machine<'_>, this: &Value, _: &[Value]) -> Run {
    let Value::Object(id) = this else { return Err(machine.type_error("this is no iterator")) };
    if !matches!(machine.content(*id), Some(Content::Iterator(_))) {
        return Err(machine.type_error("this is no iterator"));
    }
    let next = machine.next(&mut Going::Shared(*id))?;
    machine.next_result(next)
}
