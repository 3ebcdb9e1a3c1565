//! Built-ins as tables: a name, and the function that implements it. None of them can be changed or replaced.

mod absent;
mod array;
mod boolean;
mod collation;
mod console;
mod date;
mod error;
mod function;
mod global;
mod iterator;
mod json;
mod locale;
mod map;
mod math;
mod number;
mod object;
mod promise;
mod regexp;
mod set;
mod string;
mod uri;

use crate::machine::{Machine, Run};
use crate::value::{Content, Value};

pub(crate) use absent::is_absent;
pub(crate) use boolean::METHODS as BOOLEAN;
pub(crate) use date::iso_text;
pub(crate) use function::METHODS as FUNCTION;
pub(crate) use number::METHODS as NUMBER;
pub(crate) use object::METHODS as OBJECT;
pub(crate) use string::METHODS as STRING;

/// A function of ours: `this` and the arguments to a value.
type Native = fn(&mut Machine<'_>, &Value, &[Value]) -> Run;

/// A function that values of a kind have, or that belongs to a name.
#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) name: &'static str,
    /// How many arguments it asks for.
    pub(crate) arity: u8,
    pub(crate) call: Native,
}

const fn method_row(name: &'static str, arity: u8, call: Native) -> Method {
    Method { name, arity, call }
}

/// A name that is always there.
#[derive(Debug)]
pub(crate) struct Global {
    pub(crate) name: &'static str,
    /// How many arguments it asks for.
    pub(crate) arity: u8,
    /// Implementation of a call.
    pub(crate) call: Option<Native>,
    /// Implementation of a call with `new`.
    pub(crate) construct: Option<Native>,
    methods: &'static [Method],
    constants: &'static [(&'static str, f64)],
}

impl Global {
    const fn new(name: &'static str) -> Self {
        Self { name, arity: 1, call: None, construct: None, methods: &[], constants: &[] }
    }

    const fn call(self, call: Native) -> Self {
        Self { call: Some(call), ..self }
    }

    const fn construct(self, construct: Native) -> Self {
        Self { construct: Some(construct), ..self }
    }

    const fn arity(self, arity: u8) -> Self {
        Self { arity, ..self }
    }

    const fn methods(self, methods: &'static [Method]) -> Self {
        Self { methods, ..self }
    }

    const fn constants(self, constants: &'static [(&'static str, f64)]) -> Self {
        Self { constants, ..self }
    }

    /// Whether `typeof` calls it a function.
    pub(crate) fn is_function(&self) -> bool {
        self.call.is_some() || self.construct.is_some()
    }

    /// A function or a number that belongs to it.
    pub(crate) fn field(&self, name: &str) -> Option<Value> {
        if let Some((_, number)) = self.constants.iter().find(|(constant, _)| *constant == name) {
            return Some(Value::Number(*number));
        }
        Some(method(self.methods, name)).filter(|value| !matches!(value, Value::Undefined))
    }
}

/// The names, in order.
static GLOBALS: &[Global] = &[
    Global::new("AggregateError")
        .arity(2)
        .call(error::make_aggregate_error)
        .construct(error::make_aggregate_error),
    Global::new("Array").call(array::make).construct(array::make).methods(array::STATICS),
    Global::new("Boolean").call(boolean::convert).construct(boolean::make),
    Global::new("Date").arity(7).call(date::call).construct(date::make).methods(date::STATICS),
    Global::new("Error").call(error::make_error).construct(error::make_error),
    Global::new("EvalError").call(error::make_eval_error).construct(error::make_eval_error),
    Global::new("JSON").methods(json::STATICS),
    Global::new("Map").arity(0).construct(map::make).methods(map::STATICS),
    Global::new("Math").methods(math::STATICS).constants(math::CONSTANTS),
    Global::new("Number")
        .call(number::convert)
        .construct(number::make)
        .methods(number::STATICS)
        .constants(number::CONSTANTS),
    Global::new("Object").call(object::convert).construct(object::convert).methods(object::STATICS),
    Global::new("Promise").construct(promise::make).methods(promise::STATICS),
    Global::new("RangeError").call(error::make_range_error).construct(error::make_range_error),
    Global::new("ReferenceError").call(error::make_reference_error).construct(error::make_reference_error),
    Global::new("RegExp").arity(2).call(regexp::call).construct(regexp::make),
    Global::new("Set").arity(0).construct(set::make),
    Global::new("String").call(string::convert).construct(string::make).methods(string::STATICS),
    Global::new("SyntaxError").call(error::make_syntax_error).construct(error::make_syntax_error),
    Global::new("TypeError").call(error::make_type_error).construct(error::make_type_error),
    Global::new("URIError").call(error::make_uri_error).construct(error::make_uri_error),
    Global::new("console").methods(console::STATICS),
    Global::new("decodeURI").call(uri::decode_whole),
    Global::new("decodeURIComponent").call(uri::decode_component),
    Global::new("encodeURI").call(uri::encode_whole),
    Global::new("encodeURIComponent").call(uri::encode_component),
    Global::new("isFinite").call(global::is_finite),
    Global::new("isNaN").call(global::is_nan),
    Global::new("parseFloat").call(global::parse_float),
    Global::new("parseInt").arity(2).call(global::parse_int),
];

