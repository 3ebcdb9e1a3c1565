//! Operators and the conversions that they ask for.

use std::cmp::Ordering;

use super::{Machine, Run};
use crate::ast::BinaryOp;
use crate::builtins;
use crate::convert;
use crate::text::Text;
use crate::value::{Content, Value};

/// Preferred primitive when an object is converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hint {
    Default,
    Number,
    Text,
}

/// Maximum size of the text of a built-in function.
const BYTES_OF_FUNCTION_TEXT: usize = 64;

impl Machine<'_> {
    pub(super) fn operate(&mut self, op: BinaryOp, left: &Value, right: &Value) -> Run {
        if let (Value::Number(left), Value::Number(right)) = (left, right)
            && let Some(value) = on_numbers(op, *left, *right)
        {
            return Ok(value);
        }
        self.compared(left, right)?;
        match op {
            BinaryOp::Add => self.sum(left, right),
            BinaryOp::Same => Ok(left.is_same(right).into()),
            BinaryOp::NotSame => Ok((!left.is_same(right)).into()),
            BinaryOp::Equal => Ok(self.is_equal(left, right)?.into()),
            BinaryOp::NotEqual => Ok((!self.is_equal(left, right)?).into()),
            BinaryOp::Less => self.compare(left, right, Ordering::is_lt),
            BinaryOp::LessOrEqual => self.compare(left, right, Ordering::is_le),
            BinaryOp::Greater => self.compare(left, right, Ordering::is_gt),
            BinaryOp::GreaterOrEqual => self.compare(left, right, Ordering::is_ge),
            BinaryOp::In => self.is_in(left, right),
            BinaryOp::InstanceOf => self.is_instance(left, right),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Coalesce => Ok(right.clone()),
            _ => {
                let (left, right) = (self.number_of(left)?, self.number_of(right)?);
                Ok(on_numbers(op, left, right).unwrap_or(Value::Undefined))
            }
        }
    }

    /// Charges the comparison of two values: texts are read.
    pub(crate) fn compared(&mut self, left: &Value, right: &Value) -> Run<()> {
        match (left, right) {
            (Value::Text(left), Value::Text(right)) => {
                self.steps(left.as_str().len().min(right.as_str().len()) / 64)
            }
            _ => Ok(()),
        }
    }

    fn sum(&mut self, left: &Value, right: &Value) -> Run {
        let left = self.simplify(left, Hint::Default)?;
        let right = self.simplify(right, Hint::Default)?;
        if matches!(left, Value::Text(_)) || matches!(right, Value::Text(_)) {
            let (left, right) = (self.text_of(&left)?, self.text_of(&right)?);
            self.bytes(left.as_str().len() + right.as_str().len())?;
            self.steps((left.as_str().len() + right.as_str().len()) / 256)?;
            let mut text = String::with_capacity(left.as_str().len() + right.as_str().len());
            text.push_str(left.as_str());
            text.push_str(right.as_str());
            return Ok(Value::text(text));
        }
        Ok(Value::Number(self.number_of(&left)? + self.number_of(&right)?))
    }

    /// `==`.
    fn is_equal(&mut self, left: &Value, right: &Value) -> Run<bool> {
        let is_object =
            |value: &Value| matches!(value, Value::Object(_) | Value::Method(_) | Value::Global(_));
        if left.is_nothing() || right.is_nothing() {
            return Ok(left.is_nothing() && right.is_nothing());
        }
        if std::mem::discriminant(left) == std::mem::discriminant(right)
            || (is_object(left) && is_object(right))
        {
            return Ok(left.is_same(right));
        }
        let left = self.simplify(left, Hint::Default)?;
        let right = self.simplify(right, Hint::Default)?;
        if let (Value::Text(left), Value::Text(right)) = (&left, &right) {
            return Ok(left == right);
        }
        Ok(self.number_of(&left)? == self.number_of(&right)?)
    }

    fn compare(&mut self, left: &Value, right: &Value, holds: fn(Ordering) -> bool) -> Run {
        let left = self.simplify(left, Hint::Number)?;
        let right = self.simplify(right, Hint::Number)?;
        if let (Value::Text(left), Value::Text(right)) = (&left, &right) {
            let is_slow = !left.is_ascii() || !right.is_ascii();
            self.steps(left.as_str().len().min(right.as_str().len()) / if is_slow { 8 } else { 64 })?;
            let order = match (left == right, left.is_before(right)) {
                (true, _) => Ordering::Equal,
                (_, true) => Ordering::Less,
                _ => Ordering::Greater,
            };
            return Ok(holds(order).into());
        }
        let (left, right) = (self.number_of(&left)?, self.number_of(&right)?);
        Ok(left.partial_cmp(&right).is_some_and(holds).into())
    }

    fn is_in(&mut self, left: &Value, right: &Value) -> Run {
        if !matches!(right, Value::Object(_) | Value::Global(_) | Value::Method(_)) {
            return Err(
                self.type_error_fix("`in` asks objects and lists", "for texts and items, use includes")
            );
        }
        let key = self.key(left)?;
        if let super::Key::Name(name) = &key
            && super::is_forbidden(name)
        {
            return Ok(Value::Bool(false));
        }
        if self.has_own(right, &key) {
            return Ok(Value::Bool(true));
        }
        Ok((!matches!(self.get(right, &key)?, Value::Undefined)).into())
    }

    fn is_instance(&mut self, left: &Value, right: &Value) -> Run {
        match right {
            Value::Global(global) if global.is_function() => {
                Ok(builtins::is_instance(self, left, global.name).into())
            }
            value if self.is_callable(value) => Ok(Value::Bool(false)),
            _ => Err(self.type_error("the right side of instanceof is not a kind, like Array or Date")),
        }
    }

    /// Returns the result of `typeof`.
    pub(crate) fn type_name(&self, value: &Value) -> &'static str {
        match value {
            Value::Undefined | Value::Hole => "undefined",
            Value::Null => "object",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::Text(_) => "string",
            value if self.is_callable(value) => "function",
            _ => "object",
        }
    }

    /// Converts a value to a primitive.
    pub(crate) fn simplify(&mut self, value: &Value, hint: Hint) -> Run {
        let Value::Object(id) = value else {
            self.bytes(if matches!(value, Value::Method(_) | Value::Global(_)) {
                BYTES_OF_FUNCTION_TEXT
            } else {
                0
            })?;
            return Ok(match value {
                Value::Method(method) => convert::function_text(method.name).into(),
                Value::Global(global) if global.is_function() => convert::function_text(global.name).into(),
                Value::Global(global) => format!("[object {}]", global.name).into(),
                other => other.clone(),
            });
        };
        let is_date = matches!(self.content(*id), Some(Content::Date(_)));
        let text_first = hint == Hint::Text || (is_date && hint == Hint::Default);
        let order = if text_first { ["toString", "valueOf"] } else { ["valueOf", "toString"] };
        for name in order {
            let function = self.get(value, &super::Key::Name(name.into()))?;
            if !self.is_callable(&function) {
                continue;
            }
            let simpler = self.deeper(|machine| machine.call(&function, value, &[]))?;
            if !matches!(simpler, Value::Object(_)) {
                return Ok(simpler);
            }
        }
        Err(self.type_error("an object cannot be turned into a simple value"))
    }

    pub(crate) fn number_of(&mut self, value: &Value) -> Run<f64> {
        Ok(match value {
            Value::Undefined | Value::Hole => f64::NAN,
            Value::Null => 0.0,
            Value::Bool(value) => f64::from(u8::from(*value)),
            Value::Number(number) => *number,
            Value::Text(text) => {
                self.steps(text.as_str().len() / 64)?;
                convert::number_of(text.as_str())
            }
            Value::Method(_) | Value::Global(_) => f64::NAN,
            Value::Object(_) => {
                let simpler = self.simplify(value, Hint::Number)?;
                return self.number_of(&simpler);
            }
        })
    }

    /// Converts a value to an integer; 0 for NaN.
    pub(crate) fn integer_of(&mut self, value: &Value) -> Run<f64> {
        let number = self.number_of(value)?;
        Ok(if number.is_nan() { 0.0 } else { number.trunc() })
    }

    pub(crate) fn int32_of(&mut self, value: &Value) -> Run<i32> {
        Ok(convert::int32(self.number_of(value)?))
    }

    pub(crate) fn text_of(&mut self, value: &Value) -> Run<Text> {
        Ok(match value {
            Value::Undefined | Value::Hole => Text::new("undefined"),
            Value::Null => Text::new("null"),
            Value::Bool(true) => Text::new("true"),
            Value::Bool(false) => Text::new("false"),
            Value::Number(number) => {
                let text = convert::number_text(*number);
                self.bytes(text.len())?;
                Text::new(text)
            }
            Value::Text(text) => text.clone(),
            Value::Object(_) | Value::Method(_) | Value::Global(_) => {
                let simpler = self.simplify(value, Hint::Text)?;
                return self.text_of(&simpler);
            }
        })
    }
}

