//! Reading, writing and listing the fields of values.

use std::rc::Rc;

use super::heap::BYTES_OF_FIELD;
use super::{Machine, Run, is_forbidden};
use crate::builtins;
use crate::value::{Content, Fields, Object, ObjectId, Value};

/// The name of a field, or the place in a list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Key {
    Index(usize),
    Name(Rc<str>),
}

impl Key {
    /// A name; what is written as a place is one.
    pub(crate) fn of(name: &Rc<str>) -> Self {
        match place(name) {
            Some(place) => Self::Index(place),
            None => Self::Name(Rc::clone(name)),
        }
    }

    pub(crate) fn shared(&self) -> Rc<str> {
        match self {
            Self::Index(index) => index.to_string().into(),
            Self::Name(name) => Rc::clone(name),
        }
    }

    fn is(&self, wanted: &str) -> bool {
        matches!(self, Self::Name(name) if **name == *wanted)
    }
}

/// The place that a name writes: digits without a needless zero.
fn place(name: &str) -> Option<usize> {
    let is_place = name.len() <= 10
        && name.bytes().all(|byte| byte.is_ascii_digit())
        && (name.len() == 1 || !name.starts_with('0'));
    if !is_place {
        None
    } else {
        name.parse::<u32>().ok().filter(|place| *place < u32::MAX).map(|place| place as usize)
    }
}

