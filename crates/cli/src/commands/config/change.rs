//! `stockade config set` and `config add`: change one value in the user's config file.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use stockade_files::KeptFile;
use stockade_guard::config::{Config, ConfigKey};
use stockade_text::{Editor, escape_path};

use super::unknown;
use crate::failure::Failure;
use stockade_state::saved_rules::{MAX_CONFIG_BYTES, SavedRules, SavedRulesError, config_with, format_of};

/// How to change the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Replace the value that the file has.
    Set,
    /// Add an entry to the list.
    Add,
}

/// Changes the user's config file and returns the output. All layers are validated with the change first.
pub(super) fn run(change: Change, key: &str, value: &str) -> Result<String, Failure> {
    let known: &ConfigKey = Config::key(key).ok_or_else(|| unknown(key))?;
    // The user's config file, which also contains the user's rules, with the same checks.
    let kept = SavedRules::of_agent("*")?;
    let path = kept.path();
    make_folder(path)?;
    let edit = |text: Option<&str>| {
        let editor = Editor::new(text.unwrap_or_default(), format_of(path));
        let text = edited(change, key, value, editor)
            .map_err(|why| SavedRulesError::Said(format!("{}: {why}", escape_path(path))))?;
        config_with(path, &text)?;
        Ok::<_, SavedRulesError>((Some(text), ()))
    };
    let changed = KeptFile::new(path, MAX_CONFIG_BYTES).change(edit).map_err(SavedRulesError::from);
    changed.and_then(|done| done).map_err(|error| {
        Failure::from(error).with_help(format!("run `stockade config explain {}`", known.path))
    })?;
    let done = if change == Change::Set { "set" } else { "added to" };
    Ok(format!("{done} {key}, in {}\n", escape_path(path)))
}

/// Creates the directory of a config file, for its owner alone.
pub(super) fn make_folder(path: &Path) -> Result<(), Failure> {
    let Some(folder) = path.parent() else { return Ok(()) };
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| Failure::usage(format_args!("{}: {error}", escape_path(folder))))
}

/// Returns the changed document. A value that is not valid TOML is a string.
fn edited(change: Change, key: &str, value: &str, editor: Editor<'_>) -> Result<String, String> {
    let path: Vec<&str> = key.split('.').collect();
    let by = |value: &str| match change {
        Change::Set => editor.set_value(&path, value),
        Change::Add => editor.append_value(&path, value),
    };
    let quoted = || serde_json::to_string(value).map_err(|error| error.to_string());
    match by(value) {
        Ok(edited) => Ok(edited),
        Err(_) => by(&quoted()?).map_err(|error| error.to_string()),
    }
}
