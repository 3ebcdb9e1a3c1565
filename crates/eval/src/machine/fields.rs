//! Reading, writing and listing the fields of values.

use std::rc::Rc;

use super::heap::BYTES_OF_FIELD;
use super::stop::MAX_SHOWN;
use super::{Machine, Run, is_forbidden};
use crate::builtins;
use crate::value::{Content, Fields, Integrity, ObjectId, Value};

/// The name of a field, or the place in a list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Key {
    Index(usize),
    Name(Rc<str>),
}

impl Key {
    /// Makes a key of a name; an array index is a key of its own kind.
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

    /// As a message shows it: a name that is too long to be read is cut.
    pub(super) fn shown(&self) -> Rc<str> {
        let name = self.shared();
        match name.char_indices().nth(MAX_SHOWN) {
            Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()).into(),
            None => name,
        }
    }

    pub(super) fn is(&self, wanted: &str) -> bool {
        matches!(self, Self::Name(name) if **name == *wanted)
    }
}

/// Returns the array index that a name spells: digits without leading zeros.
pub(super) fn place(name: &str) -> Option<usize> {
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
    /// Converts a value to a key.
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

    /// Returns the value of a field; `undefined` if it is missing.
    pub(crate) fn get(&mut self, base: &Value, key: &Key) -> Run {
        if let Key::Name(name) = key
            && is_forbidden(name)
        {
            return Err(self.no_such_field(name));
        }
        match base {
            Value::Undefined | Value::Hole | Value::Null => Err(self.nothing_to_read(base, key)),
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
                key @ Key::Name(_) => self.member_of_kind(builtins::STRING, key),
            },
            Value::Number(_) => self.member_of_kind(builtins::NUMBER, key),
            Value::Bool(_) => self.member_of_kind(builtins::BOOLEAN, key),
            Value::Object(id) => self.get_of_object(*id, key),
            Value::Method(method) => match key {
                key if key.is("name") => Ok(method.name.into()),
                key if key.is("length") => Ok(f64::from(method.arity).into()),
                key => self.member_of_kind(builtins::FUNCTION, key),
            },
            Value::Global(global) => match key {
                key if key.is("name") && global.is_function() => Ok(global.name.into()),
                key if key.is("length") && global.is_function() => Ok(f64::from(global.arity).into()),
                Key::Name(name) => match global.field(name) {
                    Some(value) => Ok(value),
                    None if global.lacks(name) => {
                        Err(self.forbidden(format!("`{}.{name}` does not exist here", global.name), None))
                    }
                    None if global.is_function() => self.member_of_kind(builtins::FUNCTION, key),
                    None => self.member_of_kind(builtins::OBJECT, key),
                },
                Key::Index(_) => Ok(Value::Undefined),
            },
        }
    }

    /// Returns an own field, or a member that all objects of its kind have.
    fn get_of_object(&mut self, id: ObjectId, key: &Key) -> Run {
        let Some(content) = self.content(id) else { return Ok(Value::Undefined) };
        let own = match content {
            Content::Plain(fields) => field(fields, key),
            Content::Array(items) => match key {
                Key::Index(at) => return Ok(items.get(*at).map_or(Value::Undefined, Value::or_undefined)),
                key if key.is("length") => Some(items.len().into()),
                Key::Name(_) => None,
            },
            Content::Boxed(inner) => {
                let inner = inner.clone();
                return match self.field_beside(id, &key.shared()) {
                    Some(value) => Ok(value.clone()),
                    None => self.get(&inner, key),
                };
            }
            Content::Closure(_) | Content::Bound { .. } | Content::Settler { .. } => {
                self.field_of_function(content, key)
            }
            Content::Error(error) if key.is("stack") && !error.fields.contains_key("stack") => {
                let bytes = error.headline_bytes();
                self.bytes(bytes)?;
                let Some(Content::Error(error)) = self.content(id) else { return Ok(Value::Undefined) };
                Some(error.headline().into())
            }
            Content::Error(error) => field(&error.fields, key).or_else(|| match key {
                key if key.is("name") => Some(error.class.into()),
                key if key.is("message") => Some("".into()),
                _ => None,
            }),
            Content::Regex(regex) => match key {
                key if key.is("source") => Some(Value::text(Rc::clone(&regex.source))),
                key if key.is("flags") => Some(Value::text(Rc::clone(&regex.flags))),
                key if key.is("lastIndex") => Some(regex.last_index.clone()),
                Key::Name(name) => regex.flag(name).map(Value::Bool),
                Key::Index(_) => None,
            },
            Content::Map(map) if key.is("size") => Some(map.len().into()),
            Content::Set(set) if key.is("size") => Some(set.len().into()),
            Content::Map(_)
            | Content::Set(_)
            | Content::Date(_)
            | Content::Iterator(_)
            | Content::Promise(_) => None,
        };
        if let Some(own) = own {
            return Ok(own);
        }
        if let Some(value) = self.field_beside(id, &key.shared()) {
            return Ok(value.clone());
        }
        match self.content(id) {
            Some(content) => self.member_of_kind(builtins::methods_of(content), key),
            None => Ok(Value::Undefined),
        }
    }

    /// Returns a member that all values of a kind have. A member that JavaScript has and this crate lacks is refused.
    fn member_of_kind(&self, methods: &'static [builtins::Method], key: &Key) -> Run {
        let Key::Name(name) = key else { return Ok(Value::Undefined) };
        let found = match builtins::method(methods, name) {
            Value::Undefined => builtins::method(builtins::OBJECT, name),
            found => found,
        };
        if matches!(found, Value::Undefined) && builtins::is_absent(methods, name) {
            return Err(self.forbidden(format!("`{name}` does not exist here"), None));
        }
        Ok(found)
    }

    /// Returns the name or the length of a function of the program, or of one derived from it.
    fn field_of_function(&self, content: &Content, key: &Key) -> Option<Value> {
        let (name, length) = match content {
            Content::Closure(closure) => {
                let function = self.program.function(closure.function);
                let name = function.name.map(|symbol| self.program.name(symbol).into());
                let name = name.or_else(|| closure.name.clone()).unwrap_or_else(|| "".into());
                (name, function.parameters.iter().take_while(|one| one.default.is_none()).count())
            }
            Content::Bound { name, length, .. } => (Rc::clone(name), *length),
            Content::Settler { .. } => ("".into(), 1),
            _ => return None,
        };
        match key {
            key if key.is("name") => Some(Value::text(name)),
            key if key.is("length") => Some(length.into()),
            _ => None,
        }
    }

    pub(super) fn nothing_to_read(&mut self, base: &Value, key: &Key) -> super::Stop {
        let base = if matches!(base, Value::Null) { "null" } else { "undefined" };
        let key = key.shown();
        self.type_error_fix(format!("cannot read `{key}` of {base}"), "use ?. where there may be nothing")
    }

    pub(super) fn no_such_field(&self, name: &str) -> super::Stop {
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
                format!("`{}` cannot be set: built-in objects cannot be changed", key.shown()),
                None,
            )),
            Value::Undefined | Value::Hole | Value::Null => Err(self.nothing_to_set(base, key)),
            _ => {
                Err(self
                    .type_error(format!("cannot set `{}`: only objects and lists have fields", key.shown())))
            }
        }
    }

    fn nothing_to_set(&mut self, base: &Value, key: &Key) -> super::Stop {
        let base = if matches!(base, Value::Null) { "null" } else { "undefined" };
        self.type_error(format!("cannot set `{}` of {base}", key.shown()))
    }

    fn set_of_object(&mut self, id: ObjectId, key: &Key, value: Value) -> Run<()> {
        let integrity = self.integrity(id);
        if integrity == Integrity::Frozen {
            return Err(self.type_error(format!("cannot set `{}`: the object is frozen", key.shown())));
        }
        if integrity > Integrity::Open && !self.has_own(&Value::Object(id), key) {
            return Err(self.type_error(format!("cannot add `{}`: the object takes no fields", key.shown())));
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
                if let Some(Content::Regex(regex)) = self.content_mut(id) {
                    regex.last_index = value;
                }
                Ok(())
            }
            _ => {
                let name = key.shared();
                if self.is_fixed(id, key) {
                    return Err(self.type_error(format!("cannot set `{name}`: it never changes")));
                }
                if matches!(self.content(id), Some(Content::Promise(_))) {
                    return Err(self.forbidden(format!("`{name}` of a promise cannot be set here"), None));
                }
                self.set_beside(id, name, value)
            }
        }
    }

    /// Whether a field of a non-plain object belongs to its kind, and so never changes.
    pub(super) fn is_fixed(&self, id: ObjectId, key: &Key) -> bool {
        match self.content(id) {
            Some(Content::Closure(_) | Content::Bound { .. } | Content::Settler { .. }) => {
                key.is("name") || key.is("length")
            }
            Some(Content::Boxed(inner @ Value::Text(_))) => self.has_own(inner, key),
            Some(Content::Regex(regex)) => match key {
                Key::Name(name) => key.is("source") || key.is("flags") || regex.flag(name).is_some(),
                Key::Index(_) => false,
            },
            Some(Content::Map(_) | Content::Set(_)) => key.is("size"),
            _ => false,
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
            Key::Name(name) => return self.set_beside(id, Rc::clone(name), value),
        };
        self.bytes(new_len.saturating_sub(len).saturating_mul(size_of::<Value>()))?;
        self.steps(new_len.saturating_sub(len) / 8)?;
        if let Some(Content::Array(items)) = self.content_mut(id) {
            items.resize(new_len, Value::Hole);
            if let Some(item) = place.and_then(|at| items.get_mut(at)) {
                *item = value;
            }
        }
        Ok(())
    }

    /// A length that a list can have.
    pub(crate) fn length_of(&mut self, value: &Value) -> Run<usize> {
        let length = self.number_of(value)?;
        if length < 0.0 || length.fract() != 0.0 || length > f64::from(u32::MAX) {
            return Err(self.range_error("Invalid array length"));
        }
        Ok(length as usize)
    }
}

fn field(fields: &Fields, key: &Key) -> Option<Value> {
    match key {
        Key::Name(name) => fields.get(&**name).cloned(),
        Key::Index(_) => fields.get(&*key.shared()).cloned(),
    }
}
