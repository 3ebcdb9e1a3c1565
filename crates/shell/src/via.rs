//! The programs that something runs through: `sudo sh -c 'rm x'` runs `rm` through `sudo` and `sh`.
//!
//! Nearly every program is one that runs nothing else, so the chain lives on the stack until something is at its end.

use std::borrow::Cow;

/// The innermost program of a chain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Via<'a> {
    name: &'a str,
    outer: Option<&'a Via<'a>>,
    length: usize,
}

impl<'a> Via<'a> {
    /// Adds a program to a chain.
    pub(crate) fn through(name: &'a str, outer: Option<&'a Via<'a>>) -> Self {
        Self { name, outer, length: 1 + length(outer) }
    }

    /// Returns the chain without its innermost program.
    pub(crate) const fn outer(&self) -> Option<&'a Via<'a>> {
        self.outer
    }
}

/// Returns how many programs a chain has.
pub(crate) fn length(via: Option<&Via<'_>>) -> usize {
    via.map_or(0, |via| via.length)
}

/// Returns the names of a chain, the outermost first.
pub(crate) fn names(via: Option<&Via<'_>>) -> Vec<Cow<'static, str>> {
    let chain = std::iter::successors(via, |via| via.outer);
    let mut names: Vec<_> = chain.map(|via| Cow::Owned(via.name.to_owned())).collect();
    names.reverse();
    names
}
