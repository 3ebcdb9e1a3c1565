//! HTML pages: what a person would read on them.
//!
//! Tokens come from a tokenizer of the HTML standard. No tree is built, since an attacker can make that quadratic; a
//! bounded stack of open elements follows the standard closely enough that text is never taken out of an element that
//! hides it. Where following exactly would need the tree, an element is left open for longer: then visible text may get
//! lost, but no hidden text gets through.

mod blocks;
mod css;
mod elements;
mod hidden;
mod open;
mod readable;
mod rewrite;
mod walk;

pub(crate) use self::readable::main_content;
pub(crate) use self::rewrite::without_hidden;