/// The name that is always there.
pub(crate) fn global(name: &str) -> Option<&'static Global> {
    let place = GLOBALS.binary_search_by(|global| global.name.cmp(name)).ok()?;
    GLOBALS.get(place)
}

/// The function of a table, or `undefined`.
pub(crate) fn method(table: &'static [Method], name: &str) -> Value {
    let place = table.binary_search_by(|method| method.name.cmp(name)).ok();
    place.and_then(|place| table.get(place)).map_or(Value::Undefined, Value::Method)
}

/// The functions that all objects of a kind have.
pub(crate) fn methods_of(content: &Content) -> &'static [Method] {
    match content {
        Content::Plain(_) => object::METHODS,
        Content::Boxed(Value::Text(_)) => STRING,
        Content::Boxed(Value::Number(_)) => NUMBER,
        Content::Boxed(_) => BOOLEAN,
        Content::Iterator(_) => iterator::METHODS,
        Content::Array(_) => array::METHODS,
        Content::Closure(_) | Content::Bound { .. } | Content::Settler { .. } => function::METHODS,
        Content::Error(_) => error::METHODS,
        Content::Date(_) => date::METHODS,
        Content::Regex(_) => regexp::METHODS,
        Content::Map(_) => map::METHODS,
        Content::Set(_) => set::METHODS,
        Content::Promise(_) => promise::METHODS,
    }
}

/// The name in a table that is nearest to one that is not there.
pub(crate) fn nearest(table: &'static [Method], name: &str) -> Option<&'static str> {
    let plain = |text: &str| text.to_ascii_lowercase();
    let wanted = plain(name);
    if wanted.len() < 3 {
        return None;
    }
    table.iter().map(|method| method.name).find(|known| {
        let known = plain(known);
        known == wanted || (wanted.len() > 3 && (known.starts_with(&wanted) || wanted.starts_with(&known)))
    })
}

/// Whether a value is an instance of the named constructor.
pub(crate) fn is_instance(machine: &Machine<'_>, value: &Value, name: &str) -> bool {
    let Value::Object(id) = value else {
        let is_function = match value {
            Value::Method(_) => true,
            Value::Global(global) => global.is_function(),
            _ => false,
        };
        return (matches!(value, Value::Global(_)) || is_function) && name == "Object";
    };
    let Some(content) = machine.content(*id) else { return false };
    if name == "Object" {
        return true;
    }
    match content {
        Content::Array(_) => name == "Array",
        Content::Boxed(Value::Text(_)) => name == "String",
        Content::Boxed(Value::Number(_)) => name == "Number",
        Content::Boxed(_) => name == "Boolean",
        Content::Iterator(_) => false,
        Content::Error(error) => name == "Error" || name == error.class,
        Content::Date(_) => name == "Date",
        Content::Regex(_) => name == "RegExp",
        Content::Map(_) => name == "Map",
        Content::Set(_) => name == "Set",
        Content::Promise(_) => name == "Promise",
        Content::Plain(_) | Content::Closure(_) | Content::Bound { .. } | Content::Settler { .. } => false,
    }
}

/// Refuses a function that is to make things of another kind than its own.
fn own_kind(machine: &mut Machine<'_>, this: &Value, name: &str) -> Run<()> {
    match this {
        Value::Global(global) if global.name == name => Ok(()),
        this if machine.is_callable(this) => {
            Err(machine.forbidden(format!("functions of `{name}` make nothing else here"), None))
        }
        _ => Ok(()),
    }
}

/// Returns the argument at an index; `undefined` if it is missing.
fn argument(arguments: &[Value], at: usize) -> &Value {
    const NOTHING: &Value = &Value::Undefined;
    arguments.get(at).unwrap_or(NOTHING)
}

/// An entry is a list of a key and a value.
fn entry(machine: &mut Machine<'_>, pair: &Value) -> Run<()> {
    if matches!(pair, Value::Object(_)) {
        return Ok(());
    }
    Err(machine
        .type_error_fix("an entry is no list of a key and a value", "give entries as [[key, value], …]"))
}

/// Where a place counted from the start, or from the end if it is negative, lies in so many.
fn place(machine: &mut Machine<'_>, value: &Value, len: usize, otherwise: usize) -> Run<usize> {
    if matches!(value, Value::Undefined) {
        return Ok(otherwise);
    }
    let at = machine.integer_of(value)?;
    let len = len as f64;
    Ok(if at < 0.0 { (len + at).max(0.0) } else { at.min(len) } as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_sorted(methods: &[Method]) -> bool {
        methods.is_sorted_by(|one, two| one.name < two.name)
    }

    #[test]
    fn tables_are_in_order() {
        assert!(GLOBALS.is_sorted_by(|one, two| one.name < two.name));
        for global in GLOBALS {
            assert!(is_sorted(global.methods), "{}", global.name);
        }
        let tables = [
            ("array", array::METHODS),
            ("boolean", BOOLEAN),
            ("date", date::METHODS),
            ("error", error::METHODS),
            ("function", FUNCTION),
            ("iterator", iterator::METHODS),
            ("map", map::METHODS),
            ("number", NUMBER),
            ("object", OBJECT),
            ("promise", promise::METHODS),
            ("regexp", regexp::METHODS),
            ("set", set::METHODS),
            ("string", STRING),
        ];
        for (name, table) in tables {
            assert!(is_sorted(table), "{name}");
        }
    }
}