impl Machine<'_> {
    /// The key that a value stands for.
    pub(crate) fn key(&mut self, value: &Value) -> Run<Key> {
        if let Value::Number(number) = value
            && *number >= 0.0
            && number.fract() == 0.0
            && *number < f64::from(u32::MAX)
        {
            return Ok(Key::Index(*number as usize));
        }
        let text = self.text_of(value)?;
        self.steps(text.as_str().len() / 64)?;
        Ok(Key::of(&text.shared()))
    }

    /// The value of a field; `undefined` where there is none.
    pub(crate) fn get(&mut self, base: &Value, key: &Key) -> Run {
        if let Key::Name(name) = key
            && is_forbidden(name)
        {
            return Err(self.no_such_field(name));
        }
        match base {
            Value::Undefined | Value::Null => Err(self.nothing_to_read(base, key)),
            Value::Text(text) => match key {
                Key::Index(at) => {
                    let (text, at) = (text.clone(), *at);
                    let unit = if at < text.units() { Some(text.slice(at, at + 1)) } else { None };
                    if !text.is_ascii() {
                        self.steps(text.units() / 16)?;
                    }
                    Ok(unit.map_or(Value::Undefined, Value::Text))
                }
                Key::Name(name) if **name == *"length" => Ok(text.units().into()),
                key @ Key::Name(_) => Ok(named(builtins::STRING, key)),
            },
            Value::Number(_) => Ok(named(builtins::NUMBER, key)),
            Value::Bool(_) => Ok(named(builtins::BOOLEAN, key)),
            Value::Object(id) => Ok(self.get_of_object(*id, key)),
            Value::Method(method) => Ok(match key {
                key if key.is("name") => method.name.into(),
                key if key.is("length") => f64::from(method.arity).into(),
                key => named(builtins::FUNCTION, key),
            }),
            Value::Global(global) => Ok(match key {
                key if key.is("name") && global.is_function() => global.name.into(),
                Key::Name(name) => global.field(name).unwrap_or_else(|| named(builtins::FUNCTION, key)),
                Key::Index(_) => Value::Undefined,
            }),
        }
    }

    /// What an object has itself, or what all of its kind have.
    fn get_of_object(&self, id: ObjectId, key: &Key) -> Value {
        let Some(content) = self.content(id) else { return Value::Undefined };
        let own = match content {
            Content::Plain(fields) => field(fields, key),
            Content::Array(items) => match key {
                Key::Index(at) => return items.get(*at).cloned().unwrap_or(Value::Undefined),
                key if key.is("length") => Some(items.len().into()),
                Key::Name(name) => self.field_of_match(id, name),
            },
            Content::Closure(_) | Content::Bound { .. } => self.field_of_function(content, key),
            Content::Error(error) => field(&error.fields, key).or_else(|| match key {
                key if key.is("name") => Some(error.class.into()),
                key if key.is("stack") => Some(error.headline().into()),
                _ => None,
            }),
            Content::Regex(regex) => match key {
                key if key.is("source") => Some(Value::text(Rc::clone(&regex.source))),
                key if key.is("flags") => Some(Value::text(Rc::clone(&regex.flags))),
                key if key.is("lastIndex") => Some(regex.last_index.into()),
                Key::Name(name) => regex.flag(name).map(Value::Bool),
                Key::Index(_) => None,
            },
            Content::Map(map) if key.is("size") => Some(map.len().into()),
            Content::Set(set) if key.is("size") => Some(set.len().into()),
            Content::Map(_)
            | Content::Set(_)
            | Content::Date(_)
            | Content::Promise(_)
            | Content::Settler { .. } => None,
        };
        own.unwrap_or_else(|| match key {
            Key::Name(name) => match builtins::method(builtins::methods_of(content), name) {
                Value::Undefined => builtins::method(builtins::OBJECT, name),
                found => found,
            },
            Key::Index(_) => Value::Undefined,
        })
    }

    fn field_of_function(&self, content: &Content, key: &Key) -> Option<Value> {
        let Content::Closure(closure) = content else { return None };
        let function = self.program.function(closure.function);
        if key.is("name") {
            let name = function.name.map(|symbol| self.program.name(symbol).into());
            return Some(Value::text(name.or_else(|| closure.name.clone()).unwrap_or_else(|| "".into())));
        }
        key.is("length")
            .then(|| function.parameters.iter().take_while(|one| one.default.is_none()).count().into())
    }

    fn nothing_to_read(&mut self, base: &Value, key: &Key) -> super::Stop {
        let base = if matches!(base, Value::Null) { "null" } else { "undefined" };
        let key = key.shared();
        self.type_error_fix(format!("cannot read `{key}` of {base}"), "use ?. where there may be nothing")
    }

    fn no_such_field(&self, name: &str) -> super::Stop {
        let fix = match name {
            "constructor" => Some("to ask for a kind, use instanceof, typeof or Array.isArray"),
            _ => None,
        };
        self.forbidden(format!("`{name}` does not exist here: there is nothing behind an object"), fix)
    }

    /// Sets a field.
    pub(crate) fn set(&mut self, base: &Value, key: &Key, value: Value) -> Run<()> {
        if let Key::Name(name) = key
            && is_forbidden(name)
        {
            return Err(self.no_such_field(name));
        }
        match base {
            Value::Object(id) => self.set_of_object(*id, key, value),
            Value::Method(_) | Value::Global(_) => Err(self.forbidden(
                format!("`{}` cannot be set: what is built in never changes", key.shared()),
                None,
            )),
            Value::Undefined | Value::Null => Err(self.nothing_to_set(base, key)),
            _ => {
                Err(self
                    .type_error(format!("cannot set `{}`: only objects and lists have fields", key.shared())))
            }
        }
    }

    fn nothing_to_set(&mut self, base: &Value, key: &Key) -> super::Stop {
        let base = if matches!(base, Value::Null) { "null" } else { "undefined" };
        self.type_error(format!("cannot set `{}` of {base}", key.shared()))
    }

    fn set_of_object(&mut self, id: ObjectId, key: &Key, value: Value) -> Run<()> {
        if self.object(id).is_some_and(|object| object.is_frozen) {
            return Err(self.type_error(format!("cannot set `{}`: the object is frozen", key.shared())));
        }
        match self.content(id) {
            Some(Content::Array(_)) => self.set_item(id, key, value),
            Some(Content::Plain(_) | Content::Error(_)) => {
                let name = key.shared();
                self.bytes(BYTES_OF_FIELD + name.len())?;
                match self.content_mut(id) {
                    Some(Content::Plain(fields)) => fields.insert(name, value),
                    Some(Content::Error(error)) => error.fields.insert(name, value),
                    _ => None,
                };
                Ok(())
            }
            Some(Content::Regex(_)) if key.is("lastIndex") => {
                let index = self.integer_of(&value)?.max(0.0) as usize;
                if let Some(Content::Regex(regex)) = self.content_mut(id) {
                    regex.last_index = index;
                }
                Ok(())
            }
            _ => {
                Err(self
                    .type_error(format!("cannot set `{}`: only objects and lists have fields", key.shared())))
            }
        }
    }

    fn set_item(&mut self, id: ObjectId, key: &Key, value: Value) -> Run<()> {
        let len = match self.content(id) {
            Some(Content::Array(items)) => items.len(),
            _ => 0,
        };
        let (place, new_len) = match key {
            Key::Index(at) => (Some(*at), len.max(at + 1)),
            key @ Key::Name(_) if key.is("length") => (None, self.length_of(&value)?),
            key @ Key::Name(_) => {
                return Err(self.type_error(format!("cannot set `{}` of a list", key.shared())));
            }
        };
        self.bytes(new_len.saturating_sub(len).saturating_mul(size_of::<Value>()))?;
        self.steps(new_len.saturating_sub(len) / 8)?;
        if let Some(Content::Array(items)) = self.content_mut(id) {
            items.resize(new_len, Value::Undefined);
            if let Some(item) = place.and_then(|at| items.get_mut(at)) {
                *item = value;
            }
        }
        Ok(())
    }

    /// A length that a list can have.
    pub(crate) fn length_of(&mut self, value: &Value) -> Run<usize> {
        let length = self.number_of(value)?;
        if length < 0.0 || length.fract() != 0.0 || length >= f64::from(u32::MAX) {
            return Err(self.range_error("Invalid array length"));
        }
        Ok(length as usize)
    }

    /// Takes a field away.
    pub(crate) fn delete(&mut self, base: &Value, key: &Key) -> Run<()> {
        let Value::Object(id) = base else { return Ok(()) };
        if self.object(*id).is_some_and(|object| object.is_frozen) {
            return Err(self.type_error("the object is frozen"));
        }
        let name = key.shared();
        let size = match self.content_mut(*id) {
            Some(Content::Plain(fields)) => {
                fields.shift_remove(&*name);
                fields.len()
            }
            Some(Content::Error(error)) => {
                error.fields.shift_remove(&*name);
                error.fields.len()
            }
            Some(Content::Array(items)) => {
                if let Some(item) = place(&name).and_then(|at| items.get_mut(at)) {
                    *item = Value::Undefined;
                }
                0
            }
            _ => 0,
        };
        self.steps(size / 8)
    }

    /// Whether a value has a field of its own.
    pub(crate) fn has_own(&self, base: &Value, key: &Key) -> bool {
        match base {
            Value::Text(text) => match key {
                Key::Index(at) => *at < text.units(),
                key @ Key::Name(_) => key.is("length"),
            },
            Value::Object(id) => match self.content(*id) {
                Some(Content::Plain(fields)) => fields.contains_key(&*key.shared()),
                Some(Content::Error(error)) => error.fields.contains_key(&*key.shared()),
                Some(Content::Array(items)) => match key {
                    Key::Index(at) => *at < items.len(),
                    key @ Key::Name(_) => key.is("length"),
                },
                _ => false,
            },
            Value::Global(global) => matches!(key, Key::Name(name) if global.field(name).is_some()),
            _ => false,
        }
    }

    /// The names of the fields: places first, then as they were added.
    pub(crate) fn own_keys(&mut self, base: &Value) -> Run<Vec<Rc<str>>> {
        let count = match base {
            Value::Text(text) => Ok(text.units()),
            Value::Object(id) => match self.object(*id) {
                Some(Object { content: Content::Array(items), .. }) => Ok(items.len()),
                Some(Object { content: Content::Plain(fields), .. }) => Err(sorted(fields.keys().cloned())),
                Some(Object { content: Content::Error(error), .. }) => {
                    Err(sorted(error.fields.keys().filter(|key| ***key != *"message").cloned()))
                }
                _ => Ok(0),
            },
            _ => Ok(0),
        };
        let keys: Vec<Rc<str>> = match count {
            Ok(count) => {
                self.steps(count)?;
                self.bytes(count * 32)?;
                (0..count).map(|at| at.to_string().into()).collect()
            }
            Err(keys) => keys,
        };
        self.steps(keys.len())?;
        self.bytes(keys.len() * size_of::<Rc<str>>())?;
        Ok(keys)
    }
}

fn sorted(keys: impl Iterator<Item = Rc<str>>) -> Vec<Rc<str>> {
    let mut keys: Vec<Rc<str>> = keys.collect();
    if keys.iter().any(|key| place(key).is_some()) {
        // A stable sort: names, which have no place, keep their order behind the places.
        keys.sort_by_key(|key| place(key).unwrap_or(usize::MAX));
    }
    keys
}

fn field(fields: &Fields, key: &Key) -> Option<Value> {
    match key {
        Key::Name(name) => fields.get(&**name).cloned(),
        Key::Index(_) => fields.get(&*key.shared()).cloned(),
    }
}

fn named(methods: &'static [builtins::Method], key: &Key) -> Value {
    match key {
        Key::Name(name) => match builtins::method(methods, name) {
            Value::Undefined => builtins::method(builtins::OBJECT, name),
            found => found,
        },
        Key::Index(_) => Value::Undefined,
    }
}
