//! The sandbox spec of a request.

use std::path::PathBuf;

use stockade_guard::exec::patch::SpecPatch;
use stockade_guard::exec::{Network, ReviewMode, SandboxBackend, SandboxMode, SandboxSpec};

use crate::fault::Fault;

/// Defaults for the network and the home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::methods) enum Unsaid {
    /// Both are open, as in document 001. For plans, which run nothing.
    Open,
    /// Both are closed. For running commands.
    Closed,
}

/// Returns the requested sandbox spec, and warnings for the client.
pub(in crate::methods) fn spec_of(
    mut patch: SpecPatch,
    command: Vec<String>,
    unsaid: Unsaid,
) -> Result<(SandboxSpec, Vec<String>), Fault> {
    let mut warnings = Vec::new();
    let workspace = match patch.workspace.take() {
        Some(workspace) => workspace,
        None => current_folder()?,
    };
    let mut spec = SandboxSpec::new(workspace, command);
    if patch.asked_mode() == Some(SandboxMode::ReadOnly) && !patch.shared_paths.is_empty() {
        return Err(Fault::parameters("`sharedPaths` may be changed, and in the mode read-only nothing may"));
    }
    spec.network = match (&patch.network, unsaid) {
        (Some(_), _) | (None, Unsaid::Closed) => Network::None,
        (None, Unsaid::Open) => {
            warnings.push(
                "the network is open, since `spec.network` says nothing; {\"mode\": \"none\"} closes it"
                    .to_owned(),
            );
            Network::Open
        }
    };
    patch.apply(&mut spec).map_err(|error| Fault::parameters(error.to_string()))?;
    Ok((spec, warnings))
}

/// Returns the mode, if the request contains nothing else except the workspace.
pub(in crate::methods) fn mode_alone(
    mut patch: SpecPatch,
) -> Result<(Option<SandboxMode>, ReviewMode), Fault> {
    let (mode, review) = (patch.asked_mode(), patch.review.take().unwrap_or_default());
    (patch.workspace, patch.mode, patch.workspace_read_only) = (None, None, false);
    if patch != SpecPatch::default() {
        return Err(Fault::parameters(
            "`spec` of a command of an agent names nothing but the `workspace`, a `mode` and a `review`; the rest is what its \
             configuration says",
        ));
    }
    Ok((mode, review))
}

/// Returns the backend with a name, if the name is valid. Whether it exists is checked when it is planned.
pub(in crate::methods) fn backend_named(name: &str) -> Result<SandboxBackend, Fault> {
    let known = SandboxBackend::ALL.iter().map(SandboxBackend::name);
    SandboxBackend::from_name(name).ok_or_else(|| Fault::unknown("backend", name, known))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the folder of the server is the workspace where none is named"
)]
pub(in crate::methods) fn current_folder() -> Result<PathBuf, Fault> {
    std::env::current_dir().map_err(|error| Fault::internal(&error))
}
