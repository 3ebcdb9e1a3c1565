//! Loops.

use super::assign::Binding;
use super::statements::Flow;
use super::{Machine, Run};
use crate::ast::{Each, ExprId, For, Kind, Over, StatementId, Symbol};
use crate::value::Value;

impl Machine<'_> {
    /// `while` tests first, `do` last.
    pub(super) fn while_loop(
        &mut self,
        first: Option<ExprId>,
        body: StatementId,
        test: Option<ExprId>,
    ) -> Run<Flow> {
        if let Some(first) = first
            && !self.eval(first)?.is_truthy()
        {
            return Ok(Flow::Next);
        }
        loop {
            match self.statement(body)? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Return(value) => return Ok(Flow::Return(value)),
                Flow::Next | Flow::Continue => {}
            }
            if let Some(test) = test
                && !self.eval(test)?.is_truthy()
            {
                return Ok(Flow::Next);
            }
        }
    }

    pub(super) fn for_loop(&mut self, inner: &For) -> Run<Flow> {
        self.scoped(inner.own.len(), |machine| {
            for &(name, kind) in &inner.own {
                machine.declare(name, None, kind)?;
            }
            let closures = machine.closures;
            if let Some(start) = inner.start {
                let last = machine.last.take();
                machine.statement(start)?;
                machine.last = last;
            }
            machine.renew(&inner.own, closures)?;
            machine.rounds(inner)
        })
    }

    fn rounds(&mut self, inner: &For) -> Run<Flow> {
        let mut closures = self.closures;
        loop {
            self.meter.steps(1)?;
            if let Some(test) = inner.test
                && !self.eval(test)?.is_truthy()
            {
                return Ok(Flow::Next);
            }
            match self.statement(inner.body)? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Return(value) => return Ok(Flow::Return(value)),
                Flow::Next | Flow::Continue => {}
            }
            self.renew(&inner.own, closures)?;
            // Functions made from here on belong to the next iteration.
            closures = self.closures;
            if let Some(update) = inner.update {
                self.eval(update)?;
            }
        }
    }

    /// Functions made in an iteration keep its bindings: the next iteration has its own.
    fn renew(&mut self, own: &[(Symbol, Kind)], closures: usize) -> Run<()> {
        if self.closures == closures || own.is_empty() {
            return Ok(());
        }
        let mut values = Vec::with_capacity(own.len());
        for &(name, kind) in own {
            values.push((name, kind, self.look_up(name)?));
        }
        let outer = self.outer_scope();
        self.push_scope(outer, own.len())?;
        for (name, kind, value) in values {
            self.declare(name, value, kind)?;
        }
        Ok(())
    }

    pub(super) fn each_loop(&mut self, inner: &Each) -> Run<Flow> {
        // The names of the loop hide others already, and have no value yet.
        let all = self.scoped(inner.own.len(), |machine| {
            for &(name, kind) in &inner.own {
                machine.declare(name, None, kind)?;
            }
            machine.eval(inner.all)
        })?;
        if inner.over == Over::Keys {
            return self.each_key(inner, &all);
        }
        let mut going = self.iteration(&all)?;
        while let Some(value) = self.next(&mut going)? {
            match self.round(inner, value)? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Return(value) => return Ok(Flow::Return(value)),
                Flow::Next | Flow::Continue => {}
            }
        }
        Ok(Flow::Next)
    }

    /// `for (key in object)`: a field that went before its turn is left out.
    fn each_key(&mut self, inner: &Each, object: &Value) -> Run<Flow> {
        let keys = if object.is_nothing() { Vec::new() } else { self.own_keys(object)? };
        for name in keys {
            if !self.has_own(object, &super::Key::of(&name)) {
                continue;
            }
            match self.round(inner, Value::text(name))? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Return(value) => return Ok(Flow::Return(value)),
                Flow::Next | Flow::Continue => {}
            }
        }
        Ok(Flow::Next)
    }

    fn round(&mut self, inner: &Each, value: Value) -> Run<Flow> {
        self.meter.steps(1)?;
        let value = if inner.over == Over::Awaited { self.wait_for(&value)? } else { value };
        let into = inner.kind.map_or(Binding::There, Binding::Declared);
        self.scoped(inner.own.len(), |machine| {
            for &(name, kind) in &inner.own {
                machine.declare(name, None, kind)?;
            }
            machine.bind(inner.target, value, into)?;
            machine.statement(inner.body)
        })
    }

    /// Calls a function with each item of a list, its index and the list, until it stops. The list may change
    /// meanwhile: items removed before their turn are skipped, and items appended are not visited.
    pub(crate) fn each_item(
        &mut self,
        list: &Value,
        function: &Value,
        this: &Value,
        mut see: impl FnMut(&mut Self, usize, &Value, Value) -> Run<bool>,
    ) -> Run<()> {
        self.callback(function)?;
        let len = self.items(list).map_or(0, Vec::len);
        for at in 0..len {
            self.steps(1)?;
            if !self.has_item(list, at) {
                continue;
            }
            let item = self.item(list, at);
            let answer = self.call(function, this, &[item.clone(), at.into(), list.clone()])?;
            if !see(self, at, &item, answer)? {
                break;
            }
        }
        Ok(())
    }

    /// The list that a method was called on.
    pub(crate) fn this_list(&mut self, this: &Value, method: &str) -> Run<usize> {
        if let Some(items) = self.items(this) {
            return Ok(items.len());
        }
        if this.is_nothing() {
            return Err(self.type_error(format!("`{method}` is a function of lists")));
        }
        Err(self.forbidden(
            format!("`{method}` works on lists only here"),
            Some("make a list first: Array.from(…)"),
        ))
    }
}
