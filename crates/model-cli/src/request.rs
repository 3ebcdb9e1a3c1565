//! What is asked for: a preset, a workspace, and where the key is.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::api_base::ApiBase;

/// What somebody wants to be driven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriveRequest {
    /// Which CLI, by the name of its preset.
    pub cli: String,
    /// The folder that it works in and may change.
    pub workspace: PathBuf,
    /// The words that it is started with.
    pub arguments: Vec<OsString>,
    /// The file that it is started from; otherwise it is looked for.
    pub program: Option<PathBuf>,
    /// Where its API is, if not at the host of its preset.
    pub api_base: Option<ApiBase>,
    /// Where its key is, if not where the CLI itself would look: `SOURCE`, or `VARIABLE=SOURCE` for another of its keys.
    pub key: Option<String>,
    /// Whether its state outlasts it, and under which name.
    pub keep: KeepState,
    /// Whether it is kept from its own home, and so from its login. Where it is not, it uses that, and no key is put in.
    pub secure_credential_home: bool,
}

/// Whether the state of a CLI outlasts it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum KeepState {
    /// It is gone with the CLI.
    #[default]
    No,
    /// It is kept for the next run in this workspace.
    ForWorkspace,
    /// It is kept for all runs that give this name.
    Named(String),
}

impl DriveRequest {
    /// A CLI by its preset, with everything else at its default.
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
