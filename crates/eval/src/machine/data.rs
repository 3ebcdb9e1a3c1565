//! Plain data on its way in and out.

use std::rc::Rc;

use super::{Machine, Run, is_forbidden};
use crate::builtins;
use crate::limits::{EvalLimits, too_deep};
use crate::text::{Text, has_halves};
use crate::value::{Content, Fields, ObjectId, Promise, Value};
use crate::{Data, ErrorKind, EvalError};

/// Bytes charged for each value of the result.
const BYTES_OF_DATA: usize = 8;

impl Machine<'_> {
    /// Converts data to values.
    pub(super) fn value_from(&mut self, data: &Data) -> Run {
        self.value_of(data, EvalLimits::MAX_DATA_DEPTH)
    }

    /// Converts data to a value. Names that reach prototypes in other engines are dropped.
    fn value_of(&mut self, data: &Data, levels: usize) -> Run {
        self.steps(1)?;
        let inner = levels.checked_sub(1);
        match data {
            Data::Undefined => Ok(Value::Undefined),
            Data::Null => Ok(Value::Null),
            Data::Bool(value) => Ok(Value::Bool(*value)),
            Data::Number(number) => Ok(Value::Number(*number)),
            Data::Text(text) => {
                self.no_reserved(text)?;
                self.bytes(text.len())?;
                Ok(Value::text(text.as_str()))
            }
            Data::Array(_) | Data::Object(_) if inner.is_none() => {
                Err(too_deep(EvalLimits::MAX_DATA_DEPTH).into())
            }
            Data::Array(items) => self.deeper(|machine| {
                let items = items
                    .iter()
                    .map(|item| machine.value_of(item, inner.unwrap_or(0)))
                    .collect::<Run<Vec<_>>>()?;
                machine.array(items)
            }),
            Data::Object(fields) => self.deeper(|machine| {
                let mut own = Fields::with_capacity(fields.len());
                for (key, value) in fields.iter().filter(|(key, _)| !is_forbidden(key)) {
                    machine.no_reserved(key)?;
                    machine.bytes(key.len())?;
                    let value = machine.value_of(value, inner.unwrap_or(0))?;
                    own.insert(Rc::from(key.as_str()), value);
                }
                machine.plain(own)
            }),
        }
    }

    /// Refuses characters that encode surrogates here.
    fn no_reserved(&self, text: &str) -> Run<()> {
        if !has_halves(text) {
            return Ok(());
        }
        Err(self.forbidden(
            "a text holds some of the last private characters of Unicode, which do not exist here",
            None,
        ))
    }

    /// Converts a value to data. Values without a data form are dropped: functions become `undefined`.
    pub(super) fn plain_data(&mut self, value: &Value) -> Run<Data> {
        let mut room = Room { bytes: self.options().limits.max_output, levels: EvalLimits::MAX_DATA_DEPTH };
        self.data_of(value, &mut room)
    }

    fn data_of(&mut self, value: &Value, room: &mut Room) -> Run<Data> {
        self.steps(1)?;
        self.take(room, BYTES_OF_DATA)?;
        Ok(match value {
            Value::Undefined | Value::Hole | Value::Method(_) | Value::Global(_) => Data::Undefined,
            Value::Null => Data::Null,
            Value::Bool(value) => Data::Bool(*value),
            Value::Number(number) => Data::Number(*number),
            Value::Text(text) => {
                self.take(room, text.as_str().len())?;
                Data::Text(text.well_formed().to_string())
            }
            Value::Object(id) => {
                let Some(levels) = room.levels.checked_sub(1) else {
                    return Err(too_deep(EvalLimits::MAX_DATA_DEPTH).into());
                };
                room.levels = levels;
                let data = self.deeper(|machine| machine.data_of_object(*id, room));
                room.levels += 1;
                return data;
            }
        })
    }

    fn data_of_object(&mut self, id: ObjectId, room: &mut Room) -> Run<Data> {
        let Some(content) = self.content(id) else { return Ok(Data::Undefined) };
        let items: Vec<Value> = match content {
            Content::Array(items) => {
                let len = items.len();
                return self.data_of_list(&Value::Object(id), len, room);
            }
            Content::Boxed(inner) => {
                let inner = inner.clone();
                return self.data_of(&inner, room);
            }
            // The remaining items.
            Content::Iterator(_) => self.spread(&Value::Object(id))?,
            Content::Set(set) => set.values().cloned().collect(),
            Content::Map(map) => {
                let pairs: Vec<_> = map.values().cloned().collect();
                let pairs = pairs.into_iter().map(|(key, value)| {
                    Ok(Data::Array(vec![self.data_of(&key, room)?, self.data_of(&value, room)?]))
                });
                return Ok(Data::Array(pairs.collect::<Run<_>>()?));
            }
            Content::Plain(fields) => {
                let fields: Vec<_> =
                    fields.iter().map(|(key, value)| (Rc::clone(key), value.clone())).collect();
                return self.data_of_fields(&fields, room);
            }
            Content::Error(error) => {
                let name = error.fields.get("name").cloned().unwrap_or_else(|| error.class.into());
                let mut fields = vec![("name".into(), name)];
                let others = error.fields.iter().filter(|(key, _)| ***key != *"name");
                fields.extend(others.map(|(key, value)| (Rc::clone(key), value.clone())));
                return self.data_of_fields(&fields, room);
            }
            Content::Date(time) => return Ok(builtins::iso_text(*time).map_or(Data::Null, Data::Text)),
            Content::Regex(regex) => {
                let text = format!("/{}/{}", regex.source, regex.flags);
                self.take(room, text.len())?;
                return Ok(Data::Text(text));
            }
            Content::Promise(Promise::Settled(_, value)) => {
                let value = value.clone();
                return self.data_of(&value, room);
            }
            Content::Promise(Promise::Pending(_))
            | Content::Closure(_)
            | Content::Bound { .. }
            | Content::Settler { .. } => return Ok(Data::Undefined),
        };
        self.steps(items.len())?;
        Ok(Data::Array(items.iter().map(|item| self.data_of(item, room)).collect::<Run<_>>()?))
    }

    /// Converts a list to data, item by item: each takes from the budget, so that a list without a budget is not
    /// begun.
    fn data_of_list(&mut self, list: &Value, len: usize, room: &mut Room) -> Run<Data> {
        self.steps(len)?;
        if len > room.bytes / BYTES_OF_DATA {
            return Err(too_long(self.options().limits.max_output).into());
        }
        let mut out = Vec::with_capacity(len);
        for at in 0..len {
            let item = self.item(list, at);
            out.push(self.data_of(&item, room)?);
        }
        Ok(Data::Array(out))
    }

    fn data_of_fields(&mut self, fields: &[(Rc<str>, Value)], room: &mut Room) -> Run<Data> {
        let mut own: Vec<(String, Data)> = Vec::with_capacity(fields.len());
        for key in self.in_order(fields) {
            let Some((name, value)) = fields.get(key) else { continue };
            self.take(room, name.len())?;
            let value = self.data_of(value, room)?;
            if value != Data::Undefined {
                own.push((Text::new(Rc::clone(name)).well_formed().to_string(), value));
            }
        }
        Ok(Data::Object(own))
    }

    /// Places first, as JavaScript lists them.
    fn in_order(&self, fields: &[(Rc<str>, Value)]) -> Vec<usize> {
        let place = |at: &usize| match fields.get(*at).map(|(name, _)| super::Key::of(name)) {
            Some(super::Key::Index(place)) => place,
            _ => usize::MAX,
        };
        let mut order: Vec<usize> = (0..fields.len()).collect();
        order.sort_by_key(place);
        order
    }

    fn take(&self, room: &mut Room, bytes: usize) -> Run<()> {
        match room.bytes.checked_sub(bytes) {
            Some(rest) => {
                room.bytes = rest;
                Ok(())
            }
            None => Err(too_long(self.options().limits.max_output).into()),
        }
    }
}

/// Remaining budget of a result.
struct Room {
    bytes: usize,
    levels: usize,
}

/// The refusal of a result that is too long.
pub(crate) fn too_long(limit: usize) -> EvalError {
    EvalError::new(ErrorKind::Memory, format!("the result takes more than {limit} bytes, the limit"))
        .fix("return less, or raise the limit of the output")
}
