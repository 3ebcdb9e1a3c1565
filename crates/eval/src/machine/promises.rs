//! Promises. Nothing outside can settle one, so awaiting runs pending jobs in order until it is settled.

use super::{Machine, Run, Stop};
use crate::value::{Content, Fields, ObjectId, Outcome, Promise, Reaction, Value};
use crate::{ErrorKind, EvalError};

/// A job to run after the current code.
#[derive(Debug)]
pub(super) struct Job {
    reaction: Reaction,
    outcome: Outcome,
    value: Value,
}

/// Promises that one promise waits for.
#[derive(Debug)]
pub(super) struct Group {
    gathering: Gathering,
    values: Vec<Value>,
    left: usize,
    result: ObjectId,
}

/// How promises become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gathering {
    All,
    AllSettled,
    Any,
    Race,
}

impl Machine<'_> {
    pub(crate) fn new_promise(&mut self) -> Run<ObjectId> {
        self.add(Content::Promise(Promise::Pending(Vec::new())))
    }

    pub(crate) fn as_promise(&self, value: &Value) -> Option<ObjectId> {
        match value {
            Value::Object(id) if matches!(self.content(*id), Some(Content::Promise(_))) => Some(*id),
            _ => None,
        }
    }

    /// The promise of a value; a promise is its own.
    pub(crate) fn promise_for(&mut self, value: &Value) -> Run<ObjectId> {
        if let Some(promise) = self.as_promise(value) {
            return Ok(promise);
        }
        let promise = self.new_promise()?;
        self.resolve(promise, value.clone())?;
        Ok(promise)
    }

    /// Returns the promise for the outcome of an async function.
    pub(super) fn promise_of(&mut self, outcome: Run) -> Run {
        let promise = self.new_promise()?;
        match outcome {
            Ok(value) => self.resolve(promise, value)?,
            Err(Stop::Throw(thrown)) => self.settle(promise, Outcome::Rejected, thrown)?,
            Err(refusal @ Stop::Refuse(_)) => return Err(refusal),
        }
        Ok(Value::Object(promise))
    }

    /// Fulfils a promise; with the value of another promise, once there is one.
    pub(crate) fn resolve(&mut self, promise: ObjectId, value: Value) -> Run<()> {
        if let Some(other) = self.as_promise(&value) {
            if other == promise {
                let error = self.type_error("a promise cannot wait for itself");
                return self.reject_with(promise, error);
            }
            return self.react(other, Reaction::Follow { result: promise });
        }
        // An object with a `then` of its own (a thenable) is treated as a promise.
        if let Value::Object(id) = &value
            && let Some(Content::Plain(fields)) = self.content(*id)
            && let Some(then) = fields.get("then").cloned()
            && self.is_callable(&then)
        {
            let fulfil = Content::Settler { promise, outcome: Outcome::Fulfilled };
            let reject = Content::Settler { promise, outcome: Outcome::Rejected };
            let settlers = [Value::Object(self.add(fulfil)?), Value::Object(self.add(reject)?)];
            return match self.deeper(|machine| machine.call(&then, &value, &settlers)) {
                Ok(_) => Ok(()),
                Err(error) => self.reject_with(promise, error),
            };
        }
        self.settle(promise, Outcome::Fulfilled, value)
    }

    pub(crate) fn reject_with(&mut self, promise: ObjectId, error: Stop) -> Run<()> {
        match error {
            Stop::Throw(thrown) => self.settle(promise, Outcome::Rejected, thrown),
            refusal @ Stop::Refuse(_) => Err(refusal),
        }
    }

    /// Implements the functions that settle a promise.
    pub(super) fn settle_by_call(&mut self, promise: ObjectId, outcome: Outcome, value: Value) -> Run<()> {
        match outcome {
            Outcome::Fulfilled => self.deeper(|machine| machine.resolve(promise, value)),
            Outcome::Rejected => self.settle(promise, Outcome::Rejected, value),
        }
    }

    /// Ends the waiting for a promise, the first time.
    #[expect(clippy::needless_pass_by_value, reason = "the promise keeps it")]
    pub(crate) fn settle(&mut self, promise: ObjectId, outcome: Outcome, value: Value) -> Run<()> {
        let Some(Content::Promise(state)) = self.content_mut(promise) else { return Ok(()) };
        let Promise::Pending(reactions) = state else { return Ok(()) };
        let reactions = std::mem::take(reactions);
        *state = Promise::Settled(outcome, value.clone());
        for reaction in reactions {
            self.queue(reaction, outcome, value.clone())?;
        }
        Ok(())
    }

    fn queue(&mut self, reaction: Reaction, outcome: Outcome, value: Value) -> Run<()> {
        self.bytes(size_of::<Job>())?;
        self.jobs.push_back(Job { reaction, outcome, value });
        Ok(())
    }

    /// Registers a reaction to a promise.
    pub(crate) fn react(&mut self, promise: ObjectId, reaction: Reaction) -> Run<()> {
        self.bytes(size_of::<Reaction>())?;
        let settled = match self.content_mut(promise) {
            Some(Content::Promise(Promise::Pending(reactions))) => {
                reactions.push(reaction);
                return Ok(());
            }
            Some(Content::Promise(Promise::Settled(outcome, value))) => (*outcome, value.clone()),
            _ => return Ok(()),
        };
        self.queue(reaction, settled.0, settled.1)
    }

    /// Returns the value of a promise, or the value itself. Pending jobs run until it is settled.
    pub(super) fn wait_for(&mut self, value: &Value) -> Run {
        if !self.may_be_promise(value) {
            return Ok(value.clone());
        }
        let promise = self.promise_for(value)?;
        self.deeper(|machine| {
            loop {
                if let Some(Content::Promise(Promise::Settled(outcome, value))) = machine.content(promise) {
                    let (outcome, value) = (*outcome, value.clone());
                    return if outcome == Outcome::Fulfilled { Ok(value) } else { Err(Stop::Throw(value)) };
                }
                machine.steps(1)?;
                let Some(job) = machine.jobs.pop_front() else { return Err(machine.never_settles()) };
                machine.run_job(job)?;
            }
        })
    }

    fn may_be_promise(&self, value: &Value) -> bool {
        matches!(value, Value::Object(id)
            if matches!(self.content(*id), Some(Content::Promise(_) | Content::Plain(_))))
    }

    fn never_settles(&self) -> Stop {
        EvalError::new(
            ErrorKind::Timeout,
            "the promise never settles: nothing that could settle it is left to run",
        )
        .at(self.at)
        .into()
    }

    fn run_job(&mut self, job: Job) -> Run<()> {
        let Job { reaction, outcome, value } = job;
        match reaction {
            Reaction::Then { fulfilled, rejected, result } => {
                let function = if outcome == Outcome::Fulfilled { fulfilled } else { rejected };
                if !self.is_callable(&function) {
                    return self.settle(result, outcome, value);
                }
                match self.call(&function, &Value::Undefined, &[value]) {
                    Ok(value) => self.resolve(result, value),
                    Err(error) => self.reject_with(result, error),
                }
            }
            Reaction::Finally { run, result } => match self.call(&run, &Value::Undefined, &[]) {
                Ok(other) => match self.wait_for(&other) {
                    Ok(_) => self.settle(result, outcome, value),
                    Err(error) => self.reject_with(result, error),
                },
                Err(error) => self.reject_with(result, error),
            },
            Reaction::Follow { result } => self.settle(result, outcome, value),
            Reaction::Member { group, place } => self.gather(group, place, outcome, value),
        }
    }

    /// One promise for many.
    pub(crate) fn group(&mut self, gathering: Gathering, values: &[Value]) -> Run {
        let result = self.new_promise()?;
        self.bytes(size_of_val(values))?;
        let group = self.groups.len();
        let left = values.len();
        self.groups.push(Group { gathering, values: vec![Value::Undefined; left], left, result });
        for (place, value) in values.iter().enumerate() {
            let promise = self.promise_for(value)?;
            self.react(promise, Reaction::Member { group, place })?;
        }
        if left == 0 {
            self.finish_group(group)?;
        }
        Ok(Value::Object(result))
    }

    fn gather(&mut self, group: usize, place: usize, outcome: Outcome, value: Value) -> Run<()> {
        let Some((gathering, result)) = self.groups.get(group).map(|group| (group.gathering, group.result))
        else {
            return Ok(());
        };
        let ends_it = match gathering {
            Gathering::Race => true,
            Gathering::All => outcome == Outcome::Rejected,
            Gathering::Any => outcome == Outcome::Fulfilled,
            Gathering::AllSettled => false,
        };
        if ends_it {
            return self.settle(result, outcome, value);
        }
        let value = if gathering == Gathering::AllSettled { self.account(outcome, value)? } else { value };
        let Some(state) = self.groups.get_mut(group) else { return Ok(()) };
        if let Some(slot) = state.values.get_mut(place) {
            *slot = value;
        }
        state.left = state.left.saturating_sub(1);
        if state.left == 0 { self.finish_group(group) } else { Ok(()) }
    }

    fn finish_group(&mut self, group: usize) -> Run<()> {
        let Some(state) = self.groups.get_mut(group) else { return Ok(()) };
        let (gathering, result) = (state.gathering, state.result);
        let values = std::mem::take(&mut state.values);
        match gathering {
            Gathering::Race => Ok(()),
            Gathering::Any => {
                let error = self.new_error(
                    "AggregateError",
                    Some(ErrorKind::Thrown),
                    "All promises were rejected".to_owned(),
                    None,
                )?;
                let errors = self.array(values)?;
                self.set(&Value::Object(error), &super::Key::Name("errors".into()), errors)?;
                self.settle(result, Outcome::Rejected, Value::Object(error))
            }
            Gathering::All | Gathering::AllSettled => {
                let all = self.array(values)?;
                self.settle(result, Outcome::Fulfilled, all)
            }
        }
    }

    /// `{status, value}` or `{status, reason}`.
    fn account(&mut self, outcome: Outcome, value: Value) -> Run {
        let (status, name) = match outcome {
            Outcome::Fulfilled => ("fulfilled", "value"),
            Outcome::Rejected => ("rejected", "reason"),
        };
        let fields: Fields = [("status".into(), status.into()), (name.into(), value)].into_iter().collect();
        self.plain(fields)
    }
}
