//! Loops.

use super::assign::Binding;
use super::statements::Flow;
use super::{Machine, Run};
use crate::ast::{Each, ExprId, For, Kind, Over, StatementId, Symbol};
use crate::value::{Content, Value};

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
            if let Some(start) = inner.start {
                let last = std::mem::replace(&mut machine.last, Value::Undefined);
                machine.statement(start)?;
                machine.last = last;
            }
            machine.rounds(inner)
        })
    }

    fn rounds(&mut self, inner: &For) -> Run<Flow> {
        loop {
            self.meter.steps(1)?;
            if let Some(test) = inner.test
                && !self.eval(test)?.is_truthy()
            {
                return Ok(Flow::Next);
            }
            let closures = self.closures;
            match self.statement(inner.body)? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Return(value) => return Ok(Flow::Return(value)),
                Flow::Next | Flow::Continue => {}
            }
            if self.closures != closures && !inner.own.is_empty() {
                self.renew(&inner.own)?;
            }
            if let Some(update) = inner.update {
                self.eval(update)?;
            }
        }
    }

    /// Functions that were made in a round keep the names of that round.
    fn renew(&mut self, own: &[(Symbol, Kind)]) -> Run<()> {
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
        let all = self.eval(inner.all)?;
        if inner.over == Over::Keys {
            let keys = if all.is_nothing() { Vec::new() } else { self.own_keys(&all)? };
            return self.each_of(inner, keys.into_iter().map(Value::text));
        }
        // A list may grow while it is gone through.
        if self.items(&all).is_none() {
            let values = self.spread(&all)?;
            return self.each_of(inner, values.into_iter());
        }
        let mut at = 0;
        loop {
            let Some(value) = self.items(&all).and_then(|items| items.get(at)).cloned() else {
                return Ok(Flow::Next);
            };
            at += 1;
            match self.round(inner, value)? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Return(value) => return Ok(Flow::Return(value)),
                Flow::Next | Flow::Continue => {}
            }
        }
    }

    fn each_of(&mut self, inner: &Each, values: impl Iterator<Item = Value>) -> Run<Flow> {
        for value in values {
            match self.round(inner, value)? {
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

    /// Calls a function with each item of a list, its place and the list, until it says to stop. The list may change
    /// meanwhile.
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
        match this {
            Value::Object(id) => match self.content(*id) {
                Some(Content::Array(items)) => Ok(items.len()),
                _ => Err(self.type_error(format!("`{method}` is a function of lists"))),
            },
            _ => Err(self.type_error(format!("`{method}` is a function of lists"))),
        }
    }
}
