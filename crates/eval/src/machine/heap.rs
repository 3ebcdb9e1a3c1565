//! The list of objects.

use super::{Machine, Run};
use crate::text::Text;
use crate::value::{Closure, Content, Fields, Object, ObjectId, Value};

/// What an object takes besides what it holds.
const BYTES_OF_OBJECT: usize = size_of::<Object>();

/// What a field takes besides its name.
pub(super) const BYTES_OF_FIELD: usize = size_of::<Value>() + 4 * size_of::<usize>();

impl Machine<'_> {
    /// Adds an object. What it holds was counted by whoever made it.
    pub(crate) fn add(&mut self, content: Content) -> Run<ObjectId> {
        self.bytes(BYTES_OF_OBJECT)?;
        let place = u32::try_from(self.objects.len()).unwrap_or(u32::MAX);
        self.objects.push(Object { is_frozen: false, content });
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

    pub(crate) fn freeze(&mut self, id: ObjectId) {
        self.objects.get_mut(id.0 as usize).into_iter().for_each(|object| object.is_frozen = true);
    }

    /// Makes a list.
    pub(crate) fn array(&mut self, items: Vec<Value>) -> Run {
        self.bytes(items.len() * size_of::<Value>())?;
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
        if self.object(*id).is_some_and(|object| object.is_frozen) {
            return Err(self.type_error("the list is frozen"));
        }
        if !matches!(self.content(*id), Some(Content::Array(_))) {
            return Err(self.type_error("this is no list"));
        }
        match self.content_mut(*id) {
            Some(Content::Array(items)) => Ok(items),
            _ => Err(super::Stop::Throw(Value::Undefined)),
        }
    }

    /// Begins to write a list as text; false where that is under way already.
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

    /// Says of a list that it is what a regular expression has found.
    pub(crate) fn describe_match(
        &mut self,
        list: &Value,
        index: usize,
        input: &Text,
        groups: Value,
    ) -> Run<()> {
        self.bytes(64)?;
        if let Value::Object(id) = list {
            self.matches.insert(*id, (index, input.clone(), groups));
        }
        Ok(())
    }

    /// What a list has beside its items, if a regular expression has found it.
    pub(super) fn field_of_match(&self, id: ObjectId, name: &str) -> Option<Value> {
        let (index, input, groups) = self.matches.get(&id)?;
        match name {
            "index" => Some((*index).into()),
            "input" => Some(Value::Text(input.clone())),
            "groups" => Some(groups.clone()),
            _ => None,
        }
    }

    /// The item at a place of a list; `undefined` where there is none.
    pub(crate) fn item(&self, list: &Value, at: usize) -> Value {
        self.items(list).and_then(|items| items.get(at)).cloned().unwrap_or(Value::Undefined)
    }
}
