//! Plans for backends that were added to a registry.

use std::collections::BTreeSet;
use std::ffi::OsString;

use super::contain;
use crate::container_request::ContainerPurpose;
use crate::mounts::{Mount, MountKind};
use crate::provider::{AddedBackend, Sees};
use crate::refusal::{Refusal, SandboxRule, What};
use crate::spec::{MountAccess, SandboxSpec};

/// Returns the mounts that are reported to such a backend: those that belong to the command. For a backend that works on a copy
/// they are read-only, because the command cannot change the files of this machine.
pub(crate) fn within(
    mounts: Vec<Mount>,
    backend: AddedBackend,
    spec: &SandboxSpec,
) -> Result<Vec<Mount>, Refusal> {
    let mut mounts = contain::within(mounts, ContainerPurpose::Command);
    if backend.sees == Sees::Itself {
        return Ok(mounts);
    }
    if let Some(path) = spec.shared.first() {
        let rule = SandboxRule::CannotEnforce(
            "the backend runs commands on a copy, so changes to this directory would be lost",
        );
        let fix = "remove `--rw`, or choose a local backend such as `--backend native`";
        return Err(Refusal::new(What::Write(path.clone()), rule, fix));
    }
    for mount in &mut mounts {
        if let MountKind::Bind { access, .. } = &mut mount.kind {
            *access = MountAccess::ReadOnly;
        }
    }
    Ok(mounts)
}

/// Removes the variables that the request does not name, because they describe this machine.
pub(crate) fn only_named(environment: &mut Vec<(OsString, OsString)>, spec: &SandboxSpec) {
    let set = spec.environment.set.iter().map(|(name, _)| name);
    let named: BTreeSet<&OsString> = set.chain(&spec.environment.pass).collect();
    environment.retain(|(name, _)| named.contains(name));
}
