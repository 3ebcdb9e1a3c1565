//! Assignments and patterns.

use super::expressions::needs_right;
use super::{Key, Machine, Run};
use crate::ast::{BinaryOp, Element, Expr, ExprId, Kind, Pattern, PatternId, PropertyKey, Symbol};
use crate::value::{Fields, Value};

/// Whether a pattern declares names or assigns to existing targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    Declared(Kind),
    There,
}

impl Machine<'_> {
    pub(super) fn assign(&mut self, op: Option<BinaryOp>, target: PatternId, value: ExprId) -> Run {
        match op {
            None => {
                let value = match self.program.pattern(target) {
                    // The target is evaluated before the value, in source order.
                    Pattern::Place(place) => return self.assign_place(*place, value),
                    Pattern::Name(symbol) => {
                        let name = self.program.name(*symbol).into();
                        self.named(value, &Key::Name(name))?
                    }
                    _ => self.eval(value)?,
                };
                self.bind(target, value.clone(), Binding::There)?;
                Ok(value)
            }
            Some(op) => {
                if let Pattern::Name(symbol) = self.program.pattern(target)
                    && let Some(old) = self.number_of_name(*symbol)
                    && !op.is_logical()
                {
                    let value = self.eval(value)?;
                    let new = self.operate(op, &Value::Number(old), &value)?;
                    self.assign_name(*symbol, new.clone())?;
                    return Ok(new);
                }
                let name = match self.program.pattern(target) {
                    Pattern::Name(symbol) => Some(*symbol),
                    _ => None,
                };
                self.change(target, |machine, old| machine.changed(op, old, value, name))
            }
        }
    }

    fn assign_place(&mut self, place: ExprId, value: ExprId) -> Run {
        let (base, key) = self.place(place)?;
        let value = self.eval(value)?;
        self.at = self.program.span(place);
        self.set(&base, &key, value.clone())?;
        Ok(value)
    }

    /// The new value; none where a logical operator leaves the old one.
    fn changed(
        &mut self,
        op: BinaryOp,
        old: &Value,
        value: ExprId,
        name: Option<Symbol>,
    ) -> Run<Option<Value>> {
        if op.is_logical() {
            return match name {
                _ if !needs_right(op, old) => Ok(None),
                Some(name) => {
                    let name = self.program.name(name).into();
                    self.named(value, &Key::Name(name)).map(Some)
                }
                None => self.eval(value).map(Some),
            };
        }
        let value = self.eval(value)?;
        self.operate(op, old, &value).map(Some)
    }

    pub(super) fn update(&mut self, target: PatternId, delta: f64, is_prefix: bool) -> Run {
        if let Pattern::Name(symbol) = self.program.pattern(target)
            && let Some(number) = self.number_in(*symbol)?
        {
            let before = std::mem::replace(number, *number + delta);
            return Ok(Value::Number(if is_prefix { before + delta } else { before }));
        }
        let mut before = 0.0;
        let after = self.change(target, |machine, old| {
            before = machine.number_of(old)?;
            Ok(Some(Value::Number(before + delta)))
        })?;
        Ok(if is_prefix { after } else { Value::Number(before) })
    }

    /// Replaces the value of a name or a member.
    fn change(
        &mut self,
        target: PatternId,
        change: impl FnOnce(&mut Self, &Value) -> Run<Option<Value>>,
    ) -> Run {
        match self.program.pattern(target) {
            Pattern::Name(symbol) => {
                let old = self.name(*symbol)?;
                let Some(new) = change(self, &old)? else { return Ok(old) };
                self.assign_name(*symbol, new.clone())?;
                Ok(new)
            }
            Pattern::Place(place) => {
                let (base, key) = self.place(*place)?;
                let old = self.get(&base, &key)?;
                let Some(new) = change(self, &old)? else { return Ok(old) };
                self.set(&base, &key, new.clone())?;
                Ok(new)
            }
            _ => Ok(Value::Undefined),
        }
    }

    /// The object and the key of a member that is assigned to.
    fn place(&mut self, place: ExprId) -> Run<(Value, Key)> {
        let (object, key) = match self.program.expr(place) {
            Expr::Member { object, key, .. } => (self.eval(*object)?, Key::of(key)),
            Expr::Index { object, index, .. } => {
                let base = self.eval(*object)?;
                let index = self.eval(*index)?;
                let key = self.key(&index)?;
                (base, key)
            }
            _ => return Err(self.type_error("this cannot be assigned to")),
        };
        self.at = self.program.span(place);
        Ok((object, key))
    }

    /// Destructures a value.
    pub(super) fn bind(&mut self, pattern: PatternId, value: Value, into: Binding) -> Run<()> {
        match self.program.pattern(pattern) {
            Pattern::Nothing => Ok(()),
            Pattern::Name(symbol) => match into {
                Binding::Declared(Kind::Let | Kind::Const) => self.initialise(*symbol, value),
                Binding::Declared(Kind::Var) | Binding::There => self.assign_name(*symbol, value),
            },
            Pattern::Place(place) => {
                let (base, key) = self.place(*place)?;
                self.set(&base, &key, value)
            }
            Pattern::Array(items, rest) => {
                self.deeper(|machine| machine.bind_list(items, *rest, &value, into))
            }
            Pattern::Object(fields, rest) => {
                self.deeper(|machine| machine.bind_fields(fields, *rest, &value, into))
            }
        }
    }

    pub(super) fn bind_element(&mut self, element: &Element, value: Value, into: Binding) -> Run<()> {
        let value = match (value, element.default) {
            (Value::Undefined, Some(default)) => match self.program.pattern(element.pattern) {
                Pattern::Name(symbol) => {
                    let name = self.program.name(*symbol).into();
                    self.named(default, &Key::Name(name))?
                }
                _ => self.eval(default)?,
            },
            (value, _) => value,
        };
        self.bind(element.pattern, value, into)
    }

    fn bind_list(
        &mut self,
        items: &[Option<Element>],
        rest: Option<PatternId>,
        value: &Value,
        into: Binding,
    ) -> Run<()> {
        let mut going = self.iteration(value)?;
        for item in items {
            let value = self.next(&mut going)?;
            if let Some(element) = item {
                self.bind_element(element, value.unwrap_or(Value::Undefined), into)?;
            }
        }
        let Some(rest) = rest else { return Ok(()) };
        let mut others = Vec::new();
        while let Some(value) = self.next(&mut going)? {
            self.bytes(size_of::<Value>())?;
            others.push(value);
        }
        let others = self.array(others)?;
        self.bind(rest, others, into)
    }

    fn bind_fields(
        &mut self,
        fields: &[(PropertyKey, Element)],
        rest: Option<PatternId>,
        value: &Value,
        into: Binding,
    ) -> Run<()> {
        if value.is_nothing() {
            let what = self.text_of(value)?;
            return Err(self.type_error(format!("cannot take {} apart", what.as_str())));
        }
        let mut taken = Vec::new();
        for (key, element) in fields {
            let key = self.property_key(key)?;
            let value = self.get(value, &key)?;
            taken.push(key.shared());
            self.bind_element(element, value, into)?;
        }
        let Some(rest) = rest else { return Ok(()) };
        let others = self.plain(Fields::new())?;
        for key in self.own_keys(value)? {
            self.steps(taken.len())?;
            if !taken.contains(&key) {
                let key = Key::of(&key);
                let value = self.get(value, &key)?;
                self.set(&others, &key, value)?;
            }
        }
        self.bind(rest, others, into)
    }
}
