//! Calls.

use std::rc::Rc;

use super::assign::Binding;
use super::{Machine, Run};
use crate::ast::{Block, Body, ExprId, Function, Item, Kind, Symbol};
use crate::value::{Closure, Content, ObjectId, Value};

impl Machine<'_> {
    pub(crate) fn is_callable(&self, value: &Value) -> bool {
        match value {
            Value::Method(_) => true,
            Value::Global(global) => global.is_function(),
            Value::Object(id) => matches!(
                self.content(*id),
                Some(Content::Closure(_) | Content::Bound { .. } | Content::Settler { .. })
            ),
            _ => false,
        }
    }

    /// Calls a function.
    pub(crate) fn call(&mut self, function: &Value, this: &Value, arguments: &[Value]) -> Run {
        self.meter.steps(1)?;
        match function {
            Value::Method(method) => (method.call)(self, this, arguments),
            Value::Global(global) => match global.call {
                Some(call) => call(self, this, arguments),
                None => Err(self.type_error(format!("`{}` is made with new", global.name))),
            },
            Value::Object(id) => match self.content(*id) {
                Some(Content::Closure(closure)) => {
                    let closure = closure.clone();
                    self.deeper(|machine| machine.call_closure(*id, &closure, this, arguments))
                }
                Some(Content::Bound { target, this, arguments: first, .. }) => {
                    let (target, this) = (target.clone(), this.clone());
                    let first = Rc::clone(first);
                    self.bytes((first.len() + arguments.len()) * size_of::<Value>())?;
                    let all: Vec<Value> = first.iter().chain(arguments).cloned().collect();
                    self.deeper(|machine| machine.call(&target, &this, &all))
                }
                Some(Content::Settler { promise, outcome }) => {
                    let (promise, outcome) = (*promise, *outcome);
                    let value = arguments.first().cloned().unwrap_or(Value::Undefined);
                    self.settle_by_call(promise, outcome, value)?;
                    Ok(Value::Undefined)
                }
                _ => Err(self.type_error("what is called is not a function")),
            },
            _ => Err(self.type_error("what is called is not a function")),
        }
    }

    /// Checks that an argument is a function.
    pub(crate) fn callback(&mut self, function: &Value) -> Run<()> {
        if self.is_callable(function) {
            return Ok(());
        }
        let what = self.type_name(function);
        Err(self.type_error(format!("{what} is not a function")))
    }

    /// Whether JavaScript would make an object of a function's call after `new`.
    fn makes_objects(&self, callee: ObjectId) -> bool {
        match self.content(callee) {
            Some(Content::Closure(closure)) => {
                let function = self.program.function(closure.function);
                !function.is_arrow && !function.is_async
            }
            Some(Content::Bound { target: Value::Object(target), .. }) => {
                matches!(self.content(*target), Some(Content::Closure(_)))
            }
            Some(Content::Bound { target: Value::Global(_), .. }) => true,
            _ => false,
        }
    }

    fn call_closure(&mut self, id: ObjectId, closure: &Closure, this: &Value, arguments: &[Value]) -> Run {
        let function = self.program.function(closure.function);
        let names = function.own.len() + function.vars.len() + usize::from(function.knows_itself);
        let closures = self.closures;
        let this = match this {
            _ if function.is_arrow => closure.this.clone(),
            // A sloppy function called on a primitive receives an object.
            simple if !function.is_strict => self.boxed(simple)?,
            this => this.clone(),
        };
        let this = if this.is_nothing() && !function.is_strict { Value::Undefined } else { this };
        let before = self.push_scope(closure.scope, names)?;
        let this = std::mem::replace(&mut self.this, this);
        let was_strict = std::mem::replace(&mut self.is_strict, function.is_strict);
        self.calls += 1;
        let outcome = self.run_function(function, id, arguments);
        self.calls -= 1;
        self.is_strict = was_strict;
        self.this = this;
        self.pop_scope(before, closures);
        if function.is_async { self.promise_of(outcome) } else { outcome }
    }

    fn run_function(&mut self, function: &Function, id: ObjectId, arguments: &[Value]) -> Run {
        if let (Some(name), true) = (function.name, function.knows_itself)
            && !function.own.contains(&name)
        {
            // A `var` of the same name hides it; else it is the function, and stays it.
            if function.has_expressions || !function.vars.contains(&name) {
                self.declare(name, Some(Value::Object(id)), Kind::Const)?;
            }
        }
        for &name in &function.own {
            self.declare(name, None, Kind::Let)?;
        }
        for (at, parameter) in function.parameters.iter().enumerate() {
            let value = arguments.get(at).cloned().unwrap_or(Value::Undefined);
            self.bind_element(parameter, value, Binding::Declared(Kind::Let))?;
        }
        if let Some(rest) = function.rest {
            let others = arguments.get(function.parameters.len()..).unwrap_or_default().to_vec();
            let others = self.array(others)?;
            self.bind(rest, others, Binding::Declared(Kind::Let))?;
        }
        if !function.has_expressions {
            return self.run_body(function);
        }
        // Functions among the parameters see the parameters, but not the declarations of the body.
        let mut vars = Vec::with_capacity(function.vars.len());
        for &var in &function.vars {
            let kept = if function.own.contains(&var) { self.look_up(var)? } else { None };
            vars.push((var, kept.unwrap_or(Value::Undefined)));
        }
        let closures = self.closures;
        let before = self.push_scope(self.scope, vars.len())?;
        let outcome = self.declare_all(vars).and_then(|()| self.run_body(function));
        self.pop_scope(before, closures);
        outcome
    }

    fn declare_all(&mut self, vars: Vec<(Symbol, Value)>) -> Run<()> {
        vars.into_iter().try_for_each(|(var, value)| self.declare(var, Some(value), Kind::Var))
    }

    fn run_body(&mut self, function: &Function) -> Run {
        if !function.has_expressions {
            self.declare_vars(&function.vars)?;
        }
        match &function.body {
            Body::Expr(expr) => self.eval(*expr),
            Body::Block(block) => Ok(self.body(block)?.unwrap_or(Value::Undefined)),
        }
    }

    /// Runs the statements of a function or of the program, and returns the value of `return`.
    pub(super) fn body(&mut self, block: &Block) -> Run<Option<Value>> {
        self.declare_block(block)?;
        match self.statements(&block.body)? {
            super::statements::Flow::Return(value) => Ok(Some(value)),
            _ => Ok(None),
        }
    }

    pub(super) fn new_object(&mut self, id: ExprId, callee: ExprId, arguments: &[Item]) -> Run {
        let callee = self.eval(callee)?;
        let arguments = self.arguments(arguments)?;
        self.at = self.program.span(id);
        match callee {
            Value::Global(global) => match global.construct {
                Some(construct) => construct(self, &Value::Undefined, &arguments),
                None => Err(self.type_error(format!("`{}` is not made with new", global.name))),
            },
            Value::Object(callee) if self.makes_objects(callee) => Err(self.forbidden(
                "only built-in kinds are made with new",
                Some("call the function without new, and let it return an object"),
            )),
            callee if self.is_callable(&callee) => Err(self.type_error("this function is not made with new")),
            _ => Err(self.type_error("the operand of new is not a constructor")),
        }
    }
}
