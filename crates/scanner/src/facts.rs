//! Facts about the commands in a text: what they download and what becomes of it, and what they remove.
//!
//! A rule over facts holds however a command is written: joined by `&&` or on two lines, in one fence or in two, with
//! other options or another name of the file.

mod claims;
mod cloned;
mod commands;
mod fact;
mod fetchers;
mod hidden;
mod known;
mod listed;
mod packages;
mod popular;
mod pushed;
mod removed;
mod runners;
mod saved;
mod trusted;
mod wiring;

pub(crate) use claims::claims;
pub(crate) use commands::{Program, quoted};
pub use fact::{
    ClaimFact, ClaimKind, CommandFact, DownloadFact, FactPlace, Facts, HiddenFact, HiddenKind, PackageFact,
    PackageSource, RemovalFact,
};
pub(crate) use hidden::hidden;
pub(crate) use listed::{Listed, downloads, listed};
pub(crate) use packages::{Installs, packages_at};
pub(crate) use pushed::{may_push, pushes_secret};
pub(crate) use removed::{may_remove, removes_data};
pub(crate) use saved::{Fetch, Wanted, fetches, may_save};
pub(crate) use trusted::{may_write_trusted, writes_trusted};
