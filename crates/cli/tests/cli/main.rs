//! The real `stockade` binary, run as people and programs run it.
//!
//! The folders beside this file hold transcripts: Markdown that reads as documentation and is true, since it is run.

#[cfg(target_os = "linux")]
#[cfg(test)]
mod approval_scopes;
mod approvals;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod backends;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod brokers;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod changes;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod clusters;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod containers;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod doctor;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod drive;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod egress_clients;
#[cfg(test)]
mod evaluations;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod exec_terminal;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod first_hour;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod graph_runs;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod hook;
#[cfg(test)]
mod hostile;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod install;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod install_trials;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod killed;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod lazy;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod learn;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod limit_stores;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod logins;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod mcp;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod observe;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod owners;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod remote_machines;
#[cfg(test)]
mod reports;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod review_scripts;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod secrets;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod serve;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod steps;
#[cfg(test)]
mod support;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod syncs;
#[cfg(test)]
mod terminal;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod toolchains;
#[cfg(test)]
mod transcripts;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod ui;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod upstream;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod watch;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod workspaces;
