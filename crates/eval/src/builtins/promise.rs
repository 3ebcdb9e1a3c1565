//! `Promise`.

use super::{Method, argument, method_row};
use crate::machine::{Gathering, Machine, Run, Stop};
use crate::value::{Content, ObjectId, Outcome, Reaction, Value};

pub(super) static STATICS: &[Method] = &[
    method_row("all", 1, |machine, this, arguments| gather(machine, this, Gathering::All, arguments)),
    method_row("allSettled", 1, |machine, this, arguments| {
        gather(machine, this, Gathering::AllSettled, arguments)
    }),
    method_row("any", 1, |machine, this, arguments| gather(machine, this, Gathering::Any, arguments)),
    method_row("race", 1, |machine, this, arguments| gather(machine, this, Gathering::Race, arguments)),
    method_row("reject", 1, reject),
    method_row("resolve", 1, resolve),
];

pub(super) static METHODS: &[Method] =
    &[method_row("catch", 1, catch), method_row("finally", 1, finally), method_row("then", 2, then)];

pub(super) fn make(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let executor = argument(arguments, 0);
    machine.callback(executor)?;
    let promise = machine.new_promise()?;
    let fulfil = machine.add(Content::Settler { promise, outcome: Outcome::Fulfilled })?;
    let refuse = machine.add(Content::Settler { promise, outcome: Outcome::Rejected })?;
    let settlers = [Value::Object(fulfil), Value::Object(refuse)];
    match machine.call(executor, &Value::Undefined, &settlers) {
        Ok(_) => {}
        Err(Stop::Throw(thrown)) => machine.settle(promise, Outcome::Rejected, thrown)?,
        Err(refusal) => return Err(refusal),
    }
    Ok(Value::Object(promise))
}

fn resolve(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    this_kind(machine, this)?;
    machine.promise_for(argument(arguments, 0)).map(Value::Object)
}

fn reject(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    this_kind(machine, this)?;
    let promise = machine.new_promise()?;
    machine.settle(promise, Outcome::Rejected, argument(arguments, 0).clone())?;
    Ok(Value::Object(promise))
}

/// Checks that the receiver is the constructor of promises.
fn this_kind(machine: &mut Machine<'_>, this: &Value) -> Run<()> {
    super::own_kind(machine, this, "Promise")?;
    match this {
        Value::Global(_) => Ok(()),
        _ => Err(machine.type_error("functions of `Promise` are called on it: Promise.all(…)")),
    }
}

fn gather(machine: &mut Machine<'_>, this: &Value, gathering: Gathering, arguments: &[Value]) -> Run {
    this_kind(machine, this)?;
    let values = match machine.spread(argument(arguments, 0)) {
        Ok(values) => values,
        Err(error) => {
            let promise = machine.new_promise()?;
            machine.reject_with(promise, error)?;
            return Ok(Value::Object(promise));
        }
    };
    machine.group(gathering, &values)
}

fn this_promise(machine: &mut Machine<'_>, this: &Value) -> Run<ObjectId> {
    match machine.as_promise(this) {
        Some(promise) => Ok(promise),
        None => Err(machine.type_error("this is no promise")),
    }
}

fn then(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let (fulfilled, rejected) = (argument(arguments, 0).clone(), argument(arguments, 1).clone());
    react(machine, this, fulfilled, rejected)
}

fn catch(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    react(machine, this, Value::Undefined, argument(arguments, 0).clone())
}

fn react(machine: &mut Machine<'_>, this: &Value, fulfilled: Value, rejected: Value) -> Run {
    let promise = this_promise(machine, this)?;
    let result = machine.new_promise()?;
    machine.react(promise, Reaction::Then { fulfilled, rejected, result })?;
    Ok(Value::Object(result))
}

fn finally(machine: &mut Machine<'_>, this: &Value, arguments: &[Value]) -> Run {
    let promise = this_promise(machine, this)?;
    let run = argument(arguments, 0).clone();
    machine.callback(&run)?;
    let result = machine.new_promise()?;
    machine.react(promise, Reaction::Finally { run, result })?;
    Ok(Value::Object(result))
}
