//! The programs that run agents and call hooks: what each hands to a hook, which answers it understands, and where its hooks are
//! registered.
//!
//! One table, [`HARNESSES`], drives all of it. [`call::read`] reads what a hook is given, [`judge::Agent`] decides on it by the
//! configuration of the agent, and [`answer::before`] answers in the words of the harness. [`registration`] writes hooks into
//! settings and takes them out again, [`state::look`] tests a registered hook with a call that must be refused, and [`mcp_servers`]
//! reads the servers of the Model Context Protocol that settings name.
//!
//! Linux only: what has to run in the sandbox comes back as a command that runs there.
#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod addresses;
pub mod answer;
pub mod call;
pub mod declared;
pub mod elsewhere;
mod harness;
pub mod heartbeat;
mod json_edit;
pub mod judge;
mod line;
pub mod mcp_servers;
pub mod observe;
mod own_entries;
#[cfg(test)]
mod page;
mod patch;
mod paths;
mod reading;
pub mod registration;
mod replay;
pub mod requests;
pub mod results;
pub mod rewrite;
mod search;
mod shape;
pub mod state;
mod table;
pub mod tools;
pub mod transcripts;
mod truncate;
mod unhooked;
mod web_hosts;
mod wildcards;

pub use harness::{
    Answers, Event, Harness, HookRegistration, Manual, Moment, OwnFile, OwnForm, Payload, Probe, Results,
    SettingsFile,
};
pub use replay::TEST_COMMAND;
pub use table::HARNESSES;
pub use unhooked::{UNHOOKED, Unhooked};

/// The README's examples are run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
