//! `JSON`.

mod parse;

use std::rc::Rc;

use super::{Method, argument, method_row};
use crate::convert;
use crate::data::{quoted, quoted_len};
use crate::machine::{Key, Machine, Run};
use crate::text::{half_of, has_halves};
use crate::value::{Content, Fields, Value};

impl Machine<'_> {
    /// Returns the primitive value of `new String(…)` and similar objects.
    fn simple_of_boxed(&mut self, value: &Value) -> Run {
        match self.unboxed(value) {
            Value::Text(_) => self.text_of(value).map(Value::Text),
            Value::Number(_) => self.number_of(value).map(Value::Number),
            other => Ok(other),
        }
    }
}

pub(super) static STATICS: &[Method] =
    &[method_row("parse", 2, parse::parse), method_row("stringify", 3, stringify)];

/// How a value is written.
struct Writer {
    out: String,
    gap: String,
    replacer: Option<Value>,
    /// The only fields to write, if a list of names was given.
    names: Option<Rc<[Rc<str>]>>,
    open: Vec<crate::value::ObjectId>,
}

fn stringify(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let replacer = argument(arguments, 1);
    let names = match machine.items(replacer).cloned() {
        Some(names) => {
            let mut all: Vec<Rc<str>> = Vec::new();
            for name in &names {
                machine.steps(1 + all.len() / 8)?;
                // Anything but a string or a number is ignored as a name.
                if matches!(machine.unboxed(name), Value::Text(_) | Value::Number(_)) {
                    let name = machine.text_of(name)?.shared();
                    if !all.contains(&name) {
                        all.push(name);
                    }
                }
            }
            Some(all.into())
        }
        None => None,
    };
    let replacer = machine.is_callable(replacer).then(|| replacer.clone());
    let gap = gap(machine, argument(arguments, 2))?;
    let mut writer = Writer { out: String::new(), gap, replacer, names, open: Vec::new() };
    let holder = match writer.replacer {
        Some(_) => {
            let fields: Fields = [("".into(), argument(arguments, 0).clone())].into_iter().collect();
            machine.plain(fields)?
        }
        None => Value::Undefined,
    };
    let is_there = write(machine, &mut writer, &holder, &Key::Name("".into()), argument(arguments, 0))?;
    if is_there { Ok(Value::text(writer.out)) } else { Ok(Value::Undefined) }
}

/// Quotes a text; lone surrogates are escaped. Escapes take up to six times the size of the text.
fn quoted_halves(machine: &mut Machine<'_>, text: &str) -> Run<String> {
    machine.bytes(quoted_len(text))?;
    if !has_halves(text) {
        return Ok(quoted(text));
    }
    machine.bytes(text.len() * 2)?;
    let escape = |c: char| half_of(c).map_or_else(|| c.to_string(), |half| format!("\\u{half:04x}"));
    Ok(quoted(text).chars().map(escape).collect())
}

fn gap(machine: &mut Machine<'_>, value: &Value) -> Run<String> {
    let value = &machine.simple_of_boxed(value)?;
    Ok(match value {
        Value::Number(_) => " ".repeat(machine.integer_of(value)?.clamp(0.0, 10.0) as usize),
        Value::Text(text) => text.slice(0, 10).as_str().to_owned(),
        _ => String::new(),
    })
}

/// Serialises a value, and returns whether there was anything to write.
fn write(
    machine: &mut Machine<'_>,
    writer: &mut Writer,
    holder: &Value,
    key: &Key,
    value: &Value,
) -> Run<bool> {
    machine.steps(1)?;
    let mut value = simpler(machine, key, value)?;
    if let Some(replacer) = writer.replacer.clone() {
        value = machine.call(&replacer, holder, &[Value::text(key.shared()), value])?;
    }
    let value = machine.simple_of_boxed(&value)?;
    let text = match &value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) if number.is_finite() => convert::number_text(*number),
        Value::Number(_) => "null".to_owned(),
        Value::Text(text) => {
            machine.steps(text.as_str().len() / 32)?;
            quoted_halves(machine, text.as_str())?
        }
        Value::Global(global) if !global.is_function() => "{}".to_owned(),
        value if machine.is_callable(value) => return Ok(false),
        Value::Object(_) => {
            machine.deeper(|machine| write_object(machine, writer, &value))?;
            return Ok(true);
        }
        _ => return Ok(false),
    };
    machine.bytes(text.len())?;
    writer.out.push_str(&text);
    Ok(true)
}

