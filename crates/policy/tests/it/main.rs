//! The crate through its public interface.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail by panicking"
)]

mod access;
mod command_aliases;
mod command_costs;
mod command_decides;
mod command_denials;
mod command_properties;
#[cfg(feature = "rule-files")]
mod command_rule_files;
mod command_settings;
mod command_techniques;
mod decision_properties;
mod folders;
mod git_folders;
mod names;
mod paths;
mod properties;
mod replay;
#[cfg(feature = "rule-files")]
mod rule_file_properties;
#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod seeds;
mod shell_builtins;
mod shell_linear;
mod shell_properties;
mod shell_replay;
mod shell_validates;
mod support;
mod tools;
mod traits;
