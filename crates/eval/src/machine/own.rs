//! Which fields a value has itself: taking them away, asking for them and listing them.

use std::rc::Rc;

use super::fields::place;
use super::{Key, Machine, Run, is_forbidden};
use crate::value::{Content, Integrity, Value};

impl Machine<'_> {
    /// Deletes a field.
    pub(crate) fn delete(&mut self, base: &Value, key: &Key) -> Run<()> {
        if let Key::Name(name) = key
            && is_forbidden(name)
        {
            return Err(self.no_such_field(name));
        }
        let id = match base {
            Value::Undefined | Value::Hole | Value::Null => return Err(self.nothing_to_read(base, key)),
            Value::Object(id) => *id,
            Value::Method(_) | Value::Global(_) => {
                return Err(self.forbidden(
                    format!("`{}` cannot be deleted: built-in objects cannot be changed", key.shown()),
                    None,
                ));
            }
            _ if self.has_own(base, key) => {
                return Err(self.type_error(format!("cannot delete `{}`", key.shown())));
            }
            _ => return Ok(()),
        };
        let is_there = self.has_own(base, key);
        let is_kept = self.integrity(id) > Integrity::Closed
            || matches!(self.content(id), Some(Content::Array(_)) if key.is("length"))
            || matches!(self.content(id), Some(Content::Regex(_)) if key.is("lastIndex"))
            || matches!(self.content(id), Some(Content::Boxed(_))) && self.is_fixed(id, key);
        if is_there && is_kept {
            return Err(self.type_error(format!("cannot delete `{}`: it never goes", key.shown())));
        }
        if is_there
            && matches!(self.content(id), Some(Content::Closure(_) | Content::Bound { .. }))
            && self.is_fixed(id, key)
        {
            return Err(
                self.forbidden(format!("`{}` of a function cannot be deleted here", key.shared()), None)
            );
        }
        let name = key.shared();
        let size = match self.content_mut(id) {
            Some(Content::Plain(fields)) => {
                fields.shift_remove(&*name);
                fields.len()
            }
            Some(Content::Error(error)) => {
                error.fields.shift_remove(&*name);
                error.fields.len()
            }
            Some(Content::Array(items)) if matches!(key, Key::Index(_)) => {
                if let Some(item) = place(&name).and_then(|at| items.get_mut(at)) {
                    *item = Value::Hole;
                }
                0
            }
            _ => self.beside.get_mut(&id).map_or(0, |fields| {
                fields.shift_remove(&*name);
                fields.len()
            }),
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
            Value::Object(id) => {
                let has = match self.content(*id) {
                    Some(Content::Plain(fields)) => fields.contains_key(&*key.shared()),
                    Some(Content::Error(error)) => error.fields.contains_key(&*key.shared()),
                    Some(Content::Array(items)) => match key {
                        Key::Index(at) => items.get(*at).is_some_and(|item| !matches!(item, Value::Hole)),
                        key @ Key::Name(_) => key.is("length"),
                    },
                    Some(Content::Boxed(inner)) => self.has_own(inner, key),
                    Some(Content::Closure(_) | Content::Bound { .. } | Content::Settler { .. }) => {
                        key.is("name") || key.is("length")
                    }
                    Some(Content::Regex(_)) => key.is("lastIndex"),
                    _ => false,
                };
                has || self.field_beside(*id, &key.shared()).is_some()
            }
            Value::Method(_) => key.is("name") || key.is("length"),
            Value::Global(global) => match key {
                Key::Name(name) => {
                    global.field(name).is_some()
                        || (global.is_function() && (key.is("name") || key.is("length")))
                }
                Key::Index(_) => false,
            },
            _ => false,
        }
    }

    /// Whether a field of its own is listed where fields are.
    pub(crate) fn is_listed(&self, base: &Value, key: &Key) -> bool {
        let Value::Object(id) = base else { return matches!(key, Key::Index(_)) && self.has_own(base, key) };
        match self.content(*id) {
            Some(Content::Plain(_)) => self.has_own(base, key),
            Some(Content::Error(error)) => {
                error.fields.contains_key(&*key.shared()) && !is_quiet_in_errors(&key.shared())
            }
            Some(Content::Array(_)) if matches!(key, Key::Index(_)) => self.has_own(base, key),
            Some(Content::Boxed(inner)) if self.is_listed(inner, key) => true,
            _ => self.field_beside(*id, &key.shared()).is_some(),
        }
    }

    /// The names of the fields that are listed: places first, then as they were added.
    pub(crate) fn own_keys(&mut self, base: &Value) -> Run<Vec<Rc<str>>> {
        let mut keys: Vec<Rc<str>> = match base {
            Value::Text(text) => {
                let units = text.units();
                self.steps(units)?;
                self.bytes(units * 32)?;
                (0..units).map(|at| at.to_string().into()).collect()
            }
            Value::Object(id) => match self.content(*id) {
                Some(Content::Array(items)) => {
                    let len = items.len();
                    self.steps(len)?;
                    self.bytes(len * 32)?;
                    (0..len).filter(|at| self.has_item(base, *at)).map(|at| at.to_string().into()).collect()
                }
                Some(Content::Plain(fields)) => sorted(fields.keys().cloned()),
                Some(Content::Error(error)) => {
                    sorted(error.fields.keys().filter(|key| !is_quiet_in_errors(key)).cloned())
                }
                Some(Content::Boxed(inner)) => {
                    let inner = inner.clone();
                    self.own_keys(&inner)?
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        if let Value::Object(id) = base
            && let Some(beside) = self.beside.get(id)
        {
            keys.extend(sorted(beside.keys().cloned()));
        }
        self.steps(keys.len())?;
        self.bytes(keys.len() * size_of::<Rc<str>>())?;
        Ok(keys)
    }
}

/// Fields of errors that are there and not listed.
fn is_quiet_in_errors(name: &str) -> bool {
    matches!(name, "message" | "cause" | "errors")
}

fn sorted(keys: impl Iterator<Item = Rc<str>>) -> Vec<Rc<str>> {
    let mut keys: Vec<Rc<str>> = keys.collect();
    if keys.iter().any(|key| place(key).is_some()) {
        // A stable sort: names, which have no index, keep their order behind the indices.
        keys.sort_by_key(|key| place(key).unwrap_or(usize::MAX));
    }
    keys
}
