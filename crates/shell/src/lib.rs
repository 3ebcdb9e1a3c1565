#![doc = include_str!("../README.md")]
//!
//! # How it works
//!
//! A text is parsed by recursive descent into a tree of lists, pipelines, commands and words (`parser`), and a walk
//! over the tree lists everything that the text can do (`runs`). To follow a text through the files: `admission`
//! (permitted characters), `parser` and `text` (the state), `grammar`, `compound`, `test` and `simple` (commands),
//! `word`, `expansion`, `ansi` and `heredoc` (words); then `runs`, `braces` (words become arguments), `payload` with
//! the table in `wrappers` (programs that run programs), and `evaluated` (builtins that evaluate quoted text).
//! `render` writes the parsed commands in one canonical spelling.
#![forbid(unsafe_code)]

mod actions;
mod admission;
mod ansi;
mod arithmetic_text;
mod braces;
mod builtins;
mod call_chain;
mod compound;
mod evaluated;
mod expansion;
pub mod getopt;
mod grammar;
mod groups;
mod heredoc;
mod inline_vec;
pub mod lookup;
mod numeric_output;
mod options;
mod parser;
mod partial;
mod payload;
mod read_error;
mod render;
mod runs;
mod script;
mod shell_options;
mod shown;
mod simple;
mod span;
mod test;
mod text;
mod tree;
mod values;
mod var_sources;
mod word;
mod wrappers;

pub use actions::{
    Actions, Arg, Assignment, AssignmentScope, DataFlow, Flow, Function, HazardKind, InvocationKind,
    Redirect, Run, ShellHazard, Substitution, SubstitutionForm, VariableChange, WordCount,
};
pub use admission::refused_character;
pub use options::{ReadOptions, Shell};
pub use read_error::{ReadError, ReadErrorKind};
pub use render::{quote, quote_argv};
pub use script::{PartialScript, Script};
pub use span::Span;
pub use tree::RedirectOperator;
pub use wrappers::wrapper_options;
