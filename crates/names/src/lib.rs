//! Which names of files start programs, instruct agents, or hold secrets, and which variables programs obey: one table of each, and a
//! lookup.
//!
//! Every row answers one question: *what does some program on the host run, or some agent obey, because a file of this
//! name is there?* A command that may write `.vscode/tasks.json` runs what it likes as soon as somebody opens the folder, and
//! one that may write `CLAUDE.md` speaks to the next agent. Rows about secrets say which files no command has any
//! business reading. Each row says what follows: what a writer, a reader, a file tool and a sandbox may do.
//!
//! ```
//! use stockade_names::{Root, Write, treatment};
//!
//! assert_eq!(treatment(Root::Folder, ["app", ".VSCode", "tasks.json"]).write, Write::Protect);
//! assert_eq!(treatment(Root::Folder, ["docs", "CLAUDE.md"]).write, Write::Report);
//! assert_eq!(treatment(Root::Folder, ["src", "main.rs"]).write, Write::Free);
//! ```
//!
//! Names are compared as the most careless file system compares them: case, invisible characters, dots and spaces at the
//! end, streams and the short name `git~1` make no difference. A folder that has a row covers whatever lies in it.
//!
//! What this crate does not do: it opens no file, follows no link and decides nothing. Configuration that is source code of
//! the project (`Makefile`, `conftest.py`, `eslint.config.js`) has no row: it runs when the project runs, as all of it does.

#![forbid(unsafe_code)]

mod families;
mod fold;
mod lookup;
mod name;
mod pattern;
mod variables;
mod workspaces;

pub use families::{FAMILIES, Family, names};
pub use fold::fold;
pub use lookup::{Beginning, Beginnings, Hit, Root, hits, obeyed, treatment};
pub use name::{Kind, Name, Read, SandboxView, Scope, Tools, Treatment, Write};
pub use pattern::fits;
pub use variables::{
    HELPER_VARIABLES, HISTORY_VARIABLES, LOADER_VARIABLES, NODE_VARIABLES, SEARCH_VARIABLES,
    SEPARATOR_VARIABLES, TOOLCHAIN_VARIABLES, TRACE_VARIABLES, obeyed_variable,
};
pub use workspaces::{DEFAULT_WORKSPACES, DefaultWorkspaces, default_workspace};

/// The README's example is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
