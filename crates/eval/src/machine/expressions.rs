//! Expressions.

use std::rc::Rc;

use super::operators::on_numbers;
use super::{Machine, Run};
use crate::ast::{BinaryOp, Expr, ExprId, FunctionId, Item, Property, PropertyKey, UnaryOp};
use crate::regex::Regex;
use crate::text::Text;
use crate::value::{Closure, Content, Fields, RegexObject, Value};

impl Machine<'_> {
    /// The value of an expression.
    pub(super) fn eval(&mut self, id: ExprId) -> Run {
        self.meter.steps(1)?;
        match self.program.expr(id) {
            Expr::Undefined => Ok(Value::Undefined),
            Expr::Null => Ok(Value::Null),
            Expr::Bool(value) => Ok(Value::Bool(*value)),
            Expr::Number(number) => Ok(Value::Number(*number)),
            Expr::Text(text) => Ok(Value::Text(text.clone())),
            Expr::This => self.this(id),
            Expr::Name(symbol) => {
                self.at = self.program.span(id);
                self.name(*symbol)
            }
            expr => self.eval_deeper(id, expr),
        }
    }

    /// `this`: where JavaScript would use the global object, it is refused.
    fn this(&mut self, id: ExprId) -> Run {
        if matches!(self.this, Value::Undefined) && (self.calls == 0 || !self.is_strict) {
            self.at = self.program.span(id);
            return Err(self.forbidden(
                "`this` refers to the global object here, which does not exist",
                Some("call the function on an object, or write 'use strict'"),
            ));
        }
        Ok(self.this.clone())
    }

    /// Evaluates an expression with subexpressions.
    #[inline(never)]
    fn eval_deeper(&mut self, id: ExprId, expr: &Expr) -> Run {
        if let Err(refusal) = self.meter.descend() {
            self.meter.ascend();
            return Err(refusal.at(self.program.span(id)).into());
        }
        let outcome = self.eval_parts(id, expr);
        self.meter.ascend();
        outcome
    }

    fn eval_parts(&mut self, id: ExprId, expr: &Expr) -> Run {
        match expr {
            Expr::Binary(op, left, right) if !self.is_binary(*left) => self.operation(id, *op, *left, *right),
            Expr::Binary(..) => self.binary(id),
            Expr::Member { .. } | Expr::Index { .. } | Expr::Call { .. } => self.whole_chain(id),
            Expr::Chain(inner) | Expr::Group(inner) => self.whole_chain(*inner),
            Expr::Conditional(test, yes, no) => {
                let chosen = if self.eval(*test)?.is_truthy() { yes } else { no };
                self.eval(*chosen)
            }
            Expr::Template(texts, exprs) => self.template(texts, exprs),
            Expr::Array(items) => self.list(items),
            Expr::Object(properties) => self.object_literal(properties),
            Expr::Function(function) => self.function(*function, None),
            Expr::Unary(op, operand) => self.unary(id, *op, *operand),
            Expr::Update { target, delta, is_prefix } => self.update(*target, *delta, *is_prefix),
            Expr::Assign(op, target, value) => self.assign(*op, *target, *value),
            Expr::New(callee, arguments) => self.new_object(id, *callee, arguments),
            Expr::Await(operand) => {
                let value = self.eval(*operand)?;
                self.wait_for(&value)
            }
            Expr::Sequence(all) => self.sequence(all),
            Expr::Regex(source, flags) => self.regex_literal(id, source, flags),
            _ => Ok(Value::Undefined),
        }
    }

    fn whole_chain(&mut self, id: ExprId) -> Run {
        Ok(self.link(id)?.unwrap_or(Value::Undefined))
    }

    fn sequence(&mut self, all: &[ExprId]) -> Run {
        let mut last = Value::Undefined;
        for &expr in all {
            last = self.eval(expr)?;
        }
        Ok(last)
    }

    fn is_binary(&self, expr: ExprId) -> bool {
        matches!(self.program.expr(expr), Expr::Binary(..))
    }

    /// Evaluates one operator whose left side is not of the same kind.
    fn operation(&mut self, id: ExprId, op: BinaryOp, left: ExprId, right: ExprId) -> Run {
        if let Some(left) = self.number_at(left)? {
            self.meter.steps(1)?;
            if let Some(right) = self.number_at(right)?
                && let Some(value) = on_numbers(op, left, right)
            {
                return Ok(value);
            }
            return self.apply(op, Value::Number(left), right, id);
        }
        let left = self.eval(left)?;
        self.meter.steps(1)?;
        self.apply(op, left, right, id)
    }

    /// Returns the value of a number literal or of a variable that contains a number. Evaluating these runs no code.
    fn number_at(&mut self, id: ExprId) -> Run<Option<f64>> {
        let number = match self.program.expr(id) {
            Expr::Number(number) => Some(*number),
            Expr::Name(symbol) => self.number_of_name(*symbol),
            _ => None,
        };
        if number.is_some() {
            self.meter.steps(1)?;
        }
        Ok(number)
    }

    /// Left-associative operators nest to the left: they are evaluated without recursion, so that a long sum is not a
    /// deep one.
    fn binary(&mut self, id: ExprId) -> Run {
        let mut spine = Vec::new();
        let mut first = id;
        while let Expr::Binary(op, left, right) = self.program.expr(first) {
            spine.push((*op, *right, first));
            first = *left;
        }
        let mut value = self.eval(first)?;
        while let Some((op, right, id)) = spine.pop() {
            self.meter.steps(1)?;
            value = self.apply(op, value, right, id)?;
        }
        Ok(value)
    }

    fn apply(&mut self, op: BinaryOp, left: Value, right: ExprId, id: ExprId) -> Run {
        if op.is_logical() {
            return if needs_right(op, &left) { self.eval(right) } else { Ok(left) };
        }
        let right = self.eval(right)?;
        self.at = self.program.span(id);
        self.operate(op, &left, &right)
    }

    fn unary(&mut self, id: ExprId, op: UnaryOp, operand: ExprId) -> Run {
        match op {
            UnaryOp::TypeOf => return self.type_of(operand),
            UnaryOp::Delete => return self.delete_member(operand),
            _ => {}
        }
        let value = self.eval(operand)?;
        self.at = self.program.span(id);
        Ok(match op {
            UnaryOp::Not => Value::Bool(!value.is_truthy()),
            UnaryOp::Minus => Value::Number(-self.number_of(&value)?),
            UnaryOp::Plus => Value::Number(self.number_of(&value)?),
            UnaryOp::BitNot => Value::Number(f64::from(!self.int32_of(&value)?)),
            UnaryOp::Void | UnaryOp::TypeOf | UnaryOp::Delete => Value::Undefined,
        })
    }

    /// Only `typeof` may name an unknown variable.
    fn type_of(&mut self, operand: ExprId) -> Run {
        let value = match self.program.expr(operand) {
            Expr::Name(symbol) => self.look_up(*symbol)?.unwrap_or(Value::Undefined),
            _ => self.eval(operand)?,
        };
        Ok(self.type_name(&value).into())
    }

    fn delete_member(&mut self, operand: ExprId) -> Run {
        let operand = self.ungrouped(operand);
        let (object, key) = match self.program.expr(operand) {
            Expr::Member { object, key, .. } => (self.eval(*object)?, super::Key::of(key)),
            Expr::Index { object, index, .. } => {
                let base = self.eval(*object)?;
                let index = self.eval(*index)?;
                (base, self.key(&index)?)
            }
            Expr::Chain(inner) => return self.delete_in_chain(*inner),
            _ => {
                self.eval(operand)?;
                return Ok(Value::Bool(true));
            }
        };
        self.at = self.program.span(operand);
        self.delete(&object, &key)?;
        Ok(Value::Bool(true))
    }

    /// `delete a?.b`: if the chain is cut short, there is nothing to delete.
    fn delete_in_chain(&mut self, operand: ExprId) -> Run {
        let (object, is_optional) = match self.program.expr(operand) {
            Expr::Member { object, is_optional, .. } | Expr::Index { object, is_optional, .. } => {
                (*object, *is_optional)
            }
            _ => {
                self.eval(operand)?;
                return Ok(Value::Bool(true));
            }
        };
        let Some(base) = self.link(object)? else { return Ok(Value::Bool(true)) };
        if is_optional && base.is_nothing() {
            return Ok(Value::Bool(true));
        }
        let key = match self.program.expr(operand) {
            Expr::Index { index, .. } => {
                let index = self.eval(*index)?;
                self.key(&index)?
            }
            Expr::Member { key, .. } => super::Key::of(key),
            _ => return Ok(Value::Bool(true)),
        };
        self.delete(&base, &key)?;
        Ok(Value::Bool(true))
    }

    fn ungrouped(&self, mut expr: ExprId) -> ExprId {
        while let Expr::Group(inner) = self.program.expr(expr) {
            expr = *inner;
        }
        expr
    }

    fn template(&mut self, texts: &[Text], exprs: &[ExprId]) -> Run {
        let mut out = String::new();
        let mut exprs = exprs.iter();
        for text in texts {
            out.push_str(text.as_str());
            if let Some(&expr) = exprs.next() {
                let value = self.eval(expr)?;
                let text = self.text_of(&value)?;
                self.bytes(text.as_str().len())?;
                out.push_str(text.as_str());
            }
        }
        self.new_text(out)
    }

    fn list(&mut self, items: &[Item]) -> Run {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            let Some(expr) = item.value else {
                values.push(Value::Hole);
                continue;
            };
            let value = self.eval(expr)?;
            if item.is_spread {
                let more = self.spread(&value)?;
                values.extend(more);
            } else {
                values.push(value);
            }
        }
        self.array(values)
    }

    fn object_literal(&mut self, properties: &[Property]) -> Run {
        let object = self.plain(Fields::with_capacity(properties.len()))?;
        for property in properties {
            match property {
                Property::Field(key, value) => {
                    let key = self.property_key(key)?;
                    let value = self.named(*value, &key)?;
                    self.set(&object, &key, value)?;
                }
                Property::Spread(from) => {
                    let from = self.eval(*from)?;
                    self.copy_fields(&from, &object)?;
                }
                Property::Default(..) => {}
            }
        }
        Ok(object)
    }

    pub(super) fn property_key(&mut self, key: &PropertyKey) -> Run<super::Key> {
        match key {
            PropertyKey::Fixed(name) => Ok(super::Key::of(name)),
            PropertyKey::Computed(expr) => {
                let value = self.eval(*expr)?;
                self.key(&value)
            }
        }
    }

    /// Evaluates an expression; an anonymous function is named after its target.
    pub(super) fn named(&mut self, expr: ExprId, key: &super::Key) -> Run {
        match self.program.expr(expr) {
            Expr::Function(function) => self.function(*function, Some(key.shared())),
            Expr::Group(inner) if self.is_nameless_function(*inner) => self.named(*inner, key),
            _ => self.eval(expr),
        }
    }

    fn is_nameless_function(&self, expr: ExprId) -> bool {
        match self.program.expr(expr) {
            Expr::Function(_) => true,
            Expr::Group(inner) => self.is_nameless_function(*inner),
            _ => false,
        }
    }

    /// Copies the fields of one object to another.
    pub(crate) fn copy_fields(&mut self, from: &Value, to: &Value) -> Run<()> {
        for key in self.own_keys(from)? {
            let key = super::Key::of(&key);
            let value = self.get(from, &key)?;
            self.set(to, &key, value)?;
        }
        Ok(())
    }

    pub(super) fn function(&mut self, function: FunctionId, name: Option<Rc<str>>) -> Run {
        let is_arrow = self.program.function(function).is_arrow;
        let this = if is_arrow { self.this.clone() } else { Value::Undefined };
        self.closure(Closure { function, scope: self.scope, this, name })
    }

    fn regex_literal(&mut self, id: ExprId, source: &Rc<str>, flags: &Rc<str>) -> Run {
        self.at = self.program.span(id);
        let regex = match self.regexes.get(&id) {
            Some(regex) => Rc::clone(regex),
            None => {
                let regex = self.compile(source, flags)?;
                self.regexes.insert(id, Rc::clone(&regex));
                regex
            }
        };
        self.new_regex(Rc::clone(source), Rc::clone(flags), regex)
    }

    pub(crate) fn new_regex(&mut self, source: Rc<str>, flags: Rc<str>, regex: Rc<Regex>) -> Run {
        self.add(Content::Regex(RegexObject { source, flags, regex, last_index: Value::Number(0.0) }))
            .map(Value::Object)
    }

    /// Compiles a regular expression.
    pub(crate) fn compile(&mut self, source: &str, flags: &str) -> Run<Rc<Regex>> {
        self.steps(100)?;
        match Regex::new(source, flags, &mut self.meter) {
            Ok(regex) => Ok(Rc::new(regex)),
            // The program may catch what JavaScript throws, and nothing else.
            Err(error) if error.kind == crate::ErrorKind::Syntax => Err(self.syntax_error(error)),
            Err(error) => Err(super::Stop::from(error.at(self.at))),
        }
    }
}

/// Whether a logical operator evaluates its right side.
pub(super) fn needs_right(op: BinaryOp, left: &Value) -> bool {
    match op {
        BinaryOp::And => left.is_truthy(),
        BinaryOp::Or => !left.is_truthy(),
        _ => left.is_nothing(),
    }
}
