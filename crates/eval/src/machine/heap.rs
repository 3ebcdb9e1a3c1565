//! The list of objects.

use std::rc::Rc;

use super::{Machine, Run};
use crate::text::Text;
use crate::value::{Closure, Content, Fields, Integrity, Object, ObjectId, Value};

/// Bytes of an object besides its contents.
const BYTES_OF_OBJECT: usize = size_of::<Object>();

/// Bytes of a field besides its name.
pub(super) const BYTES_OF_FIELD: usize = size_of::<Value>() + 4 * size_of::<usize>();

impl Machine<'_> {
    /// Adds an object. The caller has charged its contents.
    pub(crate) fn add(&mut self, content: Content) -> Run<ObjectId> {
        self.bytes(BYTES_OF_OBJECT)?;
        let place = u32::try_from(self.objects.len()).unwrap_or(u32::MAX);
        self.objects.push(Object { integrity: Integrity::Open, content });
        Ok(ObjectId(place))
    }

    pub(crate) fn object(&self, id: ObjectId) -> Option<&Object> {
        self.objects.get(id.0 as usize)
    }

    pub(crate) fn content(&self, id: ObjectId) -> Option<&Content> {
        self.object(id).map(|object| &object.content)
    }

    pub(crate) fn content_mut(&mut self, id: ObjectId) -> Option<&mut Content> {
        self.objects.get_mut(id.0 as usize).map(|object| &mut object.content)
    }

    /// Raises the integrity level of an object; it never falls.
    pub(crate) fn close(&mut self, id: ObjectId, integrity: Integrity) {
        if let Some(object) = self.objects.get_mut(id.0 as usize) {
            object.integrity = object.integrity.max(integrity);
        }
    }

    pub(crate) fn integrity(&self, id: ObjectId) -> Integrity {
        self.object(id).map_or(Integrity::Open, |object| object.integrity)
    }

    /// Makes a list.
    pub(crate) fn array(&mut self, items: Vec<Value>) -> Run {
        self.bytes(items.len() * size_of::<Value>())?;
        self.counted_array(items)
    }

    /// Makes a list of items that were charged one by one, before they were stored.
    pub(crate) fn counted_array(&mut self, items: Vec<Value>) -> Run {
        self.add(Content::Array(items)).map(Value::Object)
    }

    /// Makes an object.
    pub(crate) fn plain(&mut self, fields: Fields) -> Run {
        self.bytes(fields.len() * BYTES_OF_FIELD)?;
        self.add(Content::Plain(fields)).map(Value::Object)
    }

    /// Makes a text.
    pub(crate) fn new_text(&mut self, text: String) -> Run {
        self.bytes(text.len())?;
        Ok(Value::text(text))
    }

    /// Returns the wrapper object of a primitive, or the value itself.
    pub(crate) fn boxed(&mut self, value: &Value) -> Run {
        match value {
            Value::Text(_) | Value::Number(_) | Value::Bool(_) => {
                self.add(Content::Boxed(value.clone())).map(Value::Object)
            }
            _ => Ok(value.clone()),
        }
    }

    /// Returns the primitive of a wrapper object, or the value itself.
    pub(crate) fn unboxed(&self, value: &Value) -> Value {
        match value {
            Value::Object(id) => match self.content(*id) {
                Some(Content::Boxed(inner)) => inner.clone(),
                _ => value.clone(),
            },
            _ => value.clone(),
        }
    }

    /// A function of the program, as it is written there.
    pub(crate) fn written_as(&self, function: &Value) -> Option<String> {
        let Value::Object(id) = function else { return None };
        let Some(Content::Closure(closure)) = self.content(*id) else { return None };
        let span = self.program.function(closure.function).span;
        self.program.source.get(span.start..span.end).map(str::to_owned)
    }

    pub(super) fn closure(&mut self, closure: Closure) -> Run {
        self.closures += 1;
        self.add(Content::Closure(closure)).map(Value::Object)
    }

    /// The items, where the value is a list.
    pub(crate) fn items(&self, value: &Value) -> Option<&Vec<Value>> {
        let Value::Object(id) = value else { return None };
        match self.content(*id) {
            Some(Content::Array(items)) => Some(items),
            _ => None,
        }
    }

    /// The items of a list, to be changed.
    pub(crate) fn items_mut(&mut self, value: &Value) -> Run<&mut Vec<Value>> {
        let Value::Object(id) = value else { return Err(self.type_error("this is no list")) };
        if self.integrity(*id) > Integrity::Open {
            return Err(self.type_error("the list is frozen, sealed or closed"));
        }
        if !matches!(self.content(*id), Some(Content::Array(_))) {
            return Err(self.type_error("this is no list"));
        }
        match self.content_mut(*id) {
            Some(Content::Array(items)) => Ok(items),
            _ => Err(super::Stop::Throw(Value::Undefined)),
        }
    }

    /// Starts to convert a list to text; returns false if that is in progress already (a cycle).
    pub(crate) fn enter_list(&mut self, list: &Value) -> bool {
        let Value::Object(id) = list else { return false };
        let is_new = !self.written.contains(id);
        if is_new {
            self.written.push(*id);
        }
        is_new
    }

    pub(crate) fn leave_list(&mut self) {
        self.written.pop();
    }

    /// Adds a field to a non-plain object.
    pub(crate) fn set_beside(&mut self, id: ObjectId, name: Rc<str>, value: Value) -> Run<()> {
        self.bytes(BYTES_OF_FIELD + name.len())?;
        self.beside.entry(id).or_default().insert(name, value);
        Ok(())
    }

    /// Marks a list as the result of a match.
    pub(crate) fn describe_match(
        &mut self,
        list: &Value,
        index: usize,
        input: &Text,
        groups: Value,
    ) -> Run<()> {
        let Value::Object(id) = list else { return Ok(()) };
        for (name, value) in
            [("index", index.into()), ("input", Value::Text(input.clone())), ("groups", groups)]
        {
            self.set_beside(*id, name.into(), value)?;
        }
        Ok(())
    }

    /// Returns an additional field of a non-plain object.
    pub(super) fn field_beside(&self, id: ObjectId, name: &str) -> Option<&Value> {
        if self.beside.is_empty() {
            return None;
        }
        self.beside.get(&id)?.get(name)
    }

    /// Returns the item at an index of a list; `undefined` if it is missing.
    pub(crate) fn item(&self, list: &Value, at: usize) -> Value {
        self.items(list).and_then(|items| items.get(at)).map_or(Value::Undefined, Value::or_undefined)
    }

    /// Whether a list has an item at a place.
    pub(crate) fn has_item(&self, list: &Value, at: usize) -> bool {
        self.items(list).and_then(|items| items.get(at)).is_some_and(|item| !matches!(item, Value::Hole))
    }
}
