//! Rules for commands: what they look like, and when one matches.

pub(crate) mod builtin;
pub(crate) mod check;
pub(crate) mod effect;
pub(crate) mod expressions;
#[cfg(feature = "rule-files")]
pub(crate) mod file;
pub(crate) mod lint;
pub(crate) mod matcher;
mod options;
pub(crate) mod place;
mod program;
pub(crate) mod rule;
pub(crate) mod set;
pub(crate) mod token;
pub(crate) mod write;
