//! Names and their values.

use super::{Machine, Run};
use crate::ast::{Kind, Symbol};
use crate::builtins;
use crate::value::{ScopeId, Value};

/// The names of a block or a call.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    outer: Option<ScopeId>,
    names: Vec<Slot>,
}

#[derive(Debug)]
struct Slot {
    name: Symbol,
    /// None until the declaration is reached.
    value: Option<Value>,
    is_const: bool,
}

const BYTES_OF_SCOPE: usize = size_of::<Scope>();
const BYTES_OF_SLOT: usize = size_of::<Slot>();

/// Names that mean something in other places where JavaScript runs, and why they do not here.
const ABSENT: &[(&str, &str)] = &[
    ("eval", "code is never made from text"),
    ("Function", "code is never made from text"),
    ("AsyncFunction", "code is never made from text"),
    ("GeneratorFunction", "code is never made from text"),
    ("globalThis", "there is no global object"),
    ("Proxy", "reading a field runs nothing"),
    ("Reflect", "there is nothing behind an object"),
    ("WebAssembly", "code is never made from bytes"),
    ("SharedArrayBuffer", "no memory is shared"),
    ("Atomics", "no memory is shared"),
    ("WeakRef", "nothing is freed before the evaluation ends"),
    ("FinalizationRegistry", "nothing is freed before the evaluation ends"),
];

