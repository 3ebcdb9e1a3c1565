//! The crate through its public interface.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail by panicking"
)]

mod aliases;
mod costs;
mod decides;
mod decision_properties;
mod denials;
mod folders;
mod git_folders;
mod inline_code;
mod properties;
mod replay;
#[cfg(feature = "rule-files")]
mod rule_file_properties;
#[cfg(feature = "rule-files")]
mod rule_files;
#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod seeds;
mod settings;
mod shell_builtins;
mod shell_linear;
mod shell_properties;
mod shell_validates;
mod studies;
mod techniques;
