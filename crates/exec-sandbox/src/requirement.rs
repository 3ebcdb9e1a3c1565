//! What is required of a sandbox, held against what it enforces.

use std::collections::BTreeSet;

use crate::enforcement::{Enforcement, Property};
use crate::refusal::{Refusal, SandboxRule, What};

/// Returns why what is wanted cannot be promised, if something is missing.
pub(crate) fn require(wanted: &BTreeSet<Property>, enforcement: &Enforcement) -> Result<(), Refusal> {
    // Whether limits hold is known when they have been set.
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
    // Whoever promises less says why.
    let gap = enforcement.gaps.iter().find(|gap| gap.property == *property);
    Err(gap.map_or(refusal.clone(), |gap| Refusal { rule: SandboxRule::CannotEnforce(gap.why), ..refusal }))
}

/// Enforced as a whole or not at all when it is required by name: the rest could be any name.
const WHOLE: [Property; 1] = [Property::ProtectedNames];

/// Returns why what was named holds in part only, if it does.
pub(crate) fn in_whole<'p>(
    named: impl IntoIterator<Item = &'p Property>,
    enforcement: &Enforcement,
) -> Result<(), Refusal> {
    let mut named = named.into_iter().filter(|property| WHOLE.contains(property));
    let gap = named.find_map(|property| enforcement.gaps.iter().find(|gap| gap.property == *property));
    gap.map_or(Ok(()), |gap| {
        let refusal = cannot_enforce(gap.property);
        let fix = "make that hold, or do not require it".to_owned();
        Err(Refusal { rule: SandboxRule::CannotEnforce(gap.why), fix, ..refusal })
    })
}

/// Returns why a property cannot be enforced on this machine, and what would change that.
pub(crate) fn cannot_enforce(property: Property) -> Refusal {
    let why = match property {
        Property::SystemCalls => "there is no filter of system calls for this kernel or architecture",
        Property::SecondWall => "this kernel has no Landlock",
        Property::Memory | Property::TotalMemory | Property::ProcessCount => {
            "no control group may be made here"
        }
        Property::Priority => "no priority of `idle` was asked for, or it cannot be had here",
        Property::ProtectedNames => "it was switched off",
        Property::Processors => "no number of processors was named",
        Property::Disk => "file systems are only looked at, and what others write counts as well",
        Property::NoSpawn => "it was not asked for",
        _ => "user namespaces cannot be made here",
    };
    let fix = match property {
        Property::Memory | Property::TotalMemory | Property::ProcessCount => {
            "start it as root, or delegate a control group to this user"
        }
        Property::Priority => "ask for it with --priority idle",
        Property::ProtectedNames => "let it be protected, or do not require it",
        Property::Processors => "name a number of processors",
        Property::Disk => "let the workspace lie on a file system of its own, or do not require it",
        Property::NoSpawn => "ask for it, and choose the native backend",
        _ => {
            "use a kernel that permits it: sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns"
        }
    };
    Refusal::new(What::Property(property), SandboxRule::CannotEnforce(why), fix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{HostFacts, Kernel, Searched};
    use crate::spec::SandboxSpec;

    /// What holds in part is not what somebody named; nor is what holds where nothing can be named.
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
