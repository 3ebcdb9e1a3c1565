//! State that is saved between runs for this user's agents, and opening an agent's guard with it.
//!
//! The command line, the server, hooks and MCP all use this crate, so that each gives the same answer to the same question.
//!
//! - [`agents`]: the guard of an agent, and a session with the answers that the user has saved;
//! - [`command_rules`]: rules for commands from files and from the configuration, with their places;
//! - [`saved_rules`], [`saved_answers`]: rules and answers that are added, removed and recalled;
//! - `learn` (on Linux): the approvals that would have answered what an agent was stopped at;
//! - [`nap`]: a time in which no questions are asked;
//! - [`questions`]: questions that wait for the user at another terminal;
//! - [`refusals`]: how often a rule has refused calls of a session;
//! - [`trail`]: the audit trail that the configuration names; [`when`]: points in time for queries of it;
//! - [`evaluation`]: expressions with the clock of this machine.
//!
//! On Linux, `executions` names the execution whose steps are counted, `graph_runs` finds directories that agents share,
//! `approvals` allows and denies tools, hosts and paths and undoes that, `changes` lists, applies and undoes changes under review, and `command_check` denies a command by its rules before a sandbox
//! starts.
//!
//! A value that cannot be used is a [`StateError`], with a message and the way to fix it.
#![forbid(unsafe_code)]

pub mod agents;
pub mod agreed_hosts;
#[cfg(target_os = "linux")]
pub mod approvals;
#[cfg(target_os = "linux")]
pub mod changes;
#[cfg(target_os = "linux")]
pub mod command_check;
pub mod command_rules;
mod error;
pub mod evaluation;
#[cfg(target_os = "linux")]
pub mod executions;
#[cfg(target_os = "linux")]
pub mod graph_runs;
#[cfg(target_os = "linux")]
pub mod learn;
pub mod nap;
pub mod questions;
pub mod refusals;
pub mod saved_answers;
pub mod saved_rules;
pub mod tickets;
pub mod trail;
pub mod when;

pub use error::{StateError, StateErrorKind};

/// The README's examples are run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
