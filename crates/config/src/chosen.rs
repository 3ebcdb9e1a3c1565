//! The config file that this process uses in place of the user's.
#![expect(clippy::disallowed_methods, reason = "reads a variable, and the working directory")]

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Names a config file that replaces the user's: `STOCKADE_CONFIG=team.yaml`.
pub const CONFIG_FILE_VARIABLE: &str = "STOCKADE_CONFIG";

static CHOSEN: OnceLock<PathBuf> = OnceLock::new();

/// Makes a file the user's configuration for the rest of this process. The first choice holds.
pub fn choose_config_file(file: &Path) {
    CHOSEN.get_or_init(|| std::path::absolute(file).unwrap_or_else(|_| file.to_owned()));
}

/// Returns the file that replaces the user's configuration: the one that was chosen, or that of `STOCKADE_CONFIG`.
#[must_use]
pub fn chosen_config_file() -> Option<PathBuf> {
    let named = || std::env::var_os(CONFIG_FILE_VARIABLE).filter(|name| !name.is_empty());
    CHOSEN.get().cloned().or_else(|| named().and_then(|name| std::path::absolute(name).ok()))
}