/// The operators that mean something for two numbers.
/// An operator between two numbers; none where it does not compute.
#[inline]
pub(super) fn on_numbers(op: BinaryOp, left: f64, right: f64) -> Option<Value> {
    let (bits, shift) = (|| (convert::int32(left), convert::int32(right)), || convert::uint32(right) & 31);
    Some(match op {
        BinaryOp::Add => Value::Number(left + right),
        BinaryOp::Subtract => Value::Number(left - right),
        BinaryOp::Multiply => Value::Number(left * right),
        BinaryOp::Divide => Value::Number(left / right),
        BinaryOp::Remainder => Value::Number(remainder(left, right)),
        BinaryOp::Power => Value::Number(convert::power(left, right)),
        BinaryOp::Equal | BinaryOp::Same => Value::Bool(left == right),
        BinaryOp::NotEqual | BinaryOp::NotSame => Value::Bool(left != right),
        BinaryOp::Less => Value::Bool(left < right),
        BinaryOp::LessOrEqual => Value::Bool(left <= right),
        BinaryOp::Greater => Value::Bool(left > right),
        BinaryOp::GreaterOrEqual => Value::Bool(left >= right),
        BinaryOp::BitAnd => Value::Number(f64::from(bits().0 & bits().1)),
        BinaryOp::BitOr => Value::Number(f64::from(bits().0 | bits().1)),
        BinaryOp::BitXor => Value::Number(f64::from(bits().0 ^ bits().1)),
        BinaryOp::ShiftLeft => Value::Number(f64::from(bits().0.wrapping_shl(shift()))),
        BinaryOp::ShiftRight => Value::Number(f64::from(bits().0.wrapping_shr(shift()))),
        BinaryOp::ShiftRightUnsigned => Value::Number(f64::from(convert::uint32(left).wrapping_shr(shift()))),
        _ => return None,
    })
}

/// `%`. Of whole numbers it is the same and many times as fast as that of all numbers.
fn remainder(left: f64, right: f64) -> f64 {
    match (whole(left), whole(right)) {
        (Some(left), Some(right)) if left > 0 && right > 0 => f64::from(left % right),
        _ => left % right,
    }
}

fn whole(number: f64) -> Option<i32> {
    let whole = number as i32;
    (f64::from(whole) == number).then_some(whole)
}
