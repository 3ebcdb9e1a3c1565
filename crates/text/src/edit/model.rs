//! Edits on the values of a document, without its text.

use super::EditError;
use crate::document::{Format, Node, TableEntry, Value, parse};
use crate::position::TextPosition;

/// What happens at a path.
pub(super) enum Change {
    /// Appends tables to a list.
    Push(Vec<Value>),
    /// Removes a table from a list.
    RemoveAt(usize),
    /// Replaces a value that is no table.
    Set(Value),
    /// Appends a value to a list that does not contain it.
    Append(Value),
    /// Removes a value from a list.
    Remove(Value),
    /// Removes the entry of a table.
    RemoveKey,
}

/// Returns the values of a table that is written as a TOML document.
pub(super) fn table_of(text: &str) -> Result<Value, EditError> {
    let node = parse(text, Format::Toml, text.len()).map_err(|error| EditError::new(error.to_string()))?;
    Ok(node.value)
}

/// Returns a value that is written as TOML.
pub(super) fn value_of(text: &str) -> Result<Value, EditError> {
    let Value::Table(entries) = table_of(&format!("value = {text}\n"))? else {
        return Err(EditError::new("it is no value"));
    };
    match <[TableEntry; 1]>::try_from(entries) {
        Ok([entry]) if entry.key == "value" => Ok(entry.node.value),
        _ => Err(EditError::new("it is more than one value")),
    }
}

/// Whether two values are the same, wherever they stand.
pub(super) fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_same(&one.value, &other.value))
        }
        (Value::Table(entries), Value::Table(others)) => {
            entries.len() == others.len()
                && entries.iter().all(|entry| {
                    other.get(&entry.key).is_some_and(|there| is_same(&entry.node.value, &there.node.value))
                })
        }
        // A date is a string in YAML and JSON.
        (Value::Text(one) | Value::Date(one), Value::Text(other) | Value::Date(other)) => one == other,
        (one, other) => one == other,
    }
}

/// Returns a value without a position.
pub(super) fn node(value: Value) -> Node {
    Node { at: TextPosition::START, value }
}

/// Returns the value after a change at a path. With `prunes`, tables that a removal empties are removed, too.
pub(super) fn changed(
    value: &Value,
    path: &[&str],
    change: &Change,
    prunes: bool,
) -> Result<Value, EditError> {
    let mut value = value.clone();
    match (path, change) {
        ([], _) => return Err(EditError::new("no key is given")),
        (_, Change::RemoveKey) => remove_key(&mut value, path, prunes),
        ([.., last], _) => {
            let creates = matches!(change, Change::Push(_) | Change::Set(_) | Change::Append(_));
            match below(&mut value, path, creates)? {
                Some(slot) => apply(slot, last, change)?,
                None if matches!(change, Change::RemoveAt(_)) => return Err(missing(last)),
                None => {}
            }
            if matches!(change, Change::RemoveAt(_)) && is_empty_list(&value, path) {
                remove_key(&mut value, path, prunes);
            }
        }
    }
    Ok(value)
}

fn missing(key: &str) -> EditError {
    EditError::new(format!("`{key}` has no such table"))
}

fn apply(slot: &mut Value, key: &str, change: &Change) -> Result<(), EditError> {
    match change {
        Change::Set(new) => match slot {
            Value::Table(_) => return Err(EditError::new(format!("`{key}` is a table"))),
            slot => *slot = new.clone(),
        },
        Change::Push(new) => list_in(slot, key)?.extend(new.iter().cloned().map(node)),
        Change::Append(new) => {
            let list = list_in(slot, key)?;
            if !list.iter().any(|one| is_same(&one.value, new)) {
                list.push(node(new.clone()));
            }
        }
        Change::Remove(gone) => list_in(slot, key)?.retain(|one| !is_same(&one.value, gone)),
        Change::RemoveAt(index) => {
            let list = list_in(slot, key)?;
            if *index >= list.len() {
                return Err(missing(key));
            }
            list.remove(*index);
        }
        Change::RemoveKey => {}
    }
    Ok(())
}

/// Returns the list in a place, which a key without a value becomes.
fn list_in<'v>(slot: &'v mut Value, key: &str) -> Result<&'v mut Vec<Node>, EditError> {
    if *slot == Value::Nothing {
        *slot = Value::List(Vec::new());
    }
    match slot {
        Value::List(list) => Ok(list),
        _ => Err(EditError::new(format!("`{key}` is no list"))),
    }
}

/// Returns the value at a path. What is missing is created, or the path leads nowhere.
fn below<'v>(value: &'v mut Value, path: &[&str], creates: bool) -> Result<Option<&'v mut Value>, EditError> {
    let mut slot = value;
    let mut name = "the document";
    for key in path {
        if creates && *slot == Value::Nothing {
            *slot = Value::Table(Vec::new());
        }
        let Value::Table(entries) = slot else {
            return if *slot == Value::Nothing {
                Ok(None)
            } else {
                Err(EditError::new(format!("`{name}` is no table")))
            };
        };
        let at = entries.iter().position(|entry| entry.key == *key);
        let at = match at {
            Some(at) => at,
            None if creates => {
                let key = (*key).to_owned();
                entries.push(TableEntry { at: TextPosition::START, key, node: node(Value::Nothing) });
                entries.len() - 1
            }
            None => return Ok(None),
        };
        let Some(entry) = entries.get_mut(at) else { return Ok(None) };
        (slot, name) = (&mut entry.node.value, key);
    }
    Ok(Some(slot))
}

fn is_empty_list(value: &Value, path: &[&str]) -> bool {
    let end = path.iter().try_fold(value, |value, key| value.get(key).map(|entry| &entry.node.value));
    end.is_some_and(|end| matches!(end, Value::List(list) if list.is_empty()))
}

/// Removes a key below a table. The path has the depth of a configuration key, so the recursion is bounded by its caller.
fn remove_key(value: &mut Value, path: &[&str], prunes: bool) {
    let (Value::Table(entries), [first, rest @ ..]) = (value, path) else { return };
    let Some(at) = entries.iter().position(|entry| entry.key == *first) else { return };
    if let (false, Some(entry)) = (rest.is_empty(), entries.get_mut(at)) {
        remove_key(&mut entry.node.value, rest, prunes);
        if !prunes || !matches!(&entry.node.value, Value::Table(entries) if entries.is_empty()) {
            return;
        }
    }
    entries.remove(at);
}
