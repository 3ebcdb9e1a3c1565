//! A request to run a CLI: preset, workspace, and source of the key.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::api_base::ApiBase;

/// A request to run a CLI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriveRequest {
    /// The name of its preset.
    pub cli: String,
    /// The directory that it works in and may change.
    pub workspace: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its executable; looked up if `None`.
    pub program: Option<PathBuf>,
    /// Base URL of its API, if not that of the preset.
    pub api_base: Option<ApiBase>,
    /// Source of its key, if not that of the preset: `SOURCE`, or `VARIABLE=SOURCE` for another of its keys.
    pub key: Option<String>,
    /// Whether its state is kept after the run, and under which name.
    pub keep: KeepState,
    /// Whether its own home directory and login are hidden. If not, it uses them, and no key is inserted.
    pub secure_credential_home: bool,
}

/// Whether the state of a CLI is kept after the run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum KeepState {
    /// It is deleted with the sandbox.
    #[default]
    No,
    /// It is kept for the next run in this workspace.
    ForWorkspace,
    /// It is kept for all runs with this name.
    Named(String),
}

impl DriveRequest {
    /// Creates a request for a preset, with defaults for everything else.
    pub fn new(
        cli: &str,
        workspace: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        Self {
            cli: cli.to_owned(),
            workspace: workspace.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            program: None,
            api_base: None,
            key: None,
            keep: KeepState::No,
            secure_credential_home: true,
        }
    }
}