impl Machine<'_> {
    /// Enters a new scope, and returns the previous one.
    pub(super) fn push_scope(&mut self, outer: ScopeId, names: usize) -> Run<ScopeId> {
        self.bytes(BYTES_OF_SCOPE + names * BYTES_OF_SLOT)?;
        let place = u32::try_from(self.scopes.len()).unwrap_or(u32::MAX);
        self.scopes.push(Scope { outer: Some(outer), names: Vec::with_capacity(names) });
        Ok(std::mem::replace(&mut self.scope, ScopeId(place)))
    }

    /// Leaves a scope. It is freed if no function can refer to it.
    pub(super) fn pop_scope(&mut self, before: ScopeId, closures: usize) {
        if self.closures == closures {
            self.scopes.truncate(self.scope.0 as usize);
        }
        self.scope = before;
    }

    /// The scope around this one.
    pub(super) fn outer_scope(&self) -> ScopeId {
        self.scopes.get(self.scope.0 as usize).and_then(|scope| scope.outer).unwrap_or(ScopeId(0))
    }

    fn scope_mut(&mut self) -> Option<&mut Scope> {
        self.scopes.get_mut(self.scope.0 as usize)
    }

    /// Declares a name in this scope.
    pub(super) fn declare(&mut self, name: Symbol, value: Option<Value>, kind: Kind) -> Run<()> {
        self.bytes(BYTES_OF_SLOT)?;
        let slot = Slot { name, value, is_const: kind == Kind::Const };
        if let Some(scope) = self.scope_mut() {
            scope.names.push(slot);
        }
        Ok(())
    }

    pub(super) fn declare_global(&mut self, name: Symbol, value: Value) -> Run<()> {
        self.bytes(BYTES_OF_SLOT)?;
        let slot = Slot { name, value: Some(value), is_const: false };
        if let Some(scope) = self.scopes.first_mut() {
            scope.names.push(slot);
        }
        Ok(())
    }

    /// Declares the `var`s of a function; existing values are kept.
    pub(super) fn declare_vars(&mut self, vars: &[Symbol]) -> Run<()> {
        for &var in vars {
            let is_there =
                self.scope_mut().is_some_and(|scope| scope.names.iter().any(|slot| slot.name == var));
            if !is_there {
                self.declare(var, Some(Value::Undefined), Kind::Var)?;
            }
        }
        Ok(())
    }

    /// Initialises a declared name of this scope.
    pub(super) fn initialise(&mut self, name: Symbol, value: Value) -> Run<()> {
        let slot = self.scope_mut().and_then(|scope| scope.names.iter_mut().find(|slot| slot.name == name));
        match slot {
            Some(slot) => slot.value = Some(value),
            None => self.declare(name, Some(value), Kind::Let)?,
        }
        Ok(())
    }

    /// Returns the scope and index of a name, and the cost of the search.
    fn search(&self, name: Symbol) -> (Option<(usize, usize)>, usize) {
        let (mut scope, mut steps) = (Some(self.scope), 0);
        let found = loop {
            let Some(id) = scope.map(|id| id.0 as usize) else { break None };
            let Some(here) = self.scopes.get(id) else { break None };
            steps += 1 + here.names.len() / 8;
            if let Some(at) = here.names.iter().position(|slot| slot.name == name) {
                break Some((id, at));
            }
            scope = here.outer;
        };
        (found, steps / 8)
    }

    fn find(&mut self, name: Symbol) -> Run<Option<(usize, usize)>> {
        let (found, steps) = self.search(name);
        if steps > 0 {
            self.steps(steps)?;
        }
        Ok(found)
    }

    fn find_slot(&mut self, name: Symbol) -> Run<Option<&mut Slot>> {
        let Some((id, at)) = self.find(name)? else { return Ok(None) };
        Ok(self.scopes.get_mut(id).and_then(|scope| scope.names.get_mut(at)))
    }

    /// Returns the number in a variable; `None` if it has another value, or a search would have to be charged.
    pub(super) fn number_of_name(&self, name: Symbol) -> Option<f64> {
        let (Some((id, at)), 0) = self.search(name) else { return None };
        match self.scopes.get(id)?.names.get(at)?.value {
            Some(Value::Number(number)) => Some(number),
            _ => None,
        }
    }

    /// Returns a mutable number in a variable; `None` if it has another value, or is constant.
    pub(super) fn number_in(&mut self, name: Symbol) -> Run<Option<&mut f64>> {
        Ok(match self.find_slot(name)? {
            Some(Slot { value: Some(Value::Number(number)), is_const: false, .. }) => Some(number),
            _ => None,
        })
    }

    /// Returns the value of a name; `None` if it is unknown.
    pub(super) fn look_up(&mut self, name: Symbol) -> Run<Option<Value>> {
        match self.find_slot(name)? {
            Some(Slot { value: Some(value), .. }) => return Ok(Some(value.clone())),
            Some(_) => return Err(self.too_early(name)),
            None => {}
        }
        let text = self.program.name(name);
        Ok(match text {
            "undefined" => Some(Value::Undefined),
            "NaN" => Some(Value::Number(f64::NAN)),
            "Infinity" => Some(Value::Number(f64::INFINITY)),
            text => builtins::global(text).map(Value::Global),
        })
    }

    pub(super) fn name(&mut self, name: Symbol) -> Run {
        match self.look_up(name)? {
            Some(value) => Ok(value),
            None => Err(self.unknown(name)),
        }
    }

    /// Assigns to an existing name, or creates a global variable.
    pub(super) fn assign_name(&mut self, name: Symbol, value: Value) -> Run<()> {
        let outcome = match self.find_slot(name)? {
            Some(Slot { is_const: true, value: Some(_), .. }) => Assigned::Const,
            Some(Slot { value: None, .. }) => Assigned::TooEarly,
            Some(slot) => {
                slot.value = Some(value);
                return Ok(());
            }
            None => Assigned::New,
        };
        let text = self.program.name(name);
        match outcome {
            Assigned::Const => Err(self
                .type_error_fix(format!("`{text}` is a const and keeps its value"), "declare it with let")),
            Assigned::TooEarly => Err(self.too_early(name)),
            Assigned::New if builtins::global(text).is_some() || super::is_forbidden(text) => {
                Err(self.forbidden(format!("`{text}` cannot be replaced"), Some("use another name")))
            }
            Assigned::New if matches!(text, "undefined" | "NaN" | "Infinity") => {
                Err(self.type_error(format!("`{text}` never changes")))
            }
            Assigned::New if self.is_strict => Err(self.unknown(name)),
            Assigned::New => self.declare_global(name, value),
        }
    }

    fn too_early(&mut self, name: Symbol) -> super::Stop {
        let text = self.program.name(name);
        self.reference_error(format!("`{text}` is used before it is declared"), None)
    }

    fn unknown(&mut self, name: Symbol) -> super::Stop {
        let text = self.program.name(name);
        if let Some((_, why)) = ABSENT.iter().find(|(absent, _)| *absent == text) {
            return self.forbidden(format!("`{text}` does not exist here: {why}"), None);
        }
        let fix = format!("pass `{text}` as a variable, or check its spelling");
        self.reference_error(format!("`{text}` is not defined"), Some(fix))
    }
}

/// Result of an assignment that needs further handling.
enum Assigned {
    Const,
    TooEarly,
    New,
}
