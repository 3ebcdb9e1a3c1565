//! Reads shell commands, and finds out what they do.
//!
//! [`Script::read`] reads a text as bash, sh or zsh does, or refuses it: there is no guessing. What it read is a
//! tree of lists, pipelines, commands and words (`tree`), from which [`Script::actions`] lists every program that
//! can run, through wrappers and nested texts, every file that is opened and every variable that is set (`runs`).
//!
//! To follow a text through the files: `admission` (which characters), `parser` and `text` (the state), `grammar`,
//! `compound`, `test` and `simple` (commands), `word`, `expansion`, `ansi` and `heredoc` (words); then `runs`,
//! `braces` (words become arguments), `payload` with the table in `wrappers` (programs that run programs), and
//! `evaluated` (builtins that evaluate quoted text). `render` spells what was read in one canonical way.

mod actions;
mod admission;
mod ansi;
mod braces;
mod compound;
mod evaluated;
mod expansion;
mod few;
mod grammar;
mod held;
mod heredoc;
mod options;
mod parser;
mod payload;
mod refusal;
mod render;
mod runs;
mod script;
mod simple;
mod span;
mod spec;
mod test;
mod text;
mod tree;
mod via;
mod word;
mod words;
mod wrappers;

pub use actions::{
    Actions, Arg, Assignment, AssignmentScope, Called, Flow, Function, Hazard, HazardKind, Redirect, Run,
    Substitution, SubstitutionForm, Through, WordCount,
};
pub(crate) use admission::refused as refused_character;
pub use options::{ReadOptions, Shell};
pub use refusal::{Obstacle, Unanalysable};
pub(crate) use render::quoted;
pub use script::Script;
pub use span::Span;
pub(crate) use spec::Spec;
pub use tree::RedirectOperator;
pub(crate) use words::{Name as OptionName, Options, Order, read as read_options};
pub(crate) use wrappers::find as find_wrapper;
