//! Statements.

use super::assign::Binding;
use super::{Key, Machine, Run, Stop};
use crate::ast::{Block, Expr, Kind, Pattern, PatternId, Statement, StatementId, Switch, Try};
use crate::value::Value;

/// Control flow after a statement.
#[derive(Debug)]
pub(super) enum Flow {
    Next,
    Break,
    Continue,
    Return(Value),
}

impl Machine<'_> {
    pub(super) fn statements(&mut self, statements: &[StatementId]) -> Run<Flow> {
        for &statement in statements {
            match self.statement(statement)? {
                Flow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    pub(super) fn statement(&mut self, id: StatementId) -> Run<Flow> {
        self.meter.steps(1)?;
        let (statement, span) = self.program.statement(id);
        if let Err(refusal) = self.meter.descend() {
            self.meter.ascend();
            return Err(refusal.at(span).into());
        }
        self.at = span;
        let outcome = self.statement_here(statement);
        self.meter.ascend();
        outcome
    }

    fn statement_here(&mut self, statement: &Statement) -> Run<Flow> {
        match statement {
            Statement::Expr(expr) => {
                let value = self.eval(*expr)?;
                if self.calls == 0 {
                    self.last = Some(value);
                }
                Ok(Flow::Next)
            }
            Statement::Declare(kind, all) => {
                for (pattern, value) in all {
                    self.declaration(*kind, *pattern, *value)?;
                }
                Ok(Flow::Next)
            }
            Statement::Return(None) => Ok(Flow::Return(Value::Undefined)),
            Statement::Return(Some(expr)) => self.eval(*expr).map(Flow::Return),
            Statement::If(test, then, otherwise) => self.completed(|machine| {
                let chosen = if machine.eval(*test)?.is_truthy() { Some(then) } else { otherwise.as_ref() };
                chosen.map_or(Ok(Flow::Next), |chosen| machine.statement(*chosen))
            }),
            Statement::Block(block) => self.block(block),
            Statement::Throw(expr) => Err(Stop::Throw(self.eval(*expr)?)),
            Statement::Break => Ok(Flow::Break),
            Statement::Continue => Ok(Flow::Continue),
            Statement::Empty => Ok(Flow::Next),
            Statement::For(inner) => self.completed(|machine| machine.for_loop(inner)),
            Statement::Each(inner) => self.completed(|machine| machine.each_loop(inner)),
            Statement::While(test, body) => {
                self.completed(|machine| machine.while_loop(Some(*test), *body, Some(*test)))
            }
            Statement::DoWhile(body, test) => {
                self.completed(|machine| machine.while_loop(None, *body, Some(*test)))
            }
            Statement::Try(inner) => self.completed(|machine| machine.try_statement(inner)),
            Statement::Switch(value, inner) => self.completed(|machine| machine.switch(*value, inner)),
        }
    }

    /// Runs a statement that always has a completion value: that of a statement inside it, otherwise `undefined`, and never
    /// that of the statement before it. ECMA-262 calls this `UpdateEmpty(completion, undefined)`.
    fn completed(&mut self, run: impl FnOnce(&mut Self) -> Run<Flow>) -> Run<Flow> {
        if self.calls > 0 {
            return run(self);
        }
        self.last = None;
        let flow = run(self)?;
        self.last.get_or_insert(Value::Undefined);
        Ok(flow)
    }

    fn declaration(&mut self, kind: Kind, pattern: PatternId, value: Option<crate::ast::ExprId>) -> Run<()> {
        let value = match (value, self.program.pattern(pattern)) {
            (Some(expr), Pattern::Name(symbol)) if matches!(self.program.expr(expr), Expr::Function(_)) => {
                let name = self.program.name(*symbol).into();
                self.named(expr, &Key::Name(name))?
            }
            (Some(expr), _) => self.eval(expr)?,
            (None, _) if kind == Kind::Var => return Ok(()),
            (None, _) => Value::Undefined,
        };
        self.bind(pattern, value, Binding::Declared(kind))
    }

    /// Makes the declarations of a block: functions at once, names when they are reached.
    pub(super) fn declare_block(&mut self, block: &Block) -> Run<()> {
        for &(name, kind) in &block.lexical {
            self.declare(name, None, kind)?;
        }
        for &(name, function) in &block.functions {
            let function = self.function(function, None)?;
            self.initialise(name, function)?;
        }
        Ok(())
    }

    /// Runs something in a scope of its own, if it declares anything.
    pub(super) fn scoped<T>(&mut self, names: usize, run: impl FnOnce(&mut Self) -> Run<T>) -> Run<T> {
        if names == 0 {
            return run(self);
        }
        let closures = self.closures;
        let before = self.push_scope(self.scope, names)?;
        let outcome = run(self);
        self.pop_scope(before, closures);
        outcome
    }

    pub(super) fn block(&mut self, block: &Block) -> Run<Flow> {
        self.scoped(block.lexical.len() + block.functions.len(), |machine| {
            machine.declare_block(block)?;
            machine.statements(&block.body)
        })
    }

    fn try_statement(&mut self, statement: &Try) -> Run<Flow> {
        let mut outcome = self.block(&statement.body);
        if let (Err(Stop::Throw(_)), Some(handler)) = (&outcome, &statement.handler)
            && let Err(Stop::Throw(thrown)) = outcome
        {
            self.forget_completion();
            outcome = self.scoped(statement.own.len(), |machine| {
                if let Some(pattern) = statement.caught {
                    machine.bind(pattern, thrown, Binding::Declared(Kind::Let))?;
                }
                machine.block(handler)
            });
        }
        let Some(last) = &statement.last else { return outcome };
        // A refusal ends the evaluation at once; no handler sees it.
        if let Err(Stop::Refuse(_)) = outcome {
            return outcome;
        }
        let before = self.forget_completion();
        match self.block(last)? {
            // A `finally` that ends normally leaves no completion value of its own.
            Flow::Next => {
                if self.calls == 0 {
                    self.last = before;
                }
                outcome
            }
            flow => Ok(flow),
        }
    }

    /// Drops the completion value of a block that another block follows, and returns it. Statements of functions have none.
    fn forget_completion(&mut self) -> Option<Value> {
        if self.calls == 0 { self.last.take() } else { None }
    }

    fn switch(&mut self, value: crate::ast::ExprId, switch: &Switch) -> Run<Flow> {
        let value = self.eval(value)?;
        let block = &switch.block;
        self.scoped(block.lexical.len() + block.functions.len(), |machine| {
            machine.declare_block(block)?;
            let mut start = None;
            for (test, at) in &switch.cases {
                let Some(test) = test else { continue };
                let test = machine.eval(*test)?;
                machine.compared(&test, &value)?;
                if test.is_same(&value) {
                    start = Some(*at);
                    break;
                }
            }
            let default = switch.cases.iter().find(|(test, _)| test.is_none()).map(|(_, at)| *at);
            let Some(start) = start.or(default) else { return Ok(Flow::Next) };
            match machine.statements(block.body.get(start..).unwrap_or_default())? {
                Flow::Break => Ok(Flow::Next),
                flow => Ok(flow),
            }
        })
    }
}
