//! Declared names of blocks and functions, as far as they were parsed, and conflicts between them.

use std::collections::HashMap;

use super::{Parsed, Parser};
use crate::EvalError;
use crate::ast::{Block, FunctionId, Kind, StatementId, Symbol};

/// The blocks that are open, the innermost last, and the `var`s of the functions around them.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    blocks: Vec<Names>,
    vars: Vec<Vars>,
}

/// The `var`s of a function, and which of the blocks is its outermost.
#[derive(Debug, Default)]
struct Vars {
    names: Vec<Symbol>,
    first_block: usize,
}

/// Names declared by a block.
#[derive(Debug, Default)]
struct Names {
    lexical: Vec<(Symbol, Kind)>,
    functions: Vec<(Symbol, FunctionId)>,
    known: HashMap<Symbol, Declared>,
}

/// How a name is known in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Declared {
    /// `let`, `const`, and a function in a block within a function: no other declaration may have the name.
    Lexical,
    /// `var`, here or in a block within.
    Var,
    /// A function at the top of a function: the last one counts.
    Function,
    /// A parameter, or the name in `catch (name)`: a `var` may have the name too.
    Around,
}

/// Names, and how they are declared.
pub(super) type Lexical = Box<[(Symbol, Kind)]>;

/// Names that may not be declared or assigned to: they denote features that do not exist here.
const NEVER_DECLARED: &[&str] = &["arguments", "eval"];

impl Parser<'_, '_> {
    /// Reads the body of a function with its parameters around it, and returns its `var`s too.
    pub(super) fn function_scope(
        &mut self,
        parameters: &[Symbol],
        read: impl FnOnce(&mut Self) -> Parsed<Vec<StatementId>>,
    ) -> Parsed<(Block, Box<[Symbol]>)> {
        let first_block = self.scopes.blocks.len();
        self.scopes.vars.push(Vars { names: Vec::new(), first_block });
        let block = self.block_scope(parameters, read);
        let mut vars = self.scopes.vars.pop().unwrap_or_default().names;
        vars.sort_unstable();
        vars.dedup();
        Ok((block?, vars.into()))
    }

    /// Parses statements in a scope of their own, in addition to the surrounding names.
    pub(super) fn block_scope(
        &mut self,
        around: &[Symbol],
        read: impl FnOnce(&mut Self) -> Parsed<Vec<StatementId>>,
    ) -> Parsed<Block> {
        let known = around.iter().map(|symbol| (*symbol, Declared::Around)).collect();
        self.scopes.blocks.push(Names { known, ..Names::default() });
        let body = read(self);
        let names = self.scopes.blocks.pop().unwrap_or_default();
        Ok(Block { body: body?.into(), lexical: names.lexical.into(), functions: names.functions.into() })
    }

    /// Reads something that declares names around it, as the head of a loop does.
    pub(super) fn names_scope<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<(T, Lexical)> {
        self.scopes.blocks.push(Names::default());
        let outcome = read(self);
        let names = self.scopes.blocks.pop().unwrap_or_default();
        Ok((outcome?, names.lexical.into()))
    }

    /// The names that the innermost block has declared so far.
    pub(super) fn declared_here(&self) -> Vec<Symbol> {
        let names = self.scopes.blocks.last().map(|names| names.lexical.iter().map(|(symbol, _)| *symbol));
        names.into_iter().flatten().collect()
    }

    /// Permits a `var` with a name that the innermost block declares: `catch (name)`.
    pub(super) fn var_may_repeat(&mut self) {
        let known = self.scopes.blocks.last_mut().map(|names| names.known.values_mut());
        known.into_iter().flatten().for_each(|declared| *declared = Declared::Around);
    }

    /// Declares a name, once.
    pub(super) fn declare(&mut self, symbol: Symbol, kind: Kind) -> Parsed<()> {
        self.check_target(symbol)?;
        if kind == Kind::Var {
            return self.declare_var(symbol);
        }
        let Some(names) = self.scopes.blocks.last_mut() else { return Ok(()) };
        names.lexical.push((symbol, kind));
        let too_many = names.lexical.len() > MAX_NAMES;
        if names.known.insert(symbol, Declared::Lexical).is_some() {
            return Err(self.twice(symbol));
        }
        if too_many { Err(self.error_here("a block declares too many names")) } else { Ok(()) }
    }

    /// A `var` belongs to the function, and passes all blocks on its way there.
    fn declare_var(&mut self, symbol: Symbol) -> Parsed<()> {
        let first_block = self.scopes.vars.last().map_or(0, |vars| vars.first_block);
        let blocks = self.scopes.blocks.get_mut(first_block..).unwrap_or_default();
        let is_taken = blocks
            .iter_mut()
            .any(|names| *names.known.entry(symbol).or_insert(Declared::Var) == Declared::Lexical);
        if is_taken {
            return Err(self.twice(symbol));
        }
        self.scopes.vars.last_mut().into_iter().for_each(|vars| vars.names.push(symbol));
        Ok(())
    }

    pub(super) fn declare_function(&mut self, symbol: Symbol, function: FunctionId) -> Parsed<()> {
        self.check_target(symbol)?;
        let is_top =
            self.scopes.vars.last().is_some_and(|vars| vars.first_block + 1 == self.scopes.blocks.len());
        let Some(names) = self.scopes.blocks.last_mut() else { return Ok(()) };
        names.functions.push((symbol, function));
        let too_many = names.functions.len() > MAX_NAMES;
        let new = if is_top { Declared::Function } else { Declared::Lexical };
        let is_taken = match names.known.insert(symbol, new) {
            None => false,
            Some(Declared::Lexical) => true,
            Some(_) => !is_top,
        };
        if is_taken {
            return Err(self.twice(symbol));
        }
        if too_many { Err(self.error_here("a block declares too many names")) } else { Ok(()) }
    }

    /// Refuses names that cannot be assigned to.
    pub(super) fn check_target(&self, symbol: Symbol) -> Parsed<()> {
        let name = self.lexer.name(symbol);
        if NEVER_DECLARED.contains(&name) {
            return Err(self.error_here(format!("`{name}` cannot be declared or assigned to")));
        }
        if self.is_strict && FUTURE.contains(&name) {
            return Err(self.error_here(format!("`{name}` is no name where 'use strict' holds")));
        }
        Ok(())
    }

    fn twice(&self, symbol: Symbol) -> EvalError {
        self.error_here(format!("`{}` is declared twice", self.lexer.name(symbol)))
    }
}

/// Reserved words in strict code.
pub(super) const FUTURE: &[&str] = &["implements", "interface", "package", "private", "protected", "public"];

/// Maximum number of names of a block. They are searched linearly.
const MAX_NAMES: usize = 500;
