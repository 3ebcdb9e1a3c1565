//! Runs a program over data. Every allocation is charged before it is made.

mod assign;
mod calls;
mod data;
mod expressions;
mod fields;
mod heap;
mod iterate;
mod loops;
mod members;
mod operators;
mod own;
mod promises;
mod scopes;
mod statements;
mod stop;

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use crate::ast::{ExprId, Program};
use crate::limits::{EvalOptions, Meter};
use crate::regex::Regex;
use crate::value::{Fields, Object, ObjectId, ScopeId, Value};
use crate::{Data, EvalError, SourceSpan};

pub(crate) use data::too_long;
pub(crate) use fields::Key;
pub(crate) use iterate::Going;
pub(crate) use operators::Hint;
pub(crate) use promises::Gathering;
pub(crate) use scopes::Scope;
pub(crate) use stop::{Run, Stop};

/// One evaluation of a program: its values, scopes and limits.
pub(crate) struct Machine<'p> {
    program: &'p Program,
    meter: Meter<'p>,
    objects: Vec<Object>,
    scopes: Vec<Scope>,
    /// Number of functions made: scopes that none of them can refer to may be freed.
    closures: usize,
    scope: ScopeId,
    this: Value,
    /// Whether the current code is strict (`'use strict'`).
    is_strict: bool,
    /// How many calls are under way.
    calls: usize,
    /// The completion value at the top so far; none where the statements of the innermost list have had none.
    last: Option<Value>,
    /// Where the source is read now, for errors.
    at: SourceSpan,
    jobs: VecDeque<promises::Job>,
    groups: Vec<promises::Group>,
    regexes: HashMap<ExprId, Rc<Regex>>,
    /// Fields of objects that are not plain: of lists, functions, dates.
    beside: HashMap<ObjectId, Fields>,
    /// The lists that are being written as text.
    written: Vec<ObjectId>,
    random: Option<u64>,
}

impl<'p> Machine<'p> {
    pub(crate) fn new(program: &'p Program, meter: Meter<'p>) -> Self {
        Self {
            program,
            objects: Vec::new(),
            scopes: vec![Scope::default()],
            closures: 0,
            scope: ScopeId(0),
            this: Value::Undefined,
            is_strict: program.is_strict,
            calls: 0,
            last: None,
            at: SourceSpan::default(),
            jobs: VecDeque::new(),
            groups: Vec::new(),
            regexes: HashMap::new(),
            beside: HashMap::new(),
            written: Vec::new(),
            random: meter.options().seed,
            meter,
        }
    }

    /// Runs the program over variables, and returns its value as plain data.
    pub(crate) fn run(&mut self, vars: &[(&str, &Data)]) -> Result<Data, EvalError> {
        let outcome = self.bring_in(vars).and_then(|()| self.value());
        match outcome.and_then(|value| self.plain_data(&value)) {
            Ok(data) => Ok(data),
            Err(stop) => Err(self.explain(stop)),
        }
    }

    /// As [`Machine::run`], but as the text that a template shows.
    pub(crate) fn run_to_text(&mut self, vars: &[(&str, &Data)]) -> Result<String, EvalError> {
        let outcome = self.bring_in(vars).and_then(|()| self.value());
        match outcome.and_then(|value| self.text_of(&value)) {
            Ok(text) => Ok(text.well_formed().to_string()),
            Err(stop) => Err(self.explain(stop)),
        }
    }

    /// Like [`Machine::run`], but returns whether the value is truthy.
    pub(crate) fn run_to_bool(&mut self, vars: &[(&str, &Data)]) -> Result<bool, EvalError> {
        match self.bring_in(vars).and_then(|()| self.value()) {
            Ok(value) => Ok(value.is_truthy()),
            Err(stop) => Err(self.explain(stop)),
        }
    }

    /// Creates variables for those that the program names.
    fn bring_in(&mut self, vars: &[(&str, &Data)]) -> Run<()> {
        if vars.is_empty() {
            return Ok(());
        }
        for (symbol, name) in self.program.names() {
            if is_forbidden(name) {
                continue;
            }
            if let Some((_, data)) = vars.iter().rev().find(|(var, _)| *var == name) {
                let value = self.value_from(data)?;
                self.declare_global(symbol, value)?;
            }
        }
        Ok(())
    }

    fn value(&mut self) -> Run {
        let program = self.program;
        self.declare_vars(&program.vars)?;
        let value = match self.body(&program.body)? {
            Some(returned) => returned,
            None => self.last.take().unwrap_or(Value::Undefined),
        };
        self.wait_for(&value)
    }

    /// The steps and bytes that were spent.
    pub(crate) fn spent(&self) -> (u64, usize) {
        self.meter.spent()
    }

    pub(crate) fn options(&self) -> &EvalOptions<'p> {
        self.meter.options()
    }

    /// Counts work of a built-in function.
    pub(crate) fn steps(&mut self, steps: usize) -> Run<()> {
        Ok(self.meter.steps(steps)?)
    }

    /// Refuses work that would be over the limit, before it is begun.
    pub(crate) fn affords(&self, steps: usize) -> Run<()> {
        Ok(self.meter.affords(steps)?)
    }

    /// How many steps are left.
    pub(crate) fn steps_left(&self) -> usize {
        self.meter.steps_left()
    }

    /// What tells that the time is up.
    pub(crate) fn deadline(&self) -> Option<&'p dyn Fn() -> bool> {
        self.meter.options().deadline
    }

    /// How many bytes are left.
    pub(crate) fn bytes_left(&self) -> usize {
        self.meter.bytes_left()
    }

    /// Where the source is read now.
    pub(crate) fn here(&self) -> SourceSpan {
        self.at
    }

    /// Charges bytes before they are allocated.
    pub(crate) fn bytes(&mut self, bytes: usize) -> Run<()> {
        Ok(self.meter.bytes(bytes)?)
    }

    /// Does something one level deeper.
    pub(crate) fn deeper<T>(&mut self, run: impl FnOnce(&mut Self) -> Run<T>) -> Run<T> {
        if let Err(refusal) = self.meter.descend() {
            self.meter.ascend();
            return Err(refusal.into());
        }
        let outcome = run(self);
        self.meter.ascend();
        outcome
    }

    /// Returns the next random number in [0, 1); `None` without a seed.
    pub(crate) fn chance(&mut self) -> Option<f64> {
        let state = self.random.as_mut()?;
        // SplitMix64.
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = *state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        Some((mixed >> 11) as f64 / (1_u64 << 53) as f64)
    }
}

/// Names through which JavaScript reaches prototypes and constructors, which do not exist here.
pub(crate) fn is_forbidden(name: &str) -> bool {
    matches!(name, "__proto__" | "constructor" | "prototype")
}
