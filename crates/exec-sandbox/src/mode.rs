//! The definition of each sandbox mode: one row per mode, and no other place defines them.

use crate::choices::SandboxMode;
use crate::spec::{Confinement, MountAccess, Protection, SandboxSpec};

/// The settings of a mode.
struct Meaning {
    mode: SandboxMode,
    workspace: MountAccess,
    confinement: Confinement,
    protection: Protection,
    /// Whether additional writable directories may be shared.
    shares: bool,
}

const MEANINGS: [Meaning; 3] = [
    Meaning {
        mode: SandboxMode::DangerFullAccess,
        workspace: MountAccess::ReadWrite,
        confinement: Confinement::None,
        // The command could have created the file anywhere else, so quarantining it would protect nothing.
        protection: Protection::Off,
        shares: true,
    },
    Meaning {
        mode: SandboxMode::WorkspaceWrite,
        workspace: MountAccess::ReadWrite,
        confinement: Confinement::Sandbox,
        protection: Protection::Names,
        shares: true,
    },
    Meaning {
        mode: SandboxMode::ReadOnly,
        workspace: MountAccess::ReadOnly,
        confinement: Confinement::Sandbox,
        protection: Protection::Names,
        shares: false,
    },
];

impl SandboxMode {
    /// Applies this mode to a request. In read-only mode, shared writable directories become read-only. The network, the home and
    /// the limits are independent choices.
    pub fn apply(self, spec: &mut SandboxSpec) {
        let Some(meaning) = MEANINGS.iter().find(|meaning| meaning.mode == self) else { return };
        spec.workspace_access = meaning.workspace;
        spec.confinement = meaning.confinement;
        spec.protection = meaning.protection;
        if !meaning.shares {
            let shared = std::mem::take(&mut spec.shared);
            spec.read_only.extend(shared.into_iter().chain(spec.spill.take()));
            spec.home_state.iter_mut().for_each(|state| state.access = MountAccess::ReadOnly);
        }
    }

    /// Returns the mode of a request.
    #[must_use]
    pub const fn of(spec: &SandboxSpec) -> Self {
        match (spec.confinement, spec.workspace_access) {
            (Confinement::None, _) => Self::DangerFullAccess,
            (Confinement::Sandbox, MountAccess::ReadWrite) => Self::WorkspaceWrite,
            (Confinement::Sandbox, MountAccess::ReadOnly) => Self::ReadOnly,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_has_a_row_and_is_found_again() {
        for mode in SandboxMode::ALL {
            let mut spec = SandboxSpec::new("/w", ["true"]);
            spec.shared = vec!["/s".into()];
            mode.apply(&mut spec);
            assert_eq!(SandboxMode::of(&spec), *mode);
            assert_eq!(MEANINGS.iter().filter(|meaning| meaning.mode == *mode).count(), 1);
        }
    }

    #[test]
    fn the_default_spec_has_the_default_mode() {
        let plain = SandboxSpec::new("/w", ["true"]);
        let mut chosen = plain.clone();
        SandboxMode::default().apply(&mut chosen);
        assert_eq!(chosen, plain);
    }

    #[test]
    fn read_only_mode_shares_nothing_writable() {
        let mut spec = SandboxSpec::new("/w", ["true"]);
        (spec.shared, spec.spill) = (vec!["/s".into()], Some("/t".into()));
        SandboxMode::ReadOnly.apply(&mut spec);
        assert_eq!((spec.shared, spec.spill), (vec![], None));
        assert_eq!(spec.read_only, [std::path::Path::new("/s"), std::path::Path::new("/t")]);
    }
}
