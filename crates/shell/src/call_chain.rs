//! The programs that something runs through: `sudo sh -c 'rm x'` runs `rm` through `sudo` and `sh`.
//!
//! Most programs run no other one, so the chain lives on the stack until its end is reached.

use std::borrow::Cow;

/// The innermost program of a chain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallChain<'a> {
    name: &'a str,
    outer: Option<&'a CallChain<'a>>,
    length: usize,
}

impl<'a> CallChain<'a> {
    /// Adds a program to a chain.
    pub(crate) fn through(name: &'a str, outer: Option<&'a CallChain<'a>>) -> Self {
        Self { name, outer, length: 1 + length(outer) }
    }

    /// Returns the chain without its innermost program.
    pub(crate) const fn outer(&self) -> Option<&'a CallChain<'a>> {
        self.outer
    }
}

/// Returns how many programs a chain has.
pub(crate) fn length(call_chain: Option<&CallChain<'_>>) -> usize {
    call_chain.map_or(0, |call_chain| call_chain.length)
}

/// Returns the names of a chain, the outermost first.
pub(crate) fn names(call_chain: Option<&CallChain<'_>>) -> Vec<Cow<'static, str>> {
    let chain = std::iter::successors(call_chain, |call_chain| call_chain.outer);
    let mut names: Vec<_> = chain.map(|call_chain| Cow::Owned(call_chain.name.to_owned())).collect();
    names.reverse();
    names
}
