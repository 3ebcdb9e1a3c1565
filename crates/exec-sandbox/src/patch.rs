//! What a front end may set of a [`SandboxSpec`].
//!
//! A field here is an option of the command line (feature `clap`), a member of a request with its JSON Schema (feature
//! `schema`), and the text that explains both. Only [`SpecPatch::apply`] defines what each sets.

#[cfg(feature = "clap")]
mod cli;
mod limits;
mod network;
#[cfg(feature = "schema")]
mod wire;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

pub use limits::LimitsPatch;
pub use network::{NetworkChoice, NetworkPatch, NetworkPatchError};

#[cfg(feature = "clap")]
pub use cli::{BackendParser, duration, memory, size};

use crate::choices::{HomeView, ReviewMode, SandboxBackend, SandboxMode};
use crate::spec::SandboxSpec;

/// Sandbox of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "SandboxSpec"))]
#[cfg_attr(feature = "schema", serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct SpecPatch {
    /// Workspace: the directory that the command runs in and may change; the current directory by default.
    #[cfg_attr(feature = "clap", arg(long, short, value_name = "DIR"))]
    pub workspace: Option<PathBuf>,

    /// Sandbox mode; `workspace-write` by default.
    ///
    /// A server refuses `danger-full-access` unless it was started with `--allow-danger-full-access`. A command of an agent
    /// may do no more than the configuration of the agent allows.
    #[cfg_attr(feature = "clap", arg(long = "sandbox", value_name = "MODE"))]
    pub mode: Option<SandboxMode>,

    /// Same as the sandbox mode `read-only`.
    #[cfg_attr(feature = "clap", arg(long = "read-only", conflicts_with = "mode"))]
    #[cfg_attr(feature = "schema", serde(default))]
    pub workspace_read_only: bool,

    /// Run the command on an overlay of the workspace; `off` by default.
    ///
    /// With `hold`, what it changed waits until it is applied (`stockade changes apply`, or the method `changes.apply`). With
    /// `undoable`, it is applied when the command is over, and can be undone. A command of an agent is reviewed no less than
    /// the configuration of the agent says.
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "hold")
    )]
    pub review: Option<ReviewMode>,

    /// Additional directories that the command may change; they must exist.
    #[cfg_attr(feature = "clap", arg(long = "rw", value_name = "DIR"))]
    #[cfg_attr(feature = "schema", serde(default))]
    pub shared_paths: Vec<PathBuf>,

    /// Additional paths that the command may read.
    #[cfg_attr(feature = "clap", arg(long = "ro", value_name = "PATH"))]
    #[cfg_attr(feature = "schema", serde(default, alias = "readOnlyAllowPaths"))]
    pub read_only_paths: Vec<PathBuf>,

    /// Environment files (`.env`) that the command sees with the names of the variables and without the values.
    #[cfg_attr(feature = "clap", arg(long = "env-names", value_name = "FILE"))]
    #[cfg_attr(feature = "schema", serde(default))]
    pub env_names_paths: Vec<PathBuf>,

    /// Where the command starts; the workspace by default.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub cwd: Option<PathBuf>,

    /// A directory for output that is too long to return in one piece.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub temp_dir: Option<PathBuf>,

    /// Sandbox backend; `auto`, the default, selects the first that works and enforces what is required.
    ///
    /// `docker` and `podman` run a container of `image`. Other names that `stockade backends` lists are
    /// accepted too, but never auto-selected.
    #[cfg_attr(feature = "clap", arg(long, value_name = "WHAT", value_parser = BackendParser))]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub backend: Option<SandboxBackend>,

    /// Options for the backend, by name.
    #[cfg_attr(feature = "clap", arg(skip))]
    #[cfg_attr(feature = "schema", serde(default))]
    pub backend_options: BTreeMap<String, String>,

    /// Container image for `docker` or `podman`, preferably by digest; it is never pulled.
    #[cfg_attr(feature = "clap", arg(long, value_name = "IMAGE"))]
    pub image: Option<String>,

    /// Container runtime instead of the engine's default, such as `runsc`.
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME"))]
    pub runtime: Option<String>,

    /// Home directory, if it is not the one of this machine.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub home: Option<PathBuf>,

    /// Network access; none by default for a command that runs, and open for a plan.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub network: Option<NetworkPatch>,

    /// Whether caches and settings of tools in the home directory are hidden as well.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub secure_credential_home: Option<bool>,

    /// Environment variables to set.
    #[cfg_attr(feature = "clap", arg(skip))]
    #[cfg_attr(feature = "schema", serde(default))]
    pub env: BTreeMap<String, String>,

    /// Environment variables to pass, by name.
    #[cfg_attr(feature = "clap", arg(skip))]
    #[cfg_attr(feature = "schema", serde(default))]
    pub pass_env: Vec<String>,

    /// Resource limits.
    #[cfg_attr(feature = "clap", command(flatten))]
    #[cfg_attr(feature = "schema", serde(default))]
    pub limits: LimitsPatch,
}

impl SpecPatch {
    /// Returns the mode that is asked for, if one is: the stricter of both ways to name it.
    #[must_use]
    pub fn asked_mode(&self) -> Option<SandboxMode> {
        let read_only = self.workspace_read_only.then_some(SandboxMode::ReadOnly);
        self.mode.into_iter().chain(read_only).max()
    }

    /// Sets in a request what is named here; everything else stays. `workspace` is for the caller to resolve, and `home`
    /// belongs to the machine.
    ///
    /// # Errors
    /// When the network is named in a way that means nothing.
    pub fn apply(self, spec: &mut SandboxSpec) -> Result<(), NetworkPatchError> {
        let mode = self.asked_mode().unwrap_or_default();
        spec.shared.extend(self.shared_paths);
        spec.read_only.extend(self.read_only_paths);
        spec.env_names.extend(self.env_names_paths);
        spec.cwd = self.cwd.or(spec.cwd.take());
        spec.spill = self.temp_dir.or(spec.spill.take());
        spec.backend = self.backend.unwrap_or(spec.backend);
        spec.backend_options.extend(self.backend_options);
        spec.container.image = self.image.or(spec.container.image.take());
        spec.container.runtime = self.runtime.or(spec.container.runtime.take());
        if let Some(network) = self.network {
            spec.network = network.network()?;
        }
        if self.secure_credential_home == Some(true) {
            spec.home = HomeView::Private;
        }
        let set = self.env.into_iter().map(|(name, value)| (name.into(), value.into()));
        spec.environment.set.extend(set);
        spec.environment.pass.extend(self.pass_env.into_iter().map(OsString::from));
        spec.review = self.review.unwrap_or(spec.review);
        self.limits.apply(&mut spec.limits);
        // Last, since it decides over the folders above.
        mode.apply(spec);
        Ok(())
    }
}
