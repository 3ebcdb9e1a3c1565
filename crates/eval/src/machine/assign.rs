//! Assignments and patterns.

use super::expressions::needs_right;
use super::{Key, Machine, Run};
use crate::ast::{BinaryOp, Element, Expr, ExprId, Kind, Pattern, PatternId, PropertyKey};
use crate::value::{Fields, Value};

/// Whether a pattern declares names or assigns to what is there.
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
                    // The place is found before the value, as it stands there.
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
            Some(op) => self.change(target, |machine, old| machine.changed(op, old, value)),
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
    fn changed(&mut self, op: BinaryOp, old: &Value, value: ExprId) -> Run<Option<Value>> {
        if op.is_logical() {
            return if needs_right(op, old) { self.eval(value).map(Some) } else { Ok(None) };
        }
        let value = self.eval(value)?;
        self.operate(op, old, &value).map(Some)
    }

    pub(super) fn update(&mut self, target: PatternId, delta: f64, is_prefix: bool) -> Run {
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

    /// Takes a value apart.
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
        let values = self.spread(value)?;
        for (at, item) in items.iter().enumerate() {
            if let Some(element) = item {
                let value = values.get(at).cloned().unwrap_or(Value::Undefined);
                self.bind_element(element, value, into)?;
            }
        }
        let Some(rest) = rest else { return Ok(()) };
        let others = values.get(items.len()..).unwrap_or_default().to_vec();
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

    /// The values that `...` and patterns of lists go through.
    pub(crate) fn spread(&mut self, value: &Value) -> Run<Vec<Value>> {
        use crate::value::Content;
        let values: Vec<Value> = match value {
            Value::Text(text) => {
                self.bytes(text.as_str().len() * size_of::<Value>())?;
                text.as_str().chars().map(|c| Value::text(c.to_string())).collect()
            }
            Value::Object(id) => match self.content(*id) {
                Some(Content::Array(items)) => items.clone(),
                Some(Content::Set(set)) => set.values().cloned().collect(),
                Some(Content::Map(map)) => {
                    let pairs: Vec<_> = map.values().cloned().collect();
                    let pairs = pairs.into_iter().map(|(key, value)| self.array(vec![key, value]));
                    pairs.collect::<Run<_>>()?
                }
                _ => return Err(self.not_a_list(value)),
            },
            _ => return Err(self.not_a_list(value)),
        };
        self.steps(values.len())?;
        self.bytes(values.len() * size_of::<Value>())?;
        Ok(values)
    }

    fn not_a_list(&mut self, value: &Value) -> super::Stop {
        let what = self.type_name(value);
        let what = if matches!(value, Value::Null) { "null" } else { what };
        self.type_error_fix(
            format!("{what} is not iterable: only lists, texts, maps and sets are"),
            "for the fields of an object, use Object.keys, values or entries",
        )
    }
}
