//! Values during an evaluation. Objects are in one list and refer to each other by number: nothing is freed before
//! the evaluation ends, and no chain of them is dropped by recursion.

use std::rc::Rc;

use indexmap::IndexMap;

use crate::ErrorKind;
use crate::ast::FunctionId;
use crate::builtins::{Global, Method};
use crate::entries::{Members, Pairs};
use crate::regex::Regex;
use crate::text::Text;

/// A JavaScript value in the machine.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Undefined,
    /// In lists only: a hole. Reading it returns `undefined`.
    Hole,
    Null,
    Bool(bool),
    Number(f64),
    Text(Text),
    Object(ObjectId),
    /// A function of ours.
    Method(&'static Method),
    /// A name that is always there: `Math`, `Array`, `parseInt`.
    Global(&'static Global),
}

impl Value {
    pub(crate) fn text(text: impl Into<Rc<str>>) -> Self {
        Self::Text(Text::new(text))
    }

    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self, Self::Undefined | Self::Hole | Self::Null)
    }

    /// Returns the value, or `undefined` for a hole.
    pub(crate) fn or_undefined(&self) -> Self {
        if matches!(self, Self::Hole) { Self::Undefined } else { self.clone() }
    }

    pub(crate) fn is_truthy(&self) -> bool {
        match self {
            Self::Undefined | Self::Hole | Self::Null => false,
            Self::Bool(value) => *value,
            Self::Number(number) => *number != 0.0 && !number.is_nan(),
            Self::Text(text) => text.units() > 0,
            Self::Object(_) | Self::Method(_) | Self::Global(_) => true,
        }
    }

    /// `===`.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Undefined, Self::Undefined) | (Self::Null, Self::Null) => true,
            (Self::Bool(one), Self::Bool(two)) => one == two,
            (Self::Number(one), Self::Number(two)) => one == two,
            (Self::Text(one), Self::Text(two)) => one == two,
            (Self::Object(one), Self::Object(two)) => one == two,
            (Self::Method(one), Self::Method(two)) => std::ptr::eq(*one, *two),
            (Self::Global(one), Self::Global(two)) => std::ptr::eq(*one, *two),
            _ => false,
        }
    }

    /// As `includes` and `Map` compare: NaN is itself.
    pub(crate) fn is_same_or_nan(&self, other: &Self) -> bool {
        let is_nan = |value: &Self| matches!(value, Self::Number(number) if number.is_nan());
        self.is_same(other) || (is_nan(self) && is_nan(other))
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Number(number as f64)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

/// The place of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ObjectId(pub(crate) u32);

/// The place of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScopeId(pub(crate) u32);

/// The fields of an object, in the order in which they were added.
pub(crate) type Fields = IndexMap<Rc<str>, Value>;

/// An object in the heap, of any kind.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) integrity: Integrity,
    pub(crate) content: Content,
}

/// Integrity level of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Integrity {
    Open,
    /// No field is added any more.
    Closed,
    /// Fields can neither be added nor removed.
    Sealed,
    /// Fields can neither be added, removed nor changed.
    Frozen,
}

/// Kind and contents of an object.
#[derive(Debug)]
pub(crate) enum Content {
    Plain(Fields),
    Array(Vec<Value>),
    /// `new String(…)`, `new Number(…)` and `new Boolean(…)`: a simple value as an object.
    Boxed(Value),
    /// An iterator over something, one step after the other.
    Iterator(Iteration),
    Closure(Closure),
    Bound {
        target: Value,
        this: Value,
        arguments: Rc<[Value]>,
        name: Rc<str>,
        length: usize,
    },
    Error(ErrorObject),
    /// A `Date`, in milliseconds since the beginning of 1970.
    Date(f64),
    Regex(RegexObject),
    Map(Pairs),
    Set(Members),
    Promise(Promise),
    /// A function that settles a promise.
    Settler {
        promise: ObjectId,
        outcome: Outcome,
    },
}

/// State of an iteration, and the part of each item that it yields.
#[derive(Debug, Clone)]
pub(crate) struct Iteration {
    pub(crate) over: Value,
    pub(crate) part: Part,
    /// `None` once the end was met: later items are not visited.
    pub(crate) at: Option<usize>,
}

/// The part of each item that an iterator yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Key,
    Value,
    Both,
}

/// A function of the source, with the names around it.
#[derive(Debug, Clone)]
pub(crate) struct Closure {
    pub(crate) function: FunctionId,
    pub(crate) scope: ScopeId,
    /// The value of `this` in an arrow function.
    pub(crate) this: Value,
    /// The name inferred from its context.
    pub(crate) name: Option<Rc<str>>,
}

/// An `Error` or one of its kinds.
#[derive(Debug)]
pub(crate) struct ErrorObject {
    pub(crate) class: &'static str,
    /// Kind of the error, if the evaluation made it and not the program.
    pub(crate) origin: Option<ErrorKind>,
    pub(crate) fix: Option<String>,
    pub(crate) fields: Fields,
}

/// A `RegExp`, compiled, with its flags.
#[derive(Debug, Clone)]
pub(crate) struct RegexObject {
    pub(crate) source: Rc<str>,
    pub(crate) flags: Rc<str>,
    pub(crate) regex: Rc<Regex>,
    /// Any value may be assigned; it is converted to a number on use.
    pub(crate) last_index: Value,
}

/// A `Promise`, settled or not.
#[derive(Debug)]
pub(crate) enum Promise {
    Pending(Vec<Reaction>),
    Settled(Outcome, Value),
}

/// How a promise ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Fulfilled,
    Rejected,
}

/// A reaction to the settling of a promise.
#[derive(Debug, Clone)]
pub(crate) enum Reaction {
    /// `then`: the functions, and the promise of their result.
    Then { fulfilled: Value, rejected: Value, result: ObjectId },
    /// Registered by `finally`: called in both cases, without an argument.
    Finally { run: Value, result: ObjectId },
    /// The promise adopts the state of another one.
    Follow { result: ObjectId },
    /// One of the promises of `Promise.all` and its like.
    Member { group: usize, place: usize },
}

/// A key of a map: equal where `Map` considers values equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum MapKey {
    Undefined,
    Null,
    Bool(bool),
    Number(u64),
    Text(Rc<str>),
    Object(ObjectId),
    BuiltIn(usize),
}

impl Value {
    /// Returns the cost of finding it among the keys of a map.
    pub(crate) fn cost_as_key(&self) -> usize {
        match self {
            Self::Text(text) => text.as_str().len() / 64,
            _ => 0,
        }
    }
}

impl From<&Value> for MapKey {
    fn from(value: &Value) -> Self {
        match value {
            Value::Undefined | Value::Hole => Self::Undefined,
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            // There is one zero, and one NaN.
            Value::Number(number) if *number == 0.0 => Self::Number(0),
            Value::Number(number) if number.is_nan() => Self::Number(f64::NAN.to_bits()),
            Value::Number(number) => Self::Number(number.to_bits()),
            Value::Text(text) => Self::Text(text.shared()),
            Value::Object(id) => Self::Object(*id),
            Value::Method(method) => Self::BuiltIn(std::ptr::from_ref(*method).addr()),
            Value::Global(global) => Self::BuiltIn(std::ptr::from_ref(*global).addr()),
        }
    }
}
