//! Which names a block and a function declare, as far as they have been read.

use super::{Parsed, Parser};
use crate::EvalError;
use crate::ast::{Block, FunctionId, Kind, StatementId, Symbol};

/// The blocks that are open, the innermost last, and the `var`s of the functions around them.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    blocks: Vec<Names>,
    vars: Vec<Vec<Symbol>>,
}

/// What a block declares.
#[derive(Debug, Default)]
struct Names {
    lexical: Vec<(Symbol, Kind)>,
    functions: Vec<(Symbol, FunctionId)>,
}

/// Names, and how they are declared.
pub(super) type Lexical = Box<[(Symbol, Kind)]>;

impl Parser<'_> {
    /// Reads the body of a function, and returns its `var`s too.
    pub(super) fn function_scope(
        &mut self,
        read: impl FnOnce(&mut Self) -> Parsed<Vec<StatementId>>,
    ) -> Parsed<(Block, Box<[Symbol]>)> {
        self.scopes.vars.push(Vec::new());
        let block = self.block_scope(read);
        let mut vars = self.scopes.vars.pop().unwrap_or_default();
        vars.sort_unstable();
        vars.dedup();
        Ok((block?, vars.into()))
    }

    /// Reads statements that have names of their own.
    pub(super) fn block_scope(
        &mut self,
        read: impl FnOnce(&mut Self) -> Parsed<Vec<StatementId>>,
    ) -> Parsed<Block> {
        self.scopes.blocks.push(Names::default());
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

    /// Declares a name, once.
    pub(super) fn declare(&mut self, symbol: Symbol, kind: Kind) -> Parsed<()> {
        if kind == Kind::Var {
            self.scopes.vars.last_mut().into_iter().for_each(|vars| vars.push(symbol));
            return Ok(());
        }
        let Some(names) = self.scopes.blocks.last_mut() else { return Ok(()) };
        // The work is bounded: a block of that many names is refused.
        let is_known = names.lexical.iter().any(|(name, _)| *name == symbol)
            || names.functions.iter().any(|(name, _)| *name == symbol);
        names.lexical.push((symbol, kind));
        let too_many = names.lexical.len() > MAX_NAMES;
        if is_known {
            return Err(self.twice(symbol));
        }
        if too_many { Err(self.error_here("a block declares too many names")) } else { Ok(()) }
    }

    pub(super) fn declare_function(&mut self, symbol: Symbol, function: FunctionId) -> Parsed<()> {
        let Some(names) = self.scopes.blocks.last_mut() else { return Ok(()) };
        let is_known = names.lexical.iter().any(|(name, _)| *name == symbol);
        names.functions.push((symbol, function));
        let too_many = names.functions.len() > MAX_NAMES;
        if is_known {
            return Err(self.twice(symbol));
        }
        if too_many { Err(self.error_here("a block declares too many names")) } else { Ok(()) }
    }

    fn twice(&self, symbol: Symbol) -> EvalError {
        self.error_here(format!("`{}` is declared twice", self.lexer.name(symbol)))
    }
}

/// The most names of a block. They are looked up one after the other.
const MAX_NAMES: usize = 500;
