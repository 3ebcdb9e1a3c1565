//! Calls.

use super::assign::Binding;
use super::{Machine, Run};
use crate::ast::{Block, Body, ExprId, Function, Item, Kind};
use crate::value::{Closure, Content, Value};

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
                    self.deeper(|machine| machine.call_closure(&closure, this, arguments))
                }
                Some(Content::Bound { target, this, arguments: first }) => {
                    let (target, this) = (target.clone(), this.clone());
                    let all: Vec<Value> = first.iter().chain(arguments).cloned().collect();
                    self.bytes(all.len() * size_of::<Value>())?;
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

    /// Calls a function that was given, or says what is wrong with it.
    pub(crate) fn callback(&mut self, function: &Value) -> Run<()> {
        if self.is_callable(function) {
            return Ok(());
        }
        let what = self.type_name(function);
        Err(self.type_error(format!("{what} is not a function")))
    }

    fn call_closure(&mut self, closure: &Closure, this: &Value, arguments: &[Value]) -> Run {
        let function = self.program.function(closure.function);
        let names = function.own.len() + function.vars.len();
        let closures = self.closures;
        let before = self.push_scope(closure.scope, names)?;
        let this = if function.is_arrow { closure.this.clone() } else { this.clone() };
        let this = std::mem::replace(&mut self.this, this);
        self.calls += 1;
        let outcome = self.run_function(function, closure, arguments);
        self.calls -= 1;
        self.this = this;
        self.pop_scope(before, closures);
        if function.is_async { self.promise_of(outcome) } else { outcome }
    }

    fn run_function(&mut self, function: &Function, closure: &Closure, arguments: &[Value]) -> Run {
        if let (Some(name), false) = (function.name, function.is_arrow)
            && !function.own.contains(&name)
            && !function.vars.contains(&name)
        {
            // A function knows itself by its name.
            let own = self.closure(closure.clone())?;
            self.closures -= 1;
            self.declare(name, Some(own), Kind::Let)?;
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
        self.declare_vars(&function.vars)?;
        match &function.body {
            Body::Expr(expr) => self.eval(*expr),
            Body::Block(block) => Ok(self.body(block)?.unwrap_or(Value::Undefined)),
        }
    }

    /// Runs the statements of a function or of the program, and returns what was returned.
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
            callee if self.is_callable(&callee) => Err(self.type_error_fix(
                "only built-in kinds are made with new",
                "call the function without new, and let it return an object",
            )),
            _ => Err(self.type_error("what stands after new is not a kind")),
        }
    }
}
