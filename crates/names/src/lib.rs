//! Tables of file names that start programs, instruct agents or hold secrets, and of environment variables that
//! programs obey, with a lookup.
//!
//! Every row answers one question: *what does some program on the host run, or some agent obey, because a file of
//! this name exists?* A command that may write `.vscode/tasks.json` can run any program once the user opens the
//! folder, and one that may write `CLAUDE.md` instructs the next agent. Rows about secrets name files that no command
//! needs to read. Each row lists the consequence for a writer and one level of secrecy, from which commands, file tools
//! and sandboxes derive their answers.
//!
//! ```
//! use stockade_names::{Root, Write, treatment};
//!
//! assert_eq!(treatment(Root::Folder, ["app", ".VSCode", "tasks.json"]).write, Write::Protect);
//! assert_eq!(treatment(Root::Folder, ["docs", "CLAUDE.md"]).write, Write::Report);
//! assert_eq!(treatment(Root::Folder, ["src", "main.rs"]).write, Write::Free);
//! ```
//!
//! Names are compared as the most lenient file system compares them: case, invisible characters, trailing dots and
//! spaces, streams and the short name `git~1` are ignored. A row for a directory covers everything in it.
//!
//! The crate opens no file, follows no link and makes no decision. Configuration that is source code of the project
//! (`Makefile`, `conftest.py`, `eslint.config.js`) has no row: it runs when the project runs, as all of its code
//! does.

#![forbid(unsafe_code)]

mod access;
mod directories;
mod families;
mod fold;
pub mod home;
mod lookup;
mod name;
mod pattern;
mod secrecy;
mod variables;
mod workspaces;

pub use access::Access;
pub use directories::{LOGIN_KEY_FILES, PERSONAL_DIRECTORIES, SYSTEM_DIRECTORIES, TRUSTED_FILES};
pub use families::{FAMILIES, Family, names};
pub use fold::fold;
pub use lookup::{Beginning, Beginnings, Hit, Root, hits, obeyed, treatment};
pub use name::{Kind, Name, Scope, Treatment, Write};
pub use pattern::fits;
pub use secrecy::{Needed, Read, SandboxView, Secrecy};
pub use variables::{
    HELPER_VARIABLES, HISTORY_VARIABLES, LOADER_VARIABLES, NODE_VARIABLES, SEARCH_VARIABLES,
    SEPARATOR_VARIABLES, TOOLCHAIN_VARIABLES, TRACE_VARIABLES, obeyed_variable,
};
pub use workspaces::{DEFAULT_WORKSPACES, DefaultWorkspaces, default_workspace};

/// The README's example is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
