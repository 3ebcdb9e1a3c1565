//! Iteration over lists, texts, maps and sets, item by item, seeing changes made meanwhile.

use super::{Key, Machine, Run};
use crate::value::{Content, Iteration, ObjectId, Part, Value};

impl Machine<'_> {
    /// Creates an iterator object over another object.
    pub(crate) fn iterator(&mut self, over: Value, part: Part) -> Run {
        self.add(Content::Iterator(Iteration { over, part, at: Some(0) })).map(Value::Object)
    }

    /// Returns the iteration of a value, if it is iterable.
    pub(crate) fn iteration(&mut self, value: &Value) -> Run<Going> {
        let (is_iterator, part) = match value {
            Value::Text(_) => (false, Part::Value),
            Value::Object(id) => match self.content(*id) {
                Some(Content::Array(_) | Content::Set(_)) => (false, Part::Value),
                Some(Content::Boxed(inner @ Value::Text(_))) => {
                    let inner = inner.clone();
                    return self.iteration(&inner);
                }
                Some(Content::Map(_)) => (false, Part::Both),
                Some(Content::Iterator(_)) => (true, Part::Value),
                _ => return Err(self.not_a_list(value)),
            },
            _ => return Err(self.not_a_list(value)),
        };
        Ok(match value {
            Value::Object(id) if is_iterator => Going::Shared(*id),
            _ => Going::Own(Iteration { over: value.clone(), part, at: Some(0) }),
        })
    }

    /// The next item; none at the end.
    pub(crate) fn next(&mut self, going: &mut Going) -> Run<Option<Value>> {
        self.steps(1)?;
        match going {
            Going::Own(iteration) => self.step(iteration),
            Going::Shared(id) => {
                let id = *id;
                let Some(Content::Iterator(iteration)) = self.content(id) else { return Ok(None) };
                let mut iteration = iteration.clone();
                let next = self.step(&mut iteration)?;
                if let Some(Content::Iterator(kept)) = self.content_mut(id) {
                    kept.at = iteration.at;
                }
                Ok(next)
            }
        }
    }

    fn step(&mut self, iteration: &mut Iteration) -> Run<Option<Value>> {
        let Some(at) = iteration.at else { return Ok(None) };
        let found = match &iteration.over {
            Value::Text(text) => {
                let len = text.char_len(at);
                let part = text.as_str().get(at..at + len).filter(|part| !part.is_empty());
                let value = part.map(Value::text);
                iteration.at = value.is_some().then_some(at + len);
                self.bytes(len + size_of::<Value>())?;
                return Ok(value);
            }
            Value::Object(id) => self.entry_at(*id, at),
            _ => None,
        };
        let Some((place, key, value)) = found else {
            iteration.at = None;
            return Ok(None);
        };
        iteration.at = Some(place + 1);
        Ok(Some(match iteration.part {
            Part::Key => key,
            Part::Value => value,
            Part::Both => self.array(vec![key, value])?,
        }))
    }

    /// Returns the first entry at or after a position: its position, key and value.
    fn entry_at(&self, id: ObjectId, at: usize) -> Option<(usize, Value, Value)> {
        match self.content(id)? {
            Content::Array(items) => items.get(at).map(|item| (at, at.into(), item.or_undefined())),
            Content::Map(map) => {
                map.entry_at(at).map(|(place, pair)| (place, pair.0.clone(), pair.1.clone()))
            }
            Content::Set(set) => set.entry_at(at).map(|(place, value)| (place, value.clone(), value.clone())),
            _ => None,
        }
    }

    /// The values that `...` and patterns of lists go through.
    pub(crate) fn spread(&mut self, value: &Value) -> Run<Vec<Value>> {
        let mut going = self.iteration(value)?;
        let mut values = Vec::new();
        while let Some(value) = self.next(&mut going)? {
            self.bytes(size_of::<Value>())?;
            values.push(value);
        }
        Ok(values)
    }

    fn not_a_list(&mut self, value: &Value) -> super::Stop {
        let what = self.type_name(value);
        let what = if matches!(value, Value::Null) { "null" } else { what };
        self.type_error_fix(
            format!("{what} is not iterable: only lists, texts, maps, sets and what goes through them are"),
            "for the fields of an object, use Object.keys, values or entries",
        )
    }

    /// `{value, done}`, as `next` returns it.
    pub(crate) fn next_result(&mut self, next: Option<Value>) -> Run {
        let is_done = next.is_none();
        let result = self.plain(crate::value::Fields::new())?;
        self.set(&result, &Key::Name("value".into()), next.unwrap_or(Value::Undefined))?;
        self.set(&result, &Key::Name("done".into()), is_done.into())?;
        Ok(result)
    }
}

/// State of an iteration: local, or shared through the iterator object.
#[derive(Debug)]
pub(crate) enum Going {
    Own(Iteration),
    Shared(ObjectId),
}