/// Replaces a value by the result of its `toJSON`, or the text of a date.
fn simpler(machine: &mut Machine<'_>, key: &Key, value: &Value) -> Run {
    let Value::Object(id) = value else { return Ok(value.clone()) };
    let function = match machine.content(*id) {
        Some(Content::Plain(fields)) => fields.get("toJSON").cloned(),
        Some(_) => {
            let found = machine.get(value, &Key::Name("toJSON".into()))?;
            Some(found)
        }
        None => None,
    };
    match function {
        Some(function) if machine.is_callable(&function) => {
            machine.call(&function, value, &[Value::text(key.shared())])
        }
        _ => Ok(value.clone()),
    }
}

fn write_object(machine: &mut Machine<'_>, writer: &mut Writer, value: &Value) -> Run<()> {
    let Value::Object(id) = value else { return Ok(()) };
    if writer.open.contains(id) {
        return Err(machine.type_error("Converting circular structure to JSON"));
    }
    writer.open.push(*id);
    let outcome = match machine.items(value).map(Vec::len) {
        Some(len) => write_list(machine, writer, value, len),
        None => write_fields(machine, writer, value),
    };
    writer.open.pop();
    outcome
}

fn write_list(machine: &mut Machine<'_>, writer: &mut Writer, list: &Value, len: usize) -> Run<()> {
    writer.out.push('[');
    for at in 0..len {
        separate(machine, writer, at == 0)?;
        let item = machine.item(list, at);
        if !write(machine, writer, list, &Key::Index(at), &item)? {
            writer.out.push_str("null");
        }
    }
    close(machine, writer, len == 0, ']')
}

fn write_fields(machine: &mut Machine<'_>, writer: &mut Writer, object: &Value) -> Run<()> {
    // A list of names is shared by all objects.
    let keys: Rc<[Rc<str>]> = match &writer.names {
        Some(names) => Rc::clone(names),
        None => machine.own_keys(object)?.into(),
    };
    writer.out.push('{');
    let mut is_first = true;
    for name in &*keys {
        let key = Key::of(name);
        let value = machine.get(object, &key)?;
        let before = writer.out.len();
        separate(machine, writer, is_first)?;
        machine.bytes(1)?;
        let name = quoted_halves(machine, name)?;
        writer.out.push_str(&name);
        writer.out.push_str(if writer.gap.is_empty() { ":" } else { ": " });
        if write(machine, writer, object, &key, &value)? {
            is_first = false;
        } else {
            writer.out.truncate(before);
        }
    }
    close(machine, writer, is_first, '}')
}

fn separate(machine: &mut Machine<'_>, writer: &mut Writer, is_first: bool) -> Run<()> {
    if !is_first {
        writer.out.push(',');
    }
    new_line(machine, writer, writer.open.len())
}

fn close(machine: &mut Machine<'_>, writer: &mut Writer, is_empty: bool, bracket: char) -> Run<()> {
    if !is_empty {
        new_line(machine, writer, writer.open.len() - 1)?;
    }
    writer.out.push(bracket);
    Ok(())
}

fn new_line(machine: &mut Machine<'_>, writer: &mut Writer, depth: usize) -> Run<()> {
    machine.bytes(1 + depth * writer.gap.len())?;
    if !writer.gap.is_empty() {
        writer.out.push('\n');
        writer.out.push_str(&writer.gap.repeat(depth));
    }
    Ok(())
}
