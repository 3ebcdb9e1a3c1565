//! One file for each command: its arguments, what it does, and its exit code.

pub(crate) mod audit;
#[cfg(target_os = "linux")]
pub(crate) mod backends;
pub(crate) mod check;
pub(crate) mod check_command;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod container;
#[cfg(target_os = "linux")]
pub(crate) mod doctor;
pub(crate) mod eval;
#[cfg(target_os = "linux")]
pub(crate) mod exec;
pub(crate) mod init;
pub(crate) mod limits;
pub(crate) mod policy;
#[cfg(target_os = "linux")]
pub(crate) mod quarantine;
pub(crate) mod rules;
#[cfg(target_os = "linux")]
pub(crate) mod run;
pub(crate) mod sanitize;
pub(crate) mod scan;
pub(crate) mod serve;
pub(crate) mod skill;
