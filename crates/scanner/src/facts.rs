//! Facts about the commands in a text: what they download and what becomes of it, and what they remove.
//!
//! A rule over facts holds however a command is written: joined by `&&` or on two lines, in one fence or in two, with
//! other options or another name of the file.

mod commands;
mod known;
mod removed;
mod saved;
mod wiring;

pub(crate) use commands::{Program, quoted};
pub(crate) use removed::{may_remove, removes_data};
pub(crate) use saved::{may_save, run_later};
