//! Members, and calls of members: chains that `?.` may cut short.

use std::rc::Rc;

use super::{Key, Machine, Run};
use crate::ast::{Expr, ExprId, Item};
use crate::builtins;
use crate::value::{Content, Value};

impl Machine<'_> {
    /// Evaluates a link of an optional chain; `None` where `?.` met a nullish value.
    pub(super) fn link(&mut self, id: ExprId) -> Run<Option<Value>> {
        match self.program.expr(id) {
            Expr::Member { object, key, is_optional } => self.member(id, *object, key, *is_optional),
            Expr::Index { object, index, is_optional } => self.index(id, *object, *index, *is_optional),
            Expr::Call { callee, arguments, is_optional } => {
                self.call_link(id, *callee, arguments, *is_optional)
            }
            _ => self.eval(id).map(Some),
        }
    }

    /// The object of a member. Each link counts as a level: they lie inside each other.
    fn base(&mut self, id: ExprId) -> Run<Option<Value>> {
        match self.program.expr(id) {
            Expr::Member { .. } | Expr::Index { .. } | Expr::Call { .. } => self.deeper(|machine| {
                machine.steps(1)?;
                machine.link(id)
            }),
            _ => self.eval(id).map(Some),
        }
    }

    fn member(&mut self, id: ExprId, object: ExprId, key: &Rc<str>, is_optional: bool) -> Run<Option<Value>> {
        let Some(base) = self.base(object)? else { return Ok(None) };
        if is_optional && base.is_nothing() {
            return Ok(None);
        }
        self.at = self.program.span(id);
        // Fast path for the most common case, without making a key.
        if let Value::Object(object) = &base
            && let Some(Content::Plain(fields)) = self.content(*object)
            && let Some(value) = fields.get(&**key)
            && !super::is_forbidden(key)
        {
            return Ok(Some(value.clone()));
        }
        self.get(&base, &Key::Name(Rc::clone(key))).map(Some)
    }

    fn index(&mut self, id: ExprId, object: ExprId, index: ExprId, is_optional: bool) -> Run<Option<Value>> {
        let Some(base) = self.base(object)? else { return Ok(None) };
        if is_optional && base.is_nothing() {
            return Ok(None);
        }
        let index = self.eval(index)?;
        self.at = self.program.span(id);
        let key = self.key(&index)?;
        self.get(&base, &key).map(Some)
    }

    fn call_link(
        &mut self,
        id: ExprId,
        callee: ExprId,
        arguments: &[Item],
        is_optional: bool,
    ) -> Run<Option<Value>> {
        let Some((this, function)) = self.callee(callee)? else { return Ok(None) };
        if is_optional && function.is_nothing() {
            return Ok(None);
        }
        let arguments = self.arguments(arguments)?;
        self.at = self.program.span(id);
        if !self.is_callable(&function) {
            return Err(self.not_callable(callee, &this));
        }
        self.call(&function, &this, &arguments).map(Some)
    }

    /// Evaluates a callee and its receiver.
    fn callee(&mut self, callee: ExprId) -> Run<Option<(Value, Value)>> {
        let (object, key) = match self.program.expr(callee) {
            Expr::Member { object, key, is_optional } => {
                let Some(base) = self.base(*object)? else { return Ok(None) };
                if *is_optional && base.is_nothing() {
                    return Ok(None);
                }
                (base, Key::Name(Rc::clone(key)))
            }
            Expr::Index { object, index, is_optional } => {
                let Some(base) = self.base(*object)? else { return Ok(None) };
                if *is_optional && base.is_nothing() {
                    return Ok(None);
                }
                let index = self.eval(*index)?;
                (base, self.key(&index)?)
            }
            Expr::Group(inner) if matches!(self.program.expr(*inner), Expr::Member { .. }) => {
                let inner = *inner;
                return self.callee(inner);
            }
            Expr::Call { .. } => return Ok(self.base(callee)?.map(|function| (Value::Undefined, function))),
            _ => return Ok(Some((Value::Undefined, self.eval(callee)?))),
        };
        self.at = self.program.span(callee);
        let function = self.get(&object, &key)?;
        Ok(Some((object, function)))
    }

    /// The values of arguments.
    pub(super) fn arguments(&mut self, items: &[Item]) -> Run<Vec<Value>> {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            let Some(value) = item.value else { continue };
            let value = self.eval(value)?;
            if item.is_spread {
                let more = self.spread(&value)?;
                self.bytes(more.len() * size_of::<Value>())?;
                values.extend(more);
            } else {
                values.push(value);
            }
        }
        if values.len() > MAX_ARGUMENTS {
            let message = format!("a call has {} arguments, more than {MAX_ARGUMENTS}", values.len());
            return Err(crate::EvalError::new(crate::ErrorKind::Memory, message)
                .at(self.at)
                .fix("pass the list itself, or use concat, flat or reduce")
                .into());
        }
        Ok(values)
    }

    fn not_callable(&mut self, callee: ExprId, this: &Value) -> super::Stop {
        let name = match self.program.expr(callee) {
            Expr::Name(symbol) => self.program.name(*symbol).to_owned(),
            Expr::Member { key, .. } => key.to_string(),
            _ => return self.type_error("what is called is not a function"),
        };
        let methods = match this {
            Value::Text(_) => builtins::STRING,
            Value::Number(_) => builtins::NUMBER,
            Value::Object(id) => self.content(*id).map_or(&[][..], builtins::methods_of),
            _ => &[],
        };
        match builtins::nearest(methods, &name) {
            Some(near) => {
                self.type_error_fix(format!("`{name}` is not a function"), &format!("did you mean `{near}`?"))
            }
            None => self.type_error(format!("`{name}` is not a function")),
        }
    }
}

/// The most arguments of a call, as engines bound them too.
const MAX_ARGUMENTS: usize = 65_535;
