//! Compares the required properties with those that a sandbox enforces.

use std::collections::BTreeSet;

use crate::enforcement::{Enforcement, Property};
use crate::refusal::{Refusal, SandboxRule, What};

/// Checks that all required properties are enforced.
pub(crate) fn require(wanted: &BTreeSet<Property>, enforcement: &Enforcement) -> Result<(), Refusal> {
    // Whether limits are enforced is only known when they have been set.
    let later = [
        Property::Memory,
        Property::TotalMemory,
        Property::ProcessCount,
        Property::Priority,
        Property::Processors,
        Property::Disk,
    ];
    let missing = wanted.iter().find(|one| !enforcement.holds(**one) && !later.contains(one));
    let Some(property) = missing else { return Ok(()) };
    let refusal = cannot_enforce(*property);
    // A gap of the backend is more specific than the general reason.
    let gap = enforcement.gaps.iter().find(|gap| gap.property == *property);
    Err(gap.map_or(refusal.clone(), |gap| Refusal { rule: SandboxRule::CannotEnforce(gap.why), ..refusal }))
}

/// Properties that are useless in part when they are required by name: an attacker would use an unprotected name.
const WHOLE: [Property; 1] = [Property::ProtectedNames];

/// Checks that properties required by name are enforced in full, where that matters.
pub(crate) fn in_whole<'p>(
    named: impl IntoIterator<Item = &'p Property>,
    enforcement: &Enforcement,
) -> Result<(), Refusal> {
    let mut named = named.into_iter().filter(|property| WHOLE.contains(property));
    let gap = named.find_map(|property| enforcement.gaps.iter().find(|gap| gap.property == *property));
    gap.map_or(Ok(()), |gap| {
        let refusal = cannot_enforce(gap.property);
        let fix = format!("remove the cause, or do not require `{}`", gap.property.name());
        Err(Refusal { rule: SandboxRule::CannotEnforce(gap.why), fix, ..refusal })
    })
}

/// Returns the refusal of a property that cannot be enforced on this machine, with a fix.
pub(crate) fn cannot_enforce(property: Property) -> Refusal {
    let why = match property {
        Property::SystemCalls => "seccomp filters are not supported on this kernel or architecture",
        Property::SecondWall => "this kernel has no Landlock",
        Property::Memory | Property::TotalMemory | Property::ProcessCount => {
            "this user may not create control groups"
        }
        Property::Priority => "the priority `idle` was not requested, or cannot be set here",
        Property::ProtectedNames => "the protection is off",
        Property::Processors => "no number of processors was requested",
        Property::Disk => "the size of the file system is only polled, and includes writes of other programs",
        Property::NoSpawn => "it was not requested",
        _ => "user namespaces cannot be created here",
    };
    let fix = match property {
        Property::Memory | Property::TotalMemory | Property::ProcessCount => {
            "start stockade as root, or delegate a control group to this user"
        }
        Property::Priority => "use --priority idle",
        Property::ProtectedNames => "enable the protection, or do not require it",
        Property::Processors => "set the number of processors",
        Property::Disk => "put the workspace on a separate file system, or do not require it",
        Property::NoSpawn => "request it, and choose the native backend",
        _ => {
            "use a kernel that permits it: sysctl user.max_user_namespaces, \
             kernel.apparmor_restrict_unprivileged_userns"
        }
    };
    Refusal::new(What::Property(property), SandboxRule::CannotEnforce(why), fix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{HostFacts, Kernel, Searched};
    use crate::spec::SandboxSpec;

    /// Protection in part does not satisfy a requirement by name.
    #[test]
    fn names_that_are_protected_in_part_are_not_what_was_required() {
        let kernel = Kernel { namespaces: true, landlock: 6, seccomp: true, mediation: true };
        let workspace = std::path::PathBuf::from("/home/u/work");
        let entries = [workspace.clone(), "/usr".into(), "/home/u".into()]
            .map(|path| (path, crate::host::Entry::Folder));
        let facts = |searched| HostFacts {
            entries: entries.clone().into(),
            home: "/home/u".into(),
            user: 1000,
            group: 1000,
            kernel: kernel.clone(),
            searched,
            ..HostFacts::default()
        };
        let plan = |searched, require: &[Property]| {
            let mut spec = SandboxSpec::new(&workspace, ["true"]);
            spec.require_by_name.extend(require);
            crate::plan::plan(&spec, &facts(searched)).map_err(|refusal| refusal.what)
        };
        let refused = Err(What::Property(Property::ProtectedNames));
        for (searched, require, is_fine) in [
            (Searched::Fully, &[Property::ProtectedNames][..], true),
            (Searched::InPart, &[], true),
            (Searched::InPart, &[Property::Files], true),
            (Searched::InPart, &[Property::ProtectedNames], false),
            (Searched::TooMany, &[], false),
            (Searched::TooMany, &[Property::ProtectedNames], false),
        ] {
            let found = plan(searched, require).map(|_| ());
            assert_eq!(found, if is_fine { Ok(()) } else { refused.clone() }, "{searched:?} {require:?}");
        }
    }
}
